// Jobs in child processes: SystemC elaborates once a process, a crash stays in its child, every core is used.
#pragma once

#include <cstddef>
#include <functional>
#include <stdexcept>
#include <string>

namespace rafter::engine {

/// The user asked to stop (Ctrl-C, SIGTERM) while children ran. They have been killed.
class Interrupted : public std::runtime_error {
public:
    Interrupted() : std::runtime_error("interrupted; nothing was written") {}
};

struct IsolatedOptions {
    std::size_t jobs{1};       ///< children at a time
    double time_limit_s{600};  ///< a child that runs longer is killed
};

struct Isolated {
    bool finished{false};
    std::string text;     ///< what the work returned
    std::string problem;  ///< when not finished: how the child ended
};

/// Runs work(0) ... work(count - 1), each in a child of its own, and hands every outcome to done(i, outcome) in the parent, in
/// order of completion. `work` must not throw. Errors: Interrupted; Error when no child can be made.
void run_isolated(std::size_t count, const IsolatedOptions& options, const std::function<std::string(std::size_t)>& work,
                  const std::function<void(std::size_t, const Isolated&)>& done);

/// Cores this process may use.
std::size_t usable_cores();

}  // namespace rafter::engine
