#include "sim/workload/model.h"

#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "sim/core/error.h"

namespace rafter::workload {

namespace {

/// Tensors owned by a repetition carry "@" in place of its number.
void number(std::vector<Tensor>& tensors, std::int64_t repetition) {
    for (Tensor& tensor : tensors) {
        const auto at = tensor.id.find('@');
        if (at != std::string::npos) tensor.id.replace(at, 1, fmt::format("{}", repetition));
    }
}

void grow(Layer& layer, std::int64_t tokens) {
    auto* attention = std::get_if<Attention>(&layer.operation);
    if (attention == nullptr || !attention->decode || tokens == 0) return;
    attention->seq_kv += tokens;
    const std::int64_t held = attention->window > 0 ? std::min(attention->window, attention->seq_kv) : attention->seq_kv;
    layer.parameters.front().size = storage(
        attention->kv_dtype, attention->batch * attention->kv_heads * (attention->head_dim + attention->head_dim_v) * held);
}

bool is_cache(const Layer& layer) { return std::holds_alternative<Attention>(layer.operation); }

}  // namespace

Layer Phase::layer_at(const Block& block, std::size_t index, std::int64_t step, std::int64_t repetition) const {
    Layer layer = block.layers[index];
    grow(layer, step * kv_growth);
    number(layer.parameters, repetition);
    number(layer.outputs, repetition);
    if (repetition > 0) {
        for (Tensor& input : layer.inputs) {
            if (input.id == block.entry) input.id = block.layers.back().outputs.front().id;
        }
    }
    return layer;
}

std::vector<Consumer> Model::memory() const {
    std::vector<Consumer> consumers;
    std::map<std::string, Bytes> weights, caches;
    Bytes activations{};
    for (const Phase& phase : phases) {
        for (const Block& block : phase.blocks) {
            for (std::size_t i = 0; i < block.layers.size(); ++i) {
                for (std::int64_t r = 0; r < block.repeat; ++r) {
                    const Layer layer = phase.layer_at(block, i, phase.steps - 1, r);
                    Bytes live{};
                    for (const Tensor& t : layer.inputs) live += t.size;
                    for (const Tensor& t : layer.outputs) live += t.size;
                    activations = std::max(activations, live);
                    for (const Tensor& t : layer.parameters) {
                        Bytes& size = (is_cache(layer) ? caches : weights)[t.id];
                        size = std::max(size, t.size);
                    }
                }
            }
        }
    }
    Bytes dense{}, cache{};
    for (const auto& [id, size] : weights) {
        if (id.find(".table") != std::string::npos) {
            consumers.push_back({"embedding table " + id.substr(0, id.find(".table")), size});
        } else {
            dense += size;
        }
    }
    for (const auto& [id, size] : caches) cache += size;
    if (dense.value > 0) consumers.push_back({"weights", dense});
    if (cache.value > 0) consumers.push_back({"KV cache", cache});
    consumers.push_back({"activations of the largest layer", activations});
    std::stable_sort(consumers.begin(), consumers.end(), [](const Consumer& a, const Consumer& b) { return a.size > b.size; });
    return consumers;
}

namespace {

Bytes total(const Model& model) {
    Bytes sum{};
    for (const Consumer& c : model.memory()) sum += c.size;
    return sum;
}

double gib(Bytes b) { return static_cast<double>(b.value) / 1073741824.0; }

/// Largest value of the dim `name` with which the model fits, or 0.
std::int64_t largest_fit(const Model& model, const std::string& name, Bytes capacity) {
    std::int64_t low = 0, high = model.dims.at(name);
    while (high - low > 1) {
        const std::int64_t middle = low + (high - low) / 2;
        auto settings = model.settings;
        settings.emplace_back(name, fmt::format("{}", middle));
        bool fits = false;
        try {
            fits = total(load(model.path, settings)) <= capacity;
        } catch (const Error&) {
            fits = false;  // a dim that divides no more is no candidate
        }
        (fits ? low : high) = middle;
    }
    return low;
}

}  // namespace

void check_capacity(const Model& model, Bytes capacity, const std::string& gpu_name) {
    const Bytes need = total(model);
    if (need <= capacity) return;
    std::string text = fmt::format("error: {} does not fit the memory of {}: {} B = {:.2f} GiB needed, {} B = {:.2f} GiB there\n",
                                   model.name, gpu_name, need.value, gib(need), capacity.value, gib(capacity));
    for (const Consumer& c : model.memory())
        text += fmt::format("  {:44} {:>20} B {:>10.2f} GiB\n", c.name, c.size.value, gib(c.size));
    text += fmt::format("  {:44} {:>20} B {:>10.2f} GiB", "deficit", (need - capacity).value, gib(need - capacity));
    for (const char* dim : {"context", "seq", "batch"}) {
        if (!model.dims.contains(dim)) continue;
        const std::int64_t fits = largest_fit(model, dim, capacity);
        if (fits > 0) {
            text += fmt::format("\n  largest {} that fits: {}", dim, fits);
            break;
        }
    }
    throw Error(text);
}

}  // namespace rafter::workload
