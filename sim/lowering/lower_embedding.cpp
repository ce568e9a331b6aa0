#include <algorithm>
#include <memory>

#include <fmt/format.h>

#include "sim/core/error.h"
#include "sim/core/mix.h"
#include "sim/kernels/library/index_select.h"
#include "sim/kernels/library/row_gather.h"
#include "sim/lowering/embedding.h"
#include "sim/lowering/families.h"
#include "sim/lowering/kernel_builder.h"

namespace rafter::lowering {

using kernels::Distribution;
using program::Use;

namespace {

Distribution distribution(workload::IndexPattern pattern) {
    switch (pattern) {
        case workload::IndexPattern::uniform:
            return Distribution::uniform;
        case workload::IndexPattern::zipf:
            return Distribution::zipf;
        case workload::IndexPattern::hot_set:
            return Distribution::hot_set;
        case workload::IndexPattern::sequential:
            return Distribution::sequential;
        case workload::IndexPattern::file:
            return Distribution::listed;
    }
    return Distribution::uniform;
}

/// Indices of a file change the timing as much as a seed does.
std::uint64_t fingerprint(const std::vector<std::int64_t>& indices) {
    std::uint64_t hash = indices.size();
    for (const std::int64_t index : indices) hash = mix(hash, static_cast<std::uint64_t>(index));
    return hash;
}

/// The memory a layer's tables are in. Errors: Error when the GPU has no link to it.
program::Tier tier_of(const workload::Layer& layer, const workload::EmbeddingBag& op, const config::HwConfig& gpu) {
    using workload::Placement;
    if (op.placement == Placement::hbm) return program::Tier::hbm;
    const bool host = op.placement == Placement::host;
    if (!(host ? gpu.host_link : gpu.peer_link)) {
        throw Error(
            fmt::format("error: layer {}: its tables are placed on the {}, but {} has no links.{}_bandwidth and links.{}_latency",
                        layer.name, host ? "host" : "peer", gpu.name, host ? "host" : "peer", host ? "host" : "peer"));
    }
    return host ? program::Tier::host : program::Tier::peer;
}

program::Argument placed(program::Argument argument, program::Tier tier) {
    argument.tier = tier;
    return argument;
}

}  // namespace

std::vector<kernels::IndexSource> index_sources(const workload::EmbeddingBag& op) {
    const auto listed = std::make_shared<const std::vector<std::int64_t>>(op.indices);
    const kernels::HotSet hot{op.hot_rows, op.hot_lookups};
    std::vector<kernels::IndexSource> all;
    for (std::int64_t t = 0; t < (op.table_rows.empty() ? 1 : op.tables); ++t)
        all.emplace_back(distribution(op.pattern), op.rows_of(t), op.alpha, op.seed, listed, hot);
    return all;
}

std::string index_text(const workload::EmbeddingBag& op) {
    std::string text = ",p" + std::to_string(static_cast<int>(op.placement)) + ",i" +
                       std::to_string(static_cast<int>(op.pattern)) + "," + std::to_string(op.alpha) + "," +
                       std::to_string(op.seed) + "," + std::to_string(fingerprint(op.indices));
    if (op.pattern == workload::IndexPattern::hot_set) text += fmt::format(",hot{},{}", op.hot_rows, op.hot_lookups);
    if (op.lengths) text += ",l" + join({op.lengths->min, op.lengths->max});
    return text + ",m" + std::to_string(static_cast<int>(op.mode)) + ",r" + std::to_string(fingerprint(op.table_rows));
}

namespace {

/// Looking up one row a token is a gather: one kernel of eager PyTorch up to 2.6, another of everybody else.
Launches lower_gather(const workload::Layer& layer, const workload::EmbeddingBag& op, const config::HwConfig& gpu) {
    using kernels::IndexSelect;
    using kernels::RowGather;
    const DType dtype = layer.weights;
    const std::int64_t row_bytes = storage(dtype, op.dim).value;
    const bool eager = layer.library == workload::Library::pytorch;
    const IndexSelect::Parameters select{op.batch, op.dim, dtype, IndexSelect::grid(op.batch * op.dim, gpu.sm.count)};
    const RowGather::Parameters gather{op.batch, row_bytes};
    const std::int64_t ctas = eager ? select.ctas : RowGather::grid(gather);
    KernelBuilder builder((eager ? "indexSelectLargeIndex_" : "vectorized_gather_kernel_") + std::string(name(dtype)),
                          {eager ? IndexSelect::kThreads : RowGather::threads(gather), 32, Bytes(0)});
    builder.grid(ctas).math(DType::fp32, false);
    builder.argument(argument_of(layer.inputs, 0, layer, "indices", 8 * op.batch, Use::read));
    const program::Tier tier = tier_of(layer, op, gpu);
    builder.argument(placed(argument_of(layer.parameters, 0, layer, "table", op.rows * row_bytes, Use::read), tier));
    builder.argument(argument_of(layer.outputs, 0, layer, "out", op.batch * row_bytes, Use::write));
    std::shared_ptr<const program::Code> code;
    if (eager) {
        code = std::make_shared<IndexSelect>(select, index_sources(op).front());
    } else {
        code = std::make_shared<RowGather>(gather, index_sources(op).front());
    }
    return {{builder.build(code, join({op.batch, op.rows, op.dim, ctas}) + index_text(op)), 1}};
}

/// Whole bytes a row, one row a bag, nothing to convert.
bool is_gather(const workload::Layer& layer, const workload::EmbeddingBag& op) {
    const bool one_row = op.pooling == 1 && !op.lengths && op.mode == workload::BagMode::sum;
    return op.tables == 1 && one_row && layer.weights == layer.activations && op.dim * bits(layer.weights) % 8 == 0;
}

}  // namespace

kernels::EmbeddingBag::Parameters bag_parameters(const workload::Layer& layer, const workload::EmbeddingBag& op) {
    kernels::EmbeddingBag::Parameters p;
    p.tables = p.count = op.tables, p.dim = op.dim, p.batch = op.batch;
    p.rows = op.rows;
    for (std::size_t t = 0; t < op.table_rows.size(); ++t) p.row_offsets.push_back(op.rows_before(static_cast<std::int64_t>(t)));
    p.lengths = op.bag_lengths(), p.offsets = op.lengths.has_value();
    p.weighted = op.mode == workload::BagMode::weighted, p.mean = op.mode == workload::BagMode::mean;
    p.weights = layer.weights, p.out = layer.activations;
    p.separate_tables = layer.parameters.size() > 1;
    return p;
}

namespace {

Launch look_up(const workload::Layer& layer, const workload::EmbeddingBag& op, const kernels::EmbeddingBag::Parameters& p,
               const std::vector<kernels::IndexSource>& indices, program::Tier tier) {
    using kernels::EmbeddingBag;
    KernelBuilder builder("embedding_bag_forward_" + std::string(name(p.weights)), {EmbeddingBag::kThreads, 40, Bytes(0)});
    builder.grid(EmbeddingBag::grid(p)).math(DType::fp32, false);
    const std::int64_t lookups = op.lookups();
    // A list that nobody looks anything up in is still a tensor.
    builder.argument(argument_of(layer.inputs, 0, layer, "indices",
                                 std::max<std::int64_t>(lookups, 1) * EmbeddingBag::kIndexBytes, Use::read));
    if (p.offsets) builder.argument({layer.name + ".offsets", (op.bags() + 1) * EmbeddingBag::kIndexBytes, Use::read});
    if (p.weighted) {
        builder.argument(
            {layer.name + ".lookup_weights", std::max<std::int64_t>(lookups, 1) * EmbeddingBag::kWeightBytes, Use::read});
    }
    for (std::int64_t t = 0; t < (p.separate_tables ? op.tables : 1); ++t) {
        const std::int64_t rows = p.separate_tables ? op.rows_of(t) : op.rows_before(op.tables);
        builder.argument(placed(argument_of(layer.parameters, static_cast<std::size_t>(t), layer, "table",
                                            storage(p.weights, rows * op.dim).value, Use::read),
                                tier));
    }
    const std::int64_t out_bytes = storage(p.out, op.bags() * p.dim).value;
    builder.argument(argument_of(layer.outputs, 0, layer, "out", out_bytes, Use::write));
    const std::string text = join({p.tables, p.first, p.count, op.rows, p.dim, p.batch, op.pooling}) +
                             std::string(name(p.weights)) + "," + std::string(name(p.out)) + index_text(op) +
                             (p.separate_tables ? "s" : "");
    return {builder.build(std::make_shared<EmbeddingBag>(p, indices), text), 1};
}

}  // namespace

Launches lower_embedding(const workload::Layer& layer, const workload::EmbeddingBag& op, const config::HwConfig& gpu) {
    if (op.pass == workload::Pass::backward) return lower_embedding_backward(layer, op);
    if (is_gather(layer, op)) return lower_gather(layer, op, gpu);
    kernels::EmbeddingBag::Parameters p = bag_parameters(layer, op);
    const auto indices = index_sources(op);
    const program::Tier tier = tier_of(layer, op, gpu);
    if (!op.kernel_per_table) return {look_up(layer, op, p, indices, tier)};
    Launches launches;
    p.count = 1;
    for (p.first = 0; p.first < op.tables; ++p.first) launches.push_back(look_up(layer, op, p, indices, tier));
    return launches;
}

}  // namespace rafter::lowering
