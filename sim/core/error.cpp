#include "sim/core/error.h"

#include <algorithm>
#include <numeric>

#include <fmt/format.h>

namespace rafter {

namespace {

/// Blanks up to the column; tabs of the line stay tabs, so that the caret stands right whatever their width.
std::string caret_padding(const Place& place) {
    std::string padding(static_cast<std::size_t>(std::max(1, place.column) - 1), ' ');
    for (std::size_t i = 0; i < padding.size() && i < place.source_line.size(); ++i) {
        if (place.source_line[i] == '\t') padding[i] = '\t';
    }
    return padding;
}

}  // namespace

std::string format_diagnostic(const Place& place, std::string_view message) {
    std::string text = place.file;
    if (place.line > 0) text += fmt::format(":{}:{}", place.line, place.column);
    text += fmt::format("{}error: {}", text.empty() ? "" : ": ", message);
    if (place.line > 0 && !place.source_line.empty()) {
        text += fmt::format("\n{}\n{}^", place.source_line, caret_padding(place));
    }
    return text;
}

void check_failed(const char* condition, const char* file, int line, const std::string& detail) {
    throw InternalError(fmt::format("internal error: {} ({}) at {}:{}", detail, condition, file, line));
}

namespace {

std::size_t edit_distance(std::string_view a, std::string_view b) {
    std::vector<std::size_t> row(b.size() + 1);
    std::iota(row.begin(), row.end(), std::size_t{0});
    for (std::size_t i = 1; i <= a.size(); ++i) {
        std::size_t diagonal = row[0];
        row[0] = i;
        for (std::size_t j = 1; j <= b.size(); ++j) {
            const std::size_t substituted = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
            diagonal = row[j];
            row[j] = std::min({substituted, row[j] + 1, row[j - 1] + 1});
        }
    }
    return row.back();
}

}  // namespace

std::string nearest_name(std::string_view text, const std::vector<std::string>& candidates) {
    std::string best;
    std::size_t least = std::max<std::size_t>(2, text.size() / 3) + 1;
    for (const std::string& candidate : candidates) {
        const std::size_t distance = edit_distance(text, candidate);
        const bool related = distance < std::max(text.size(), candidate.size());  // else no letter is left
        if (related && distance < least) {
            least = distance;
            best = candidate;
        }
    }
    return best;
}

}  // namespace rafter
