#include "sim/engine/isolated.h"

#include <poll.h>
#include <sched.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <vector>

#include <fmt/format.h>

#include "sim/core/error.h"

namespace rafter::engine {

namespace {

using Clock = std::chrono::steady_clock;

volatile std::sig_atomic_t stop_requested = 0;
void request_stop(int) { stop_requested = 1; }

/// SIGINT and SIGTERM ask to stop while this lives.
class StopOnSignal {
public:
    StopOnSignal() {
        stop_requested = 0;
        struct sigaction action {};
        action.sa_handler = request_stop;
        sigemptyset(&action.sa_mask);
        sigaction(SIGINT, &action, &interrupt_);
        sigaction(SIGTERM, &action, &terminate_);
    }
    ~StopOnSignal() {
        sigaction(SIGINT, &interrupt_, nullptr);
        sigaction(SIGTERM, &terminate_, nullptr);
    }
    StopOnSignal(const StopOnSignal&) = delete;
    StopOnSignal& operator=(const StopOnSignal&) = delete;

private:
    struct sigaction interrupt_ {
    }, terminate_{};
};

struct Child {
    std::size_t job{};
    pid_t pid{};
    int pipe{};
    Clock::time_point deadline;
    std::string text;
};

[[noreturn]] void run_child(int pipe, std::size_t job, const std::function<std::string(std::size_t)>& work) {
    std::signal(SIGINT, SIG_DFL);
    std::signal(SIGTERM, SIG_DFL);
    const std::string text = work(job);
    for (std::size_t sent = 0; sent < text.size();) {
        const ssize_t n = write(pipe, text.data() + sent, text.size() - sent);
        if (n <= 0) _exit(1);
        sent += static_cast<std::size_t>(n);
    }
    _exit(0);
}

class Pool {
public:
    Pool(const IsolatedOptions& options, const std::function<std::string(std::size_t)>& work) : options_(options), work_(work) {}
    ~Pool() {
        for (const Child& child : children_) {
            kill(child.pid, SIGKILL);
            waitpid(child.pid, nullptr, 0);
            close(child.pipe);
        }
    }
    Pool(const Pool&) = delete;
    Pool& operator=(const Pool&) = delete;

    bool full() const { return children_.size() >= std::max<std::size_t>(1, options_.jobs); }
    bool empty() const { return children_.empty(); }

    void start(std::size_t job) {
        int ends[2];
        if (pipe(ends) != 0) throw Error(fmt::format("error: cannot make a pipe: {}", std::strerror(errno)));
        std::fflush(nullptr);  // or the child would write the parent's buffers once more
        const pid_t pid = fork();
        if (pid < 0) throw Error(fmt::format("error: cannot start a process: {}", std::strerror(errno)));
        if (pid == 0) {
            close(ends[0]);
            for (const Child& other : children_) close(other.pipe);
            run_child(ends[1], job, work_);
        }
        close(ends[1]);
        const auto limit = std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(options_.time_limit_s));
        children_.push_back({job, pid, ends[0], Clock::now() + limit, {}});
    }

    /// Reads what has come; hands over those that have ended.
    void wait(const std::function<void(std::size_t, const Isolated&)>& done) {
        std::vector<pollfd> waiting;
        for (const Child& child : children_) waiting.push_back({child.pipe, POLLIN, 0});
        poll(waiting.data(), waiting.size(), 100);
        if (stop_requested != 0) throw Interrupted();
        for (std::size_t i = children_.size(); i-- > 0;) {
            const bool late = Clock::now() > children_[i].deadline;
            if (late) kill(children_[i].pid, SIGKILL);
            if (!late && (waiting[i].revents == 0 || more(children_[i]))) continue;
            const Child child = std::move(children_[i]);
            children_.erase(children_.begin() + static_cast<std::ptrdiff_t>(i));
            done(child.job, end(child, late));
        }
    }

private:
    /// False at the end of the child's text.
    static bool more(Child& child) {
        char buffer[65536];
        const ssize_t n = read(child.pipe, buffer, sizeof buffer);
        if (n > 0) child.text.append(buffer, static_cast<std::size_t>(n));
        return n > 0 || (n < 0 && errno == EINTR);
    }

    Isolated end(const Child& child, bool late) const {
        close(child.pipe);
        int status = 0;
        while (waitpid(child.pid, &status, 0) < 0 && errno == EINTR) {
        }
        if (late) return {false, "", fmt::format("ran longer than {} s", options_.time_limit_s)};
        if (WIFSIGNALED(status)) return {false, "", fmt::format("ended by signal {}", strsignal(WTERMSIG(status)))};
        if (WEXITSTATUS(status) != 0) return {false, "", fmt::format("ended with code {}", WEXITSTATUS(status))};
        return {true, child.text, ""};
    }

    const IsolatedOptions& options_;
    const std::function<std::string(std::size_t)>& work_;
    std::vector<Child> children_;
};

}  // namespace

void run_isolated(std::size_t count, const IsolatedOptions& options, const std::function<std::string(std::size_t)>& work,
                  const std::function<void(std::size_t, const Isolated&)>& done) {
    const StopOnSignal signals;
    Pool pool(options, work);
    for (std::size_t next = 0; next < count || !pool.empty();) {
        if (stop_requested != 0) throw Interrupted();
        while (next < count && !pool.full()) pool.start(next++);
        pool.wait(done);
    }
}

std::size_t usable_cores() {
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof set, &set) != 0) return 1;
    return static_cast<std::size_t>(std::max(1, CPU_COUNT(&set)));
}

}  // namespace rafter::engine
