#include "sim/cli/progress.h"

#include <unistd.h>

#include <cstdio>

#include <fmt/format.h>

namespace rafter::cli {

bool ProgressLine::wanted() const { return isatty(STDERR_FILENO) != 0; }

void ProgressLine::operator()(const std::string& label, std::int64_t done, std::int64_t total) {
    const auto now = std::chrono::steady_clock::now();
    const double elapsed = std::chrono::duration<double>(now - begin_).count();
    if (elapsed < 1 || std::chrono::duration<double>(now - shown_).count() < 0.2) return;
    shown_ = now;
    drawn_ = true;
    const double left = elapsed / static_cast<double>(done) * static_cast<double>(total - done);
    fmt::print(stderr, "\r\033[K{}/{}  {:.0f} s, about {:.0f} s to go  {}", done, total, elapsed, left, label);
    std::fflush(stderr);
}

void ProgressLine::clear() const {
    if (drawn_) fmt::print(stderr, "\r\033[K");
}

}  // namespace rafter::cli
