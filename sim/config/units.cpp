#include <array>
#include <charconv>
#include <cmath>

#include <fmt/format.h>

#include "sim/config/reader.h"

namespace rafter::config {

namespace {

struct UnitName {
    std::string_view name;
    Unit unit;
    double scale;
};

constexpr std::array kUnits{
    UnitName{"B", Unit::bytes, 1},
    UnitName{"kB", Unit::bytes, 1e3},
    UnitName{"MB", Unit::bytes, 1e6},
    UnitName{"GB", Unit::bytes, 1e9},
    UnitName{"TB", Unit::bytes, 1e12},
    UnitName{"KiB", Unit::bytes, 1024.0},
    UnitName{"MiB", Unit::bytes, 1048576.0},
    UnitName{"GiB", Unit::bytes, 1073741824.0},
    UnitName{"TiB", Unit::bytes, 1099511627776.0},
    UnitName{"B/s", Unit::bytes_per_s, 1},
    UnitName{"MB/s", Unit::bytes_per_s, 1e6},
    UnitName{"GB/s", Unit::bytes_per_s, 1e9},
    UnitName{"TB/s", Unit::bytes_per_s, 1e12},
    UnitName{"GiB/s", Unit::bytes_per_s, 1073741824.0},
    UnitName{"Gbit/s", Unit::bytes_per_s, 1e9 / 8},
    UnitName{"Tbit/s", Unit::bytes_per_s, 1e12 / 8},
    UnitName{"Hz", Unit::hertz, 1},
    UnitName{"kHz", Unit::hertz, 1e3},
    UnitName{"MHz", Unit::hertz, 1e6},
    UnitName{"GHz", Unit::hertz, 1e9},
    UnitName{"fs", Unit::seconds, 1e-15},
    UnitName{"ps", Unit::seconds, 1e-12},
    UnitName{"ns", Unit::seconds, 1e-9},
    UnitName{"us", Unit::seconds, 1e-6},
    UnitName{"ms", Unit::seconds, 1e-3},
    UnitName{"s", Unit::seconds, 1},
    UnitName{"Mbit/s", Unit::bits_per_s, 1e6},
    UnitName{"Gbit/s", Unit::bits_per_s, 1e9},
    UnitName{"W", Unit::watts, 1},
    UnitName{"clk", Unit::clk, 1},
    UnitName{"GFLOP/s", Unit::flops_per_s, 1e9},
    UnitName{"TFLOP/s", Unit::flops_per_s, 1e12},
    UnitName{"PFLOP/s", Unit::flops_per_s, 1e15},
};

std::string lower(std::string_view text) {
    std::string out(text);
    for (char& c : out) c = static_cast<char>(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
    return out;
}

std::string unknown_unit(std::string_view found, Unit unit) {
    for (const UnitName& known : kUnits) {
        if (known.unit == unit && lower(known.name) == lower(found)) {
            return fmt::format("unknown unit '{}' (did you mean '{}'? case matters)", found, known.name);
        }
    }
    return fmt::format("unknown unit '{}'; allowed: {}", found, unit_names(unit));
}

}  // namespace

std::string unit_names(Unit unit) {
    std::string names;
    for (const UnitName& known : kUnits) {
        if (known.unit == unit) names += (names.empty() ? "" : ", ") + std::string(known.name);
    }
    return names;
}

double parse_quantity(std::string_view text, Unit unit, std::string& error) {
    double number = 0;
    const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (code != std::errc() || !std::isfinite(number)) {
        error = fmt::format("expected a number with a unit ({}), found '{}'", unit_names(unit), text);
        return 0;
    }
    std::string_view suffix(end, static_cast<std::size_t>(text.data() + text.size() - end));
    while (!suffix.empty() && suffix.front() == ' ') suffix.remove_prefix(1);
    if (suffix.empty()) {
        error = fmt::format("'{}' has no unit; allowed: {}", text, unit_names(unit));
        return 0;
    }
    for (const UnitName& known : kUnits) {
        if (known.unit == unit && known.name == suffix) return number * known.scale;
    }
    error = unknown_unit(suffix, unit);
    return 0;
}

}  // namespace rafter::config
