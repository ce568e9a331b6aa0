// A model: phases of layers, unrolled lazily. Repeated blocks and decode steps are described, not copied.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "sim/workload/layer.h"

namespace rafter::workload {

/// A sequence of layers executed `repeat` times; parameters of each repetition are different memory.
struct Block {
    std::string name;  ///< "" for layers written directly in the phase
    std::int64_t repeat{1};
    std::vector<Layer> layers;  ///< of repetition 0, step 0
    std::string entry;          ///< tensor id the first repetition reads; later ones read the block's own output
    /// By layer: how to make it for a step, when its sizes are written with `step`; else empty.
    std::vector<std::function<Layer(std::int64_t)>> at_step;
};

/// One pass over the blocks, `steps` times. In a decode phase the KV cache grows by `kv_growth` tokens a step.
struct Phase {
    std::string name;
    std::int64_t steps{1};
    std::int64_t kv_growth{0};
    std::vector<Block> blocks;
    /// A layer at a step and repetition: tensor ids unique per repetition, the KV cache at its size then. Pure.
    Layer layer_at(const Block& block, std::size_t index, std::int64_t step, std::int64_t repetition) const;
};

struct Consumer {
    std::string name;  ///< "weights", "KV cache", "embedding table emb", "activations of the largest layer"
    Bytes size{};
};

struct Model {
    std::string name, title, source;
    Family family{Family::mlp};
    std::map<std::string, std::int64_t> dims;  ///< bound values, for the report
    std::vector<std::string> free_dims;        ///< those written as plain numbers, not as expressions over others
    std::vector<Phase> phases;
    std::string path;                                           ///< file it was read from
    std::vector<std::pair<std::string, std::string>> settings;  ///< --set it was read with
    std::vector<std::string> notes;                             ///< seeds and defaults a reader should know
    std::vector<Consumer> memory() const;                       ///< resident at the peak moment, largest first
};

/// Reads workloads/<name>.yaml or a path. `settings` are --set dim=value overrides. Throws Error with every mistake of the file.
Model load(const std::string& path, const std::vector<std::pair<std::string, std::string>>& settings);

/// A model from the text of a workload file; `name` stands for the path in messages.
Model parse(const std::string& text, const std::string& name);

/// Error (a table of consumers, the deficit, and the largest context or batch that fits) when the model does not fit `capacity`.
/// Re-reads the model with smaller dims to find what fits.
void check_capacity(const Model& model, Bytes capacity, const std::string& gpu_name);

}  // namespace rafter::workload
