#include <memory>

#include "sim/core/mix.h"
#include "sim/kernels/embedding_bag.h"
#include "sim/kernels/library/index_select.h"
#include "sim/kernels/library/row_gather.h"
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

kernels::IndexSource source(const workload::EmbeddingBag& op) {
    const auto listed = std::make_shared<const std::vector<std::int64_t>>(op.indices);
    return {distribution(op.pattern), op.rows, op.alpha, op.seed, listed};
}

std::string text_of(const workload::EmbeddingBag& op) {
    return ",i" + std::to_string(static_cast<int>(op.pattern)) + "," + std::to_string(op.alpha) + "," + std::to_string(op.seed) +
           "," + std::to_string(fingerprint(op.indices));
}

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
    builder.argument(argument_of(layer.parameters, 0, layer, "table", op.rows * row_bytes, Use::read));
    builder.argument(argument_of(layer.outputs, 0, layer, "out", op.batch * row_bytes, Use::write));
    std::shared_ptr<const program::Code> code;
    if (eager) {
        code = std::make_shared<IndexSelect>(select, source(op));
    } else {
        code = std::make_shared<RowGather>(gather, source(op));
    }
    return {{builder.build(code, join({op.batch, op.rows, op.dim, ctas}) + text_of(op)), 1}};
}

/// Whole bytes a row, one row a bag, nothing to convert.
bool is_gather(const workload::Layer& layer, const workload::EmbeddingBag& op) {
    return op.tables == 1 && op.pooling == 1 && layer.weights == layer.activations && op.dim * bits(layer.weights) % 8 == 0;
}

}  // namespace

Launches lower_embedding(const workload::Layer& layer, const workload::EmbeddingBag& op, const config::HwConfig& gpu) {
    if (is_gather(layer, op)) return lower_gather(layer, op, gpu);
    kernels::EmbeddingBag::Parameters p;
    p.tables = op.tables, p.rows = op.rows, p.dim = op.dim, p.batch = op.batch, p.pooling = op.pooling;
    p.weights = layer.weights, p.out = layer.activations;
    p.separate_tables = layer.parameters.size() > 1;
    const kernels::IndexSource indices = source(op);
    KernelBuilder builder("embedding_bag_forward_" + std::string(name(p.weights)),
                          {kernels::EmbeddingBag::kThreads, 40, Bytes(0)});
    builder.grid(kernels::EmbeddingBag::grid(p)).math(DType::fp32, false);
    const std::int64_t index_bytes = p.bags() * p.pooling * kernels::EmbeddingBag::kIndexBytes;
    builder.argument(argument_of(layer.inputs, 0, layer, "indices", index_bytes, Use::read));
    const std::int64_t table_bytes = storage(p.weights, op.rows * op.dim).value * (p.separate_tables ? 1 : op.tables);
    for (std::int64_t t = 0; t < (p.separate_tables ? op.tables : 1); ++t) {
        builder.argument(argument_of(layer.parameters, static_cast<std::size_t>(t), layer, "table", table_bytes, Use::read));
    }
    builder.argument(argument_of(layer.outputs, 0, layer, "out", storage(p.out, p.bags() * p.dim).value, Use::write));
    const std::string text = join({p.tables, p.rows, p.dim, p.batch, p.pooling}) + std::string(name(p.weights)) + "," +
                             std::string(name(p.out)) + text_of(op) + (p.separate_tables ? "s" : "");
    return {{builder.build(std::make_shared<kernels::EmbeddingBag>(p, indices), text), 1}};
}

}  // namespace rafter::lowering
