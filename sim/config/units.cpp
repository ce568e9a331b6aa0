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
    UnitName{"kB/s", Unit::bytes_per_s, 1e3},
    UnitName{"MB/s", Unit::bytes_per_s, 1e6},
    UnitName{"GB/s", Unit::bytes_per_s, 1e9},
    UnitName{"TB/s", Unit::bytes_per_s, 1e12},
    UnitName{"MiB/s", Unit::bytes_per_s, 1048576.0},
    UnitName{"GiB/s", Unit::bytes_per_s, 1073741824.0},
    UnitName{"TiB/s", Unit::bytes_per_s, 1099511627776.0},
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
    UnitName{"bit/s", Unit::bits_per_s, 1},
    UnitName{"Mbit/s", Unit::bits_per_s, 1e6},
    UnitName{"Gbit/s", Unit::bits_per_s, 1e9},
    UnitName{"Tbit/s", Unit::bits_per_s, 1e12},
    UnitName{"W", Unit::watts, 1},
    UnitName{"clk", Unit::clk, 1},
    UnitName{"FLOP/s", Unit::flops_per_s, 1},
    UnitName{"GFLOP/s", Unit::flops_per_s, 1e9},
    UnitName{"TFLOP/s", Unit::flops_per_s, 1e12},
    UnitName{"PFLOP/s", Unit::flops_per_s, 1e15},
    UnitName{"fJ", Unit::femtojoules, 1},
    UnitName{"pJ", Unit::femtojoules, 1e3},
    UnitName{"nJ", Unit::femtojoules, 1e6},
};

/// Spellings that people write and the one we take.
struct Alias {
    std::string_view written;
    std::string_view name;
};
constexpr std::array kAliases{
    Alias{"Gb/s", "Gbit/s"},      Alias{"Gbps", "Gbit/s"},      Alias{"Tb/s", "Tbit/s"},    Alias{"Tbps", "Tbit/s"},
    Alias{"GBps", "GB/s"},        Alias{"TBps", "TB/s"},        Alias{"cycles", "clk"},     Alias{"cycle", "clk"},
    Alias{"clocks", "clk"},       Alias{"\u00b5s", "us"},       Alias{"\u03bcs", "us"},     Alias{"sec", "s"},
    Alias{"GFLOPS", "GFLOP/s"},   Alias{"TFLOPS", "TFLOP/s"},   Alias{"PFLOPS", "PFLOP/s"}, Alias{"TFLOPs/s", "TFLOP/s"},
    Alias{"GFLOPs/s", "GFLOP/s"}, Alias{"PFLOPs/s", "PFLOP/s"}, Alias{"GT/s", "Gbit/s"},    Alias{"watts", "W"},
};

// The clocks a GPU can have; outside of it the unit is the likely mistake.
constexpr double kLeastHertz = 1e8;
constexpr double kMostHertz = 1e10;

std::string lower(std::string_view text) {
    std::string out(text);
    for (char& c : out) c = static_cast<char>(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
    return out;
}

const UnitName* find_unit(std::string_view name, Unit unit) {
    for (const UnitName& known : kUnits) {
        if (known.unit == unit && known.name == name) return &known;
    }
    return nullptr;
}

std::string unknown_unit(std::string_view found, Unit unit) {
    for (const Alias& alias : kAliases) {
        if (alias.written == found && find_unit(alias.name, unit) != nullptr)
            return fmt::format("unknown unit '{}' (did you mean '{}'?)", found, alias.name);
    }
    for (const UnitName& known : kUnits) {
        if (known.unit == unit && lower(known.name) == lower(found)) {
            return fmt::format("unknown unit '{}' (did you mean '{}'? case matters)", found, known.name);
        }
    }
    for (const UnitName& known : kUnits) {
        if (known.name == found)
            return fmt::format("'{}' is a unit of {}, wanted is one of {}: {}", found, unit_kind(known.unit), unit_kind(unit),
                               unit_names(unit));
    }
    return fmt::format("unknown unit '{}'; allowed: {}", found, unit_names(unit));
}

/// A decimal number at the front of `text`; what follows is left in `rest`. No sign but '-', no leading zeros, nothing like inf.
bool read_number(std::string_view text, double& number, std::string_view& rest) {
    const std::size_t first = !text.empty() && text[0] == '-' ? 1 : 0;
    const auto digit = [&](std::size_t i) { return text.size() > i && text[i] >= '0' && text[i] <= '9'; };
    if (!digit(first) || (text[first] == '0' && digit(first + 1))) return false;
    const char* const end = text.data() + text.size();
    const auto [stop, code] = std::from_chars(text.data(), end, number);
    if (code != std::errc() || !std::isfinite(number)) return false;
    rest = std::string_view(stop, static_cast<std::size_t>(end - stop));
    return true;
}

}  // namespace

std::string_view unit_kind(Unit unit) {
    constexpr std::array<std::string_view, 9> kinds{"size",  "bandwidth", "frequency",    "time",  "data rate",
                                                    "power", "clocks",    "compute rate", "energy"};
    return kinds[static_cast<std::size_t>(unit)];
}

std::string_view base_unit(Unit unit) {
    constexpr std::array<std::string_view, 9> bases{"B", "B/s", "Hz", "s", "bit/s", "W", "clk", "FLOP/s", "fJ"};
    return bases[static_cast<std::size_t>(unit)];
}

std::string unit_names(Unit unit) {
    std::string names;
    for (const UnitName& known : kUnits) {
        if (known.unit == unit) names += (names.empty() ? "" : ", ") + std::string(known.name);
    }
    return names;
}

std::string with_fitting_unit(std::string_view text, Unit unit, double min, double max) {
    double number = 0;
    std::string_view rest;
    if (!read_number(text, number, rest)) return "";
    for (const UnitName& known : kUnits) {
        if (known.unit == unit && number * known.scale >= min && number * known.scale <= max)
            return fmt::format("{} {}", text.substr(0, text.size() - rest.size()), known.name);
    }
    return "";
}

double parse_quantity(std::string_view text, Unit unit, std::string& error) {
    double number = 0;
    std::string_view suffix;
    if (!read_number(text, number, suffix)) {
        error = fmt::format("expected a number with a unit ({}), found '{}'", unit_names(unit), text);
        return 0;
    }
    while (!suffix.empty() && suffix.front() == ' ') suffix.remove_prefix(1);
    if (suffix.empty()) {
        const std::string meant = unit == Unit::hertz ? with_fitting_unit(text, unit, kLeastHertz, kMostHertz) : "";
        error = fmt::format("'{}' has no unit; allowed: {}{}", text, unit_names(unit),
                            meant.empty() ? "" : fmt::format(" (did you mean '{}'?)", meant));
        return 0;
    }
    if (const UnitName* known = find_unit(suffix, unit)) return number * known->scale;
    error = unknown_unit(suffix, unit);
    return 0;
}

}  // namespace rafter::config
