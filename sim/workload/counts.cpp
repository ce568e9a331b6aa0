// Exact counts. docs/workloads.md, equations (W.1)-(W.9).
#include <algorithm>
#include <numeric>

#include "sim/workload/layer.h"

namespace rafter::workload {

namespace {

Count u(std::int64_t n) { return static_cast<Count>(n); }

/// Pairs (query, key) that are not masked. Query i of seq_q sees keys up to seq_kv - seq_q + i, at most `window` of them.
Count unmasked_pairs(const Attention& a) {
    const std::int64_t prefix = a.seq_kv - a.seq_q;
    if (!a.causal && a.window == 0) return u(a.seq_q) * u(a.seq_kv);
    const std::int64_t most = a.window > 0 ? std::min(a.window, a.seq_kv) : a.seq_kv;
    if (!a.causal) return u(a.seq_q) * u(most);
    // Keys seen by query i: min(prefix + i + 1, most).
    const std::int64_t growing = std::clamp<std::int64_t>(most - prefix, 0, a.seq_q);
    const Count ramp = u(growing) * u(prefix) + u(growing) * (u(growing) + 1) / 2;
    return ramp + u(a.seq_q - growing) * u(most);
}

struct Work {
    Count macs{}, flops{};
};

Work products(Count macs) { return {macs, 2 * macs}; }

Work work(const Gemm& g) { return products(u(g.batch) * u(g.m) * u(g.n) * u(g.k)); }                                      // (W.1)
Work work(const Conv2d& c) { return products(u(c.n) * u(c.k) * u(c.p) * u(c.q) * u(c.c / c.groups) * u(c.r) * u(c.s)); }  // (W.2)
Work work(const Attention& a) {                                                                                           // (W.3)
    return products(u(a.batch) * u(a.heads) * unmasked_pairs(a) * u(a.head_dim + a.head_dim_v));
}
// Additions of the rows of a bag; mean: a product for every value of a bag that holds a row; weighted: one for every value read.
Work work(const EmbeddingBag& e) {  // (W.4)
    const std::int64_t rows = e.lookups(), filled = e.bag_lengths().filled(e.bags());
    const std::int64_t products = e.mode == BagMode::weighted ? rows : e.mode == BagMode::mean ? filled : 0;
    // Backward: every row looked up takes an addition; the optimiser is fused.
    return {0, u((e.pass == Pass::backward ? rows : rows - filled) + products) * u(e.dim)};
}
Work work(const Rnn& r) {  // (W.5)
    Count per_step = 0;
    for (std::int64_t layer = 0; layer < r.layers; ++layer) {
        const std::int64_t input = r.input_gemm ? r.input_of(layer) : 0;
        per_step += u(r.gates()) * u(r.hidden) * u(input + r.hidden);
    }
    return products(u(r.batch) * u(r.steps) * per_step * (r.pass == RnnPass::backward ? 2 : 1));
}
Work work(const Elementwise& e) { return {0, u(e.rows) * u(e.cols) * u(e.flops_per_element)}; }  // (W.6)
Work work(const RowReduction& r) {                                                               // (W.7)
    const std::int64_t each = r.op == RowOp::softmax ? 5 : r.op == RowOp::layernorm ? 8 : r.op == RowOp::rmsnorm ? 4 : 1;
    return {0, u(r.rows) * u(r.cols) * u(each + (r.residual ? 1 : 0))};
}
Work work(const Pool2d& p) { return {0, u(p.n) * u(p.c) * u(p.p) * u(p.q) * u(p.r) * u(p.s)}; }  // (W.8)

/// A tensor named twice (x in x * x^T) is the same memory and counts once.
Bytes sum(const std::vector<Tensor>& tensors) {
    Bytes total{};
    for (std::size_t i = 0; i < tensors.size(); ++i) {
        const auto same = [&](const Tensor& t) { return t.id == tensors[i].id; };
        if (std::none_of(tensors.begin(), tensors.begin() + static_cast<std::ptrdiff_t>(i), same)) total += tensors[i].size;
    }
    return total;
}

}  // namespace

std::int64_t EmbeddingBag::rows_before(std::int64_t table) const {
    if (table_rows.empty()) return table * rows;
    return std::accumulate(table_rows.begin(), table_rows.begin() + table, std::int64_t{0});
}

double Counts::intensity() const {
    return total_bytes().value == 0 ? 0.0 : static_cast<double>(flops) / static_cast<double>(total_bytes().value);
}

Counts count(const Layer& layer) {
    const Work done = std::visit([](const auto& operation) { return work(operation); }, layer.operation);
    Counts counts{done.macs, done.flops, sum(layer.inputs), sum(layer.parameters), sum(layer.outputs)};
    if (const auto* bag = std::get_if<EmbeddingBag>(&layer.operation)) {
        // (W.9) rows looked up, not the whole table
        counts.parameter_bytes = storage(layer.weights, bag->dim) * bag->lookups();
        if (bag->pass == Pass::backward) {
            const std::int64_t state = bag->optimizer == Optimizer::rowwise_adagrad ? bits(DType::fp32) / 8 : 0;
            counts.output_bytes = counts.parameter_bytes + Bytes(state) * bag->lookups();
            counts.parameter_bytes = bag->optimizer == Optimizer::none ? Bytes{} : counts.output_bytes;
        }
        if (bag->mode == BagMode::weighted) counts.input_bytes += storage(DType::fp32, bag->lookups());
    }
    return counts;
}

std::int64_t chain_length(const Layer& layer) {
    const auto* rnn = std::get_if<Rnn>(&layer.operation);
    if (rnn != nullptr) return rnn->pass == RnnPass::backward_weights ? 1 : rnn->steps * rnn->layers;
    return 1;
}

DType compute_dtype(const Layer& layer) {
    // Without weights of its own a layer works in the format of its activations; a narrower KV cache is widened on the way in.
    const auto* gemm = std::get_if<Gemm>(&layer.operation);
    if ((gemm != nullptr && !gemm->weights) || std::holds_alternative<Attention>(layer.operation)) return layer.activations;
    if (layer.weights == layer.activations) return layer.activations;
    return bits(layer.weights) > bits(layer.activations) ? layer.weights : layer.activations;
}

}  // namespace rafter::workload
