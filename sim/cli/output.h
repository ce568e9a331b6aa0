// Where reports go: files, or stdout for "-".
#pragma once

#include <string>
#include <vector>

namespace rafter::cli {

struct Target {
    std::string option, path;  ///< path "" when not asked for
};

/// Refuses what cannot be written before time is spent on the run. Errors: Error.
void check_targets(const std::vector<Target>& targets, bool force);
bool to_stdout(const std::vector<Target>& targets);
void write(const std::string& target, const std::string& content, bool force);

}  // namespace rafter::cli
