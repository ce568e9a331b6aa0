#include <array>

#include <fmt/format.h>

#include "sim/report/report.h"

namespace rafter::report {

namespace {

std::string scaled(double value, const char* unit) {
    constexpr std::array<const char*, 7> prefixes{"", "k", "M", "G", "T", "P", "E"};
    std::size_t i = 0;
    while (value >= 999.5 && i + 1 < prefixes.size()) {
        value /= 1000;
        ++i;
    }
    const std::string gap = *unit == '\0' && i == 0 ? "" : " ";
    if (i == 0) return fmt::format("{:.0f}{}{}", value, gap, unit);
    return fmt::format("{:.{}f}{}{}{}", value, value < 9.995 ? 2 : value < 99.95 ? 1 : 0, gap, prefixes[i], unit);
}

}  // namespace

std::string human_time(Femtoseconds t) {
    const double s = seconds(t);
    if (s < 1e-6) return fmt::format("{:.0f} ns", s * 1e9);
    if (s < 1e-3) return fmt::format("{:.4g} us", s * 1e6);
    if (s < 1) return fmt::format("{:.4g} ms", s * 1e3);
    return fmt::format("{:.4g} s", s);
}

std::string human_bytes(Bytes b) { return scaled(static_cast<double>(b.value), "B"); }

std::string human_count(double n) { return scaled(n, ""); }

std::string human_energy(double joules) {
    if (joules < 1e-3) return fmt::format("{:.3g} uJ", joules * 1e6);
    if (joules < 1) return fmt::format("{:.3g} mJ", joules * 1e3);
    return scaled(joules, "J");
}

std::string human_ratio(double r) {
    if (r >= 99'999.5) return human_count(r);
    return r >= 99.95 ? fmt::format("{:.0f}", r) : fmt::format("{:.3g}", r);
}

}  // namespace rafter::report
