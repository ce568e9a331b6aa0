// Two kinds of failure: the user's (Error, exit 2) and ours (RAFTER_CHECK -> InternalError, exit 3).
#pragma once

#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace rafter {

/// A place in a file, 1-based. line 0 means "no particular line".
struct Place {
    std::string file;
    int line{0};
    int column{0};
    std::string source_line;  ///< text of that line, for the caret; may be empty
};

/// "file:line:col: error: message\n<source line>\n    ^" (the last two lines only when the source line is known).
std::string format_diagnostic(const Place& place, std::string_view message);

/// The user's mistake. what() is the complete text to print; it may hold several diagnostics, one after another.
class Error : public std::runtime_error {
public:
    using std::runtime_error::runtime_error;
    Error(const Place& place, std::string_view message) : std::runtime_error(format_diagnostic(place, message)) {}
};

/// A broken promise of our own code.
class InternalError : public std::logic_error {
public:
    using std::logic_error::logic_error;
};

[[noreturn]] void check_failed(const char* condition, const char* file, int line, const std::string& detail);

/// The candidate nearest to `text` by edit distance, or "" when none is within max(2, length / 3) edits or no letter would be
/// left.
std::string nearest_name(std::string_view text, const std::vector<std::string>& candidates);

}  // namespace rafter

#define RAFTER_CHECK(condition, detail)                                                   \
    do {                                                                                  \
        if (!(condition)) ::rafter::check_failed(#condition, __FILE__, __LINE__, detail); \
    } while (false)
