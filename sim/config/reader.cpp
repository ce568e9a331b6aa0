#include "sim/config/reader.h"

#include <algorithm>
#include <charconv>
#include <cmath>

#include <fmt/format.h>

namespace rafter::config {

namespace {

const std::vector<std::string> kLeafKeys{"value", "source", "standing", "note"};
const std::vector<std::string> kStandings{"datasheet", "measured", "derived", "estimate"};

std::string quoted_list(const std::vector<std::string>& names) {
    std::string text;
    for (const auto& name : names) text += (text.empty() ? "" : ", ") + name;
    return text;
}

std::string hint(const std::string& found, const std::vector<std::string>& known) {
    const std::string near = nearest_name(found, known);
    return near.empty() ? "" : fmt::format(" (did you mean '{}'?)", near);
}

}  // namespace

Value::Value(Tree tree, std::string path, Place place, Diagnostics* diagnostics)
    : tree_(std::move(tree)), path_(std::move(path)), place_(std::move(place)), diagnostics_(diagnostics) {}

void Value::error(std::string_view message) const {
    if (diagnostics_ != nullptr) diagnostics_->add(place_, message);
}

Value Value::leaf() const {
    if (!is_map()) return *this;
    const auto* entry = tree_->find("value");
    if (entry == nullptr) return *this;
    for (const auto& e : tree_->entries) {
        if (std::find(kLeafKeys.begin(), kLeafKeys.end(), e.key) != kLeafKeys.end()) continue;
        diagnostics_->add(e.place, fmt::format("unknown key '{}' in {}{}", e.key, path_, hint(e.key, kLeafKeys)));
    }
    return Value(entry->value, path_, entry->value->place, diagnostics_);
}

std::string Value::text() const {
    const Value v = leaf();
    if (v.is_scalar()) return v.tree_->text;
    if (!defined()) return "";
    if (v.is_map() && (v.tree_->find("source") != nullptr || v.tree_->find("standing") != nullptr)) {
        v.error(fmt::format("missing key 'value' in {}", path_));
    } else if (v.is_map() || v.is_list()) {
        v.error(fmt::format("{}: expected a single value, found a {}", path_, v.is_map() ? "map" : "list"));
    } else {
        v.error(fmt::format("{}: no value given", path_));
    }
    return "";
}

std::string Value::text_of(const std::vector<std::string>& allowed) const {
    const std::string found = text();
    if (!leaf().is_scalar() || std::find(allowed.begin(), allowed.end(), found) != allowed.end()) return found;
    leaf().error(fmt::format("{}: '{}' is not one of {}{}", path_, found, quoted_list(allowed), hint(found, allowed)));
    return allowed.front();
}

std::int64_t Value::integer(std::int64_t min, std::int64_t max) const {
    const Value v = leaf();
    if (!defined()) return min;
    const std::string found = text();
    if (!v.is_scalar()) return min;
    std::int64_t number = 0;
    const char* const end = found.data() + found.size();
    const auto [stop, code] = std::from_chars(found.data(), end, number);
    const std::size_t first = !found.empty() && found[0] == '-' ? 1 : 0;
    const bool leading_zero = found.size() > first + 1 && found[first] == '0';
    if (!v.tree_->quoted && code == std::errc::result_out_of_range && stop == end) {
        v.error(fmt::format("{}: {} is out of range; allowed: {} to {}", path_, found, min, max));
        return min;
    }
    if (v.tree_->quoted || code != std::errc() || stop != end || leading_zero) {
        v.error(fmt::format("{}: expected a plain decimal integer, found {}", path_,
                            v.tree_->quoted ? fmt::format("the quoted text \"{}\"", found) : fmt::format("'{}'", found)));
        return min;
    }
    if (number < min || number > max) {
        v.error(fmt::format("{}: {} is out of range; allowed: {} to {}", path_, number, min, max));
        return min;
    }
    return number;
}

double Value::real(double min, double max) const {
    const std::string found = text();
    if (!leaf().is_scalar()) return min;
    double number = 0;
    const char* const end = found.data() + found.size();
    const auto [stop, code] = std::from_chars(found.data(), end, number);
    if (leaf().tree_->quoted || code != std::errc() || stop != end || !std::isfinite(number)) {
        leaf().error(fmt::format("{}: expected a number, found '{}'", path_, found));
        return min;
    }
    if (number < min || number > max) {
        leaf().error(fmt::format("{}: {} is out of range; allowed: {} to {}", path_, number, min, max));
        return min;
    }
    return number;
}

bool Value::boolean() const {
    const std::string found = text();
    if (!leaf().is_scalar()) return false;
    if (found != "true" && found != "false") leaf().error(fmt::format("{}: expected true or false, found '{}'", path_, found));
    return found == "true";
}

double Value::quantity(Unit unit, double min, double max) const {
    const Value v = leaf();
    const std::string found = text();
    if (!v.is_scalar()) return min;
    std::string problem;
    const double number = parse_quantity(found, unit, problem);
    if (problem.empty() && (number < min || number > max)) {
        const bool clock = unit == Unit::hertz;
        const std::string allowed =
            clock && min == 1e8 ? "100 MHz to 10 GHz" : fmt::format("{} to {} {}", min, max, base_unit(unit));
        const std::string meant = clock ? with_fitting_unit(found, unit, min, max) : "";
        problem = fmt::format("'{}' is out of range; allowed: {}{}", found, allowed,
                              meant.empty() ? "" : fmt::format(" (did you mean '{}'?)", meant));
    }
    if (problem.empty()) return number;
    v.error(fmt::format("{}: {}", path_, problem));
    return min;
}

std::int64_t Value::whole(Unit unit, double min, double max, double scale) const {
    const double exact = quantity(unit, min, max) * scale;
    const std::int64_t rounded = std::llround(exact);
    if (std::abs(static_cast<double>(rounded) - exact) > 1e-4 * std::abs(exact)) {
        leaf().error(fmt::format("{}: '{}' is not a whole number of {}", path_, text(), scale == 1 ? base_unit(unit) : "fs"));
    }
    return rounded;
}

DType Value::dtype() const {
    const std::string found = text();
    if (!leaf().is_scalar()) return DType::fp16;
    if (const auto parsed = parse_dtype(found)) return *parsed;
    leaf().error(
        fmt::format("{}: unknown dtype '{}'; known: {}{}", path_, found, quoted_list(dtype_names()), hint(found, dtype_names())));
    return DType::fp16;
}

std::vector<Value> Value::list() const {
    std::vector<Value> values;
    if (defined() && !is_list()) error(fmt::format("{}: expected a list", path_));
    if (!is_list()) return values;
    for (std::size_t i = 0; i < tree_->items.size(); ++i) {
        values.emplace_back(tree_->items[i], fmt::format("{}[{}]", path_, i), tree_->items[i]->place, diagnostics_);
    }
    return values;
}

std::vector<std::pair<std::string, Value>> Value::entries() const {
    std::vector<std::pair<std::string, Value>> values;
    if (defined() && !is_map()) error(fmt::format("{}: expected a map", path_.empty() ? "top level" : path_));
    if (!is_map()) return values;
    for (const auto& entry : tree_->entries) {
        const auto* first = tree_->find(entry.key);
        if (first != &entry) {
            diagnostics_->add(entry.place, duplicate_message(*first, path_));
            continue;
        }
        values.emplace_back(
            entry.key, Value(entry.value, path_.empty() ? entry.key : path_ + "." + entry.key, entry.value->place, diagnostics_));
    }
    return values;
}

Standing Value::standing() const {
    const auto* entry = is_map() ? tree_->find("standing") : nullptr;
    if (entry == nullptr) return Standing::estimate;
    const Value named(entry->value, path_ + ".standing", entry->value->place, diagnostics_);
    const std::string found = named.text_of(kStandings);
    return static_cast<Standing>(std::find(kStandings.begin(), kStandings.end(), found) - kStandings.begin());
}

std::string Value::source() const {
    const auto* entry = is_map() ? tree_->find("source") : nullptr;
    if (entry != nullptr) return Value(entry->value, path_ + ".source", entry->value->place, diagnostics_).text();
    return place_.line == 0 && place_.file.rfind("--set ", 0) == 0 ? place_.file : "";
}

Map::Map(const Value& value) : value_(value) { value_.entries(); }

bool Map::has(const std::string& key) const { return value_.is_map() && value_.tree()->find(key) != nullptr; }

Value Map::find(const std::string& key) {
    known_.push_back(key);
    if (!has(key)) return {};
    for (const auto& [name, value] : value_.entries()) {
        if (name == key) return value;
    }
    return {};
}

Value Map::optional(const std::string& key) { return find(key); }

Value Map::required(const std::string& key) {
    const Value value = find(key);
    if (!value.defined() && value_.is_map()) value_.error(fmt::format("missing key '{}' {}", key, in_section(value_.path())));
    return value;
}

void Map::finish() {
    if (!value_.is_map()) return;
    for (const auto& entry : value_.tree()->entries) {
        if (std::find(known_.begin(), known_.end(), entry.key) != known_.end()) continue;
        const std::string message =
            fmt::format("unknown key '{}' {}{}", entry.key, in_section(value_.path()), hint(entry.key, known_));
        value_.report(entry.place, message);
    }
}

}  // namespace rafter::config
