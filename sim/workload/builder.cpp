#include "sim/workload/builder.h"

#include <algorithm>

#include <fmt/format.h>

namespace rafter::workload {

namespace {

/// Activations are reused by the repetitions of a block.
std::string scoped(const Scope& scope, const std::string& name) {
    return scope.prefix + (scope.block.empty() ? name : scope.block + "/" + name);
}

/// Parameters of a block belong to its repetition: "@" becomes the number of the repetition. Phases share them.
std::string owned(const Scope& scope, const std::string& name) {
    return scope.block.empty() ? name : scope.block + "[@]/" + name;
}

void add_inputs(Layer& layer, Fields& fields, const Shape& shape, const Scope& scope) {
    if (fields.named().size() > shape.inputs.size()) {
        fields.error("inputs", fmt::format("{} inputs named, {} '{}' reads {}", fields.named().size(), layer.op, layer.name,
                                           shape.inputs.size()));
    }
    for (std::size_t i = 0; i < shape.inputs.size(); ++i) {
        const Produced from = fields.input(i);
        const std::int64_t size = shape.inputs[i];
        const bool wrong = from.elements > 0 && (shape.exact ? size != from.elements : size > from.elements);
        if (wrong) {
            fields.error("inputs", fmt::format("{} '{}' reads {} elements of {}, which holds {}", layer.op, layer.name, size,
                                               from.id, from.elements));
        }
        const std::string id = from.id.empty() ? fmt::format("{}.in{}", scoped(scope, layer.name), i + 1) : from.id;
        layer.inputs.push_back({id, storage(layer.activations, size)});
    }
}

/// `share: other` takes the tensors of an earlier layer as they are; the sizes must agree.
bool add_shared(Layer& layer, Fields& fields, const Scope& scope) {
    const config::Value shared = fields.map().optional("share");
    if (!shared.defined()) return false;
    const std::string name = shared.text();
    const auto known = scope.weights.find(name);
    if (known == scope.weights.end()) {
        std::vector<std::string> names;
        for (const auto& [key, tensors] : scope.weights) names.push_back(key);
        const std::string near = nearest_name(name, names);
        shared.error(fmt::format("{}: no earlier layer with weights named '{}'{}", shared.path(), name,
                                 near.empty() ? "" : fmt::format(" (did you mean '{}'?)", near)));
        return true;
    }
    for (std::size_t i = 0; i < layer.parameters.size() && i < known->second.size(); ++i) {
        if (known->second[i].size != layer.parameters[i].size) {
            shared.error(fmt::format("{}: '{}' has weights of {} B, '{}' of {} B", shared.path(), name,
                                     known->second[i].size.value, layer.name, layer.parameters[i].size.value));
        }
        layer.parameters[i].id = known->second[i].id;
    }
    return true;
}

void add_parameters(Layer& layer, Fields& fields, const Shape& shape, const Scope& scope) {
    for (const Operand& operand : shape.parameters) {
        layer.parameters.push_back({owned(scope, layer.name + operand.suffix), storage(operand.dtype, operand.elements)});
    }
    add_shared(layer, fields, scope);
    const std::string cache = owned(scope, layer.name + shape.cache.suffix);
    if (shape.cache.elements > 0) layer.parameters.push_back({cache, storage(shape.cache.dtype, shape.cache.elements)});
    layer.outputs.push_back(
        {scoped(scope, layer.name) + ".out", storage(shape.output_dtype.value_or(layer.activations), shape.output.elements)});
    if (shape.updates_parameters) layer.outputs = layer.parameters;
    if (shape.updates_last) layer.outputs.push_back(layer.parameters.back());
    if (shape.updates_second) layer.outputs.push_back(layer.inputs[1]);
    if (shape.appended > 0) layer.outputs.push_back({cache, storage(shape.cache.dtype, shape.appended)});
}

void read_formats(Layer& layer, Fields& fields, const Scope& scope) {
    layer.weights = scope.formats.weights;
    layer.activations = scope.formats.activations;
    if (const config::Value dtype = fields.map().optional("dtype"); dtype.defined())
        layer.weights = layer.activations = dtype.dtype();
    if (const config::Value dtype = fields.map().optional("weight_dtype"); dtype.defined()) layer.weights = dtype.dtype();
    const config::Value library = fields.map().optional("library");
    layer.library = library.defined() ? read_library(library) : scope.library;
}

}  // namespace

ReadLayer read_in_context(const config::Value& value, const Scope& scope) {
    ReadLayer result;
    Layer& layer = result.layer;
    layer.family = scope.family;
    if (!value.is_map()) {
        value.error(fmt::format("{}: expected a layer, a map with name and op", value.path()));
        return result;
    }
    Fields fields(value, scope);
    const config::Value name = fields.map().required("name");
    const config::Value op = fields.map().required("op");
    if (!name.defined() || !op.defined()) return result;
    layer.name = name.text();
    layer.op = op.text_of(operation_names());
    if (layer.op != op.text()) return result;
    if (layer.name.empty() || layer.name.find_first_of("/[]@") != std::string::npos)
        name.error(fmt::format("{}: a layer's name is not empty and holds none of / [ ] @", name.path()));
    read_formats(layer, fields, scope);
    Shape shape = read_shape(layer, fields, scope);
    layer.operation = std::move(shape.operation);
    add_inputs(layer, fields, shape, scope);
    add_parameters(layer, fields, shape, scope);
    fields.map().finish();
    result.output = shape.output;
    result.output.id = scoped(scope, layer.name) + ".out";
    result.uses_step = fields.uses_step();
    result.valid = true;
    return result;
}

Library read_library(const config::Value& value) {
    const std::string name = value.text_of({"tuned", "pytorch", "vllm"});
    return name == "pytorch" ? Library::pytorch : name == "vllm" ? Library::vllm : Library::tuned;
}

Layer read_layer(const config::Value& value, const Scope& scope) { return read_in_context(value, scope).layer; }

const std::vector<std::string>& operation_names() {
    static const std::vector<std::string> names{"gemm",          "linear",    "bmm",     "conv2d", "attention",
                                                "embedding_bag", "rnn",       "lstm",    "gru",    "elementwise",
                                                "softmax",       "layernorm", "rmsnorm", "reduce", "pool2d"};
    return names;
}

Shape read_shape(const Layer& layer, Fields& fields, const Scope& scope) {
    const std::string& op = layer.op;
    if (op == "gemm" || op == "linear" || op == "bmm") return read_gemm(layer, fields);
    if (op == "conv2d") return read_conv(layer, fields);
    if (op == "attention") return read_attention(fields, scope);
    if (op == "embedding_bag") return read_embedding(layer, fields, scope);
    if (op == "rnn" || op == "lstm" || op == "gru") return read_rnn(layer, fields);
    if (op == "elementwise") return read_elementwise(fields);
    if (op == "pool2d") return read_pool(fields);
    return read_rows(layer, fields);
}

}  // namespace rafter::workload
