#include "sim/workload/builder.h"

#include <algorithm>

#include <fmt/format.h>

namespace rafter::workload {

std::int64_t Fields::evaluated(const config::Value& value, std::int64_t min) {
    if (!value.defined()) return std::max<std::int64_t>(min, 1);
    std::string problem;
    const std::int64_t n = evaluate(value.text(), *scope_.dims, problem);
    if (problem.empty() && (n < min || n > kMost)) problem = fmt::format("{} is out of range; allowed: {} to {}", n, min, kMost);
    if (problem.empty()) return n;
    value.error(fmt::format("{}: {}", value.path(), problem));
    return std::max<std::int64_t>(min, 1);
}

std::int64_t Fields::number(const std::string& key, std::int64_t min) { return evaluated(map_.required(key), min); }

std::int64_t Fields::number_or(const std::string& key, std::int64_t fallback, std::int64_t min) {
    const config::Value value = map_.optional(key);
    return value.defined() ? evaluated(value, min) : fallback;
}

bool Fields::flag(const std::string& key) {
    const config::Value value = map_.optional(key);
    return value.defined() && value.boolean();
}

std::string Fields::text_or(const std::string& key, const std::string& fallback, const std::vector<std::string>& allowed) {
    const config::Value value = map_.optional(key);
    return value.defined() ? value.text_of(allowed) : fallback;
}

void Fields::error(const std::string& key, const std::string& message) {
    const config::Value value = map_.has(key) ? map_.optional(key) : map_.value();
    value.error(message);
}

namespace {

std::string scoped(const Scope& scope, const std::string& name) { return scope.block.empty() ? name : scope.block + "/" + name; }

/// Parameters of a block belong to its repetition: "@" becomes the number of the repetition.
std::string owned(const Scope& scope, const std::string& name) {
    return scope.block.empty() ? name : scope.block + "[@]/" + name;
}

void add_inputs(Layer& layer, Fields& fields, const Shape& shape, const Scope& scope) {
    std::vector<std::string> ids;
    const config::Value named = fields.map().optional("inputs");
    if (named.defined()) {
        for (const config::Value& item : named.list()) {
            const std::string name = item.text();
            const auto known = scope.outputs.find(name);
            if (known == scope.outputs.end() && name != "input") {
                std::vector<std::string> names{"input"};
                for (const auto& [key, id] : scope.outputs) names.push_back(key);
                const std::string near = nearest_name(name, names);
                item.error(fmt::format("{}: no earlier layer named '{}'{}", item.path(), name,
                                       near.empty() ? "" : fmt::format(" (did you mean '{}'?)", near)));
            }
            ids.push_back(known == scope.outputs.end() ? name : known->second);
        }
    }
    for (std::size_t i = 0; i < shape.inputs.size(); ++i) {
        const std::string fallback = i == 0 ? scope.previous : fmt::format("{}.in{}", scoped(scope, layer.name), i + 1);
        layer.inputs.push_back({i < ids.size() ? ids[i] : fallback, storage(layer.activations, shape.inputs[i])});
    }
}

void add_parameters(Layer& layer, Fields& fields, const Shape& shape, const Scope& scope) {
    const config::Value shared = fields.map().optional("share");
    const std::string name = shared.defined() ? shared.text() : layer.name;
    if (shape.is_cache) {
        const auto& attention = std::get<Attention>(layer.operation);
        if (attention.decode)
            layer.parameters.push_back({owned(scope, name + ".kv"), storage(attention.kv_dtype, shape.parameters)});
        return;
    }
    if (shape.parameters == 0) return;
    layer.parameters.push_back(
        {owned(scope, name + (shape.is_table ? ".table" : ".weight")), storage(layer.weights, shape.parameters)});
}

}  // namespace

Layer read_layer(const config::Value& value, const Scope& scope) {
    Layer layer;
    layer.family = scope.family;
    Fields fields(value, scope);
    const config::Value name = fields.map().required("name");
    const config::Value op = fields.map().required("op");
    if (name.defined()) layer.name = name.text();
    if (!op.defined()) return layer;
    layer.op = op.text_of(operation_names());
    layer.weights = scope.formats.weights;
    layer.activations = scope.formats.activations;
    if (const config::Value dtype = fields.map().optional("dtype"); dtype.defined())
        layer.weights = layer.activations = dtype.dtype();
    if (const config::Value dtype = fields.map().optional("weight_dtype"); dtype.defined()) layer.weights = dtype.dtype();
    Shape shape = read_shape(layer.op, fields, scope);
    layer.operation = std::move(shape.operation);
    add_inputs(layer, fields, shape, scope);
    add_parameters(layer, fields, shape, scope);
    layer.outputs.push_back({scoped(scope, layer.name) + ".out", storage(layer.activations, shape.outputs)});
    fields.map().finish();
    return layer;
}

}  // namespace rafter::workload
