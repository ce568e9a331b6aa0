#include "sim/workload/model.h"

#include <algorithm>
#include <limits>

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
    layer.parameters.back().size = storage(
        attention->kv_dtype, attention->batch * attention->kv_heads * (attention->head_dim + attention->head_dim_v) * held);
}

}  // namespace

Layer Phase::layer_at(const Block& block, std::size_t index, std::int64_t step, std::int64_t repetition) const {
    const bool written_with_step = index < block.at_step.size() && block.at_step[index] != nullptr;
    Layer layer = written_with_step && step > 0 ? block.at_step[index](step) : block.layers[index];
    if (!written_with_step) grow(layer, step * kv_growth);
    number(layer.parameters, repetition);
    number(layer.outputs, repetition);
    if (repetition > 0) {
        for (Tensor& input : layer.inputs) {
            if (input.id == block.entry) input.id = block.layers.back().outputs.front().id;
        }
    }
    return layer;
}

namespace {

struct Resident {
    Bytes size{};
    enum class Kind : std::uint8_t { weights, table, cache } kind{Kind::weights};
    std::string name;  ///< of a table's layer
    std::int64_t tables{1};
    bool state{false};  ///< of the optimiser
    bool equal{true};   ///< tables of the same number of rows
};

/// Sums stay at the largest value instead of wrapping: no machine has that much, and the message should say so.
Bytes plus(Bytes a, Bytes b) {
    Bytes sum;
    if (__builtin_add_overflow(a.value, b.value, &sum.value)) sum.value = std::numeric_limits<std::int64_t>::max();
    return sum;
}

/// What stays in memory for the whole run, by tensor id, and the largest working set of a layer.
class Inventory {
public:
    void add(const Layer& layer) {
        Bytes live{};
        for (const Tensor& t : layer.inputs) live += t.size;
        for (const Tensor& t : layer.outputs) {  // what is updated in place is held once
            const bool held =
                std::any_of(layer.parameters.begin(), layer.parameters.end(), [&](const Tensor& p) { return p.id == t.id; });
            if (!held) live += t.size;
        }
        activations_ = std::max(activations_, live);
        const bool attention = std::holds_alternative<Attention>(layer.operation);
        for (const Tensor& t : layer.parameters) keep(t, layer, attention);
        // The second output of an attention is what it appends to the cache.
        for (std::size_t i = 1; attention && i < layer.outputs.size(); ++i) keep(layer.outputs[i], layer, true);
    }

    std::vector<Consumer> consumers() const {
        std::vector<Consumer> list;
        Bytes dense{}, cache{};
        for (const auto& [id, r] : residents_) {
            if (r.kind == Resident::Kind::table) list.push_back({table_name(r), r.size});
            if (r.kind == Resident::Kind::weights) dense = plus(dense, r.size);
            if (r.kind == Resident::Kind::cache) cache = plus(cache, r.size);
        }
        if (dense.value > 0) list.push_back({"weights", dense});
        if (cache.value > 0) list.push_back({"KV cache", cache});
        list.push_back({"activations of the largest layer", activations_});
        std::stable_sort(list.begin(), list.end(), [](const Consumer& a, const Consumer& b) { return a.size > b.size; });
        return list;
    }

private:
    static std::string table_name(const Resident& r) {
        if (r.state) return "optimizer state of " + r.name;
        if (r.tables == 1) return "embedding table " + r.name;
        if (!r.equal) return fmt::format("embedding tables {}[0..{}]", r.name, r.tables - 1);
        return fmt::format("embedding tables {}[0..{}], each {} B", r.name, r.tables - 1, r.size.value / r.tables);
    }

    void keep(const Tensor& tensor, const Layer& layer, bool cache) {
        if (const auto* bag = std::get_if<EmbeddingBag>(&layer.operation); bag != nullptr && bag->placement != Placement::hbm)
            return;
        Resident& r = residents_[tensor.id];
        r.size = std::max(r.size, tensor.size);
        if (cache) r.kind = Resident::Kind::cache;
        if (const auto* bag = std::get_if<EmbeddingBag>(&layer.operation)) {
            r.kind = Resident::Kind::table;
            r.name = layer.name;
            r.tables = bag->tables;
            r.state = tensor.id.size() > 6 && tensor.id.substr(tensor.id.size() - 6) == ".state";
            r.equal = bag->table_rows.empty();
        }
    }

    std::map<std::string, Resident> residents_;
    Bytes activations_{};
};

Bytes total(const Model& model) {
    Bytes sum{};
    for (const Consumer& c : model.memory()) sum = plus(sum, c.size);
    return sum;
}

double gib(Bytes b) { return static_cast<double>(b.value) / 1073741824.0; }

bool fits(const Model& model, const std::string& dim, std::int64_t value, Bytes capacity) {
    auto settings = model.settings;
    settings.emplace_back(dim, fmt::format("{}", value));
    try {
        return total(load(model.path, settings)) <= capacity;
    } catch (const Error&) {
        return false;  // a size that the file cannot take (it divides no more) is no candidate
    }
}

/// Largest value of the dim with which the model fits, or 0.
std::int64_t largest_fit(const Model& model, const std::string& dim, Bytes capacity) {
    std::int64_t low = 0, high = model.dims.at(dim);
    while (high - low > 1) {
        const std::int64_t middle = low + (high - low) / 2;
        (fits(model, dim, middle, capacity) ? low : high) = middle;
    }
    return low;
}

bool has_tables(const Phase& phase) {
    return std::any_of(phase.blocks.begin(), phase.blocks.end(), [](const Block& block) {
        return std::any_of(block.layers.begin(), block.layers.end(),
                           [](const Layer& layer) { return std::holds_alternative<EmbeddingBag>(layer.operation); });
    });
}

/// What the user could do about it.
std::string advice(const Model& model, Bytes capacity) {
    for (const char* dim : {"context", "seq", "batch"}) {
        if (std::find(model.free_dims.begin(), model.free_dims.end(), dim) == model.free_dims.end()) continue;
        const std::int64_t most = largest_fit(model, dim, capacity);
        const std::string what = std::string_view(dim) == "batch" ? "batch" : "context";
        if (most > 0) return fmt::format("\n  largest {} that fits: {} (--set {}={})", what, most, dim, most);
    }
    const bool tables = std::any_of(model.phases.begin(), model.phases.end(), has_tables);
    return std::string("\n  no smaller context or batch fits: the largest consumer above must shrink, or take a narrower dtype") +
           (tables ? "; tables may be left outside: placement: host (or peer)" : "");
}

}  // namespace

std::vector<Consumer> Model::memory() const {
    Inventory inventory;
    for (const Phase& phase : phases) {
        for (const Block& block : phase.blocks) {
            for (std::size_t i = 0; i < block.layers.size(); ++i) {
                for (std::int64_t r = 0; r < block.repeat; ++r) inventory.add(phase.layer_at(block, i, phase.steps - 1, r));
            }
        }
    }
    return inventory.consumers();
}

void check_capacity(const Model& model, Bytes capacity, const std::string& gpu_name) {
    const Bytes need = total(model);
    if (need <= capacity) return;
    std::string text = fmt::format("error: {} does not fit the memory of {}: {} B = {:.2f} GiB needed, {} B = {:.2f} GiB there\n",
                                   model.name, gpu_name, need.value, gib(need), capacity.value, gib(capacity));
    for (const Consumer& c : model.memory())
        text += fmt::format("  {:60} {:>16} B {:>9.2f} GiB\n", c.name, c.size.value, gib(c.size));
    text += fmt::format("  {:60} {:>16} B {:>9.2f} GiB", "deficit", (need - capacity).value, gib(need - capacity));
    throw Error(text + advice(model, capacity));
}

}  // namespace rafter::workload
