// Reading keys: sizes are expressions over dims, or follow from the layer's input.
#include <algorithm>

#include <fmt/format.h>

#include "sim/workload/builder.h"

namespace rafter::workload {

Fields::Fields(const config::Value& value, const Scope& scope) : map_(value), scope_(scope) { resolve_inputs(); }

void Fields::resolve_inputs() {
    const config::Value list = map_.optional("inputs");
    if (!list.defined()) return;
    for (const config::Value& item : list.list()) {
        const std::string name = item.text();
        const auto known = scope_.outputs.find(name);
        if (known != scope_.outputs.end()) {
            named_.push_back(known->second);
            continue;
        }
        named_.push_back(scope_.entry);
        if (name == "input") continue;
        std::vector<std::string> names{"input"};
        for (const auto& [key, output] : scope_.outputs) names.push_back(key);
        const std::string near = nearest_name(name, names);
        item.error(fmt::format("{}: no earlier layer named '{}'{}", item.path(), name,
                               near.empty() ? "" : fmt::format(" (did you mean '{}'?)", near)));
    }
}

Produced Fields::input(std::size_t i) const {
    if (i < named_.size()) return named_[i];
    return i == 0 && named_.empty() ? scope_.previous : Produced{"", 0, 0, 0, 0, 0, 0, 0};
}

std::int64_t Fields::evaluated(const config::Value& value, std::int64_t min) {
    const std::int64_t harmless = std::max<std::int64_t>(min, 1);
    if (!value.defined()) return harmless;
    const std::string text = value.text();
    uses_step_ = uses_step_ || (scope_.dims->contains("step") && mentions(text, "step"));
    std::string problem;
    const std::int64_t n = evaluate(text, *scope_.dims, problem);
    if (problem.empty() && (n < min || n > kMost)) problem = fmt::format("{} is out of range; allowed: {} to {}", n, min, kMost);
    if (problem.empty()) return n;
    value.error(fmt::format("{}: {}", value.path(), problem));
    return harmless;
}

std::int64_t Fields::number(const std::string& key, std::int64_t min) { return evaluated(map_.required(key), min); }

std::int64_t Fields::number_or(const std::string& key, std::int64_t fallback, std::int64_t min) {
    const config::Value value = map_.optional(key);
    return value.defined() ? evaluated(value, min) : fallback;
}

std::int64_t Fields::inferred(const std::string& key, std::int64_t from_input) {
    return from_input > 0 ? number_or(key, from_input, 1) : number(key);
}

bool Fields::flag(const std::string& key) {
    const config::Value value = map_.optional(key);
    return value.defined() && value.boolean();
}

double Fields::real_or(const std::string& key, double fallback, double min, double max) {
    const config::Value value = map_.optional(key);
    return value.defined() ? value.real(min, max) : fallback;
}

std::string Fields::text_or(const std::string& key, const std::string& fallback, const std::vector<std::string>& allowed) {
    const config::Value value = map_.optional(key);
    return value.defined() ? value.text_of(allowed) : fallback;
}

void Fields::error(const std::string& key, const std::string& message) {
    const config::Value value = map_.has(key) ? map_.optional(key) : map_.value();
    value.error(fmt::format("{}: {}", value.path(), message));
}

std::int64_t Fields::elements(std::initializer_list<std::int64_t> sizes) {
    std::int64_t product = 1;
    for (const std::int64_t size : sizes) {
        if (!__builtin_mul_overflow(product, size, &product) && product <= kMostElements) continue;
        error("", fmt::format("a tensor of more than {} elements ({})", kMostElements, fmt::join(sizes, " x ")));
        return 1;
    }
    return product;
}

}  // namespace rafter::workload
