// One line on stderr while a long command goes on.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

namespace rafter::cli {

class ProgressLine {
public:
    /// Somebody watches: stderr is a terminal.
    bool wanted() const;
    /// Shows how much is done and how long the rest will take, from the second second on and a few times a second.
    void operator()(const std::string& label, std::int64_t done, std::int64_t total);
    void clear() const;

private:
    std::chrono::steady_clock::time_point begin_{std::chrono::steady_clock::now()}, shown_{begin_};
    bool drawn_{false};
};

}  // namespace rafter::cli
