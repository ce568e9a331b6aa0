#include <algorithm>
#include <cmath>
#include <memory>

#include "sim/kernels/elementwise.h"
#include "sim/kernels/epilogue.h"
#include "sim/kernels/row_reduction.h"
#include "sim/lowering/families.h"
#include "sim/lowering/kernel_builder.h"

namespace rafter::lowering {

using kernels::Elementwise;
using kernels::RowReduction;
using program::Argument;
using program::Use;
using workload::Layer;
using workload::Tensor;

namespace {

/// Operands that hold `total` bytes together, each in proportion to its tensor.
std::vector<Argument> operands(const std::vector<Tensor>& tensors, std::int64_t total, const Layer& layer,
                               const std::string& role, Use use, std::vector<std::int64_t>& shares) {
    if (total == 0) return {};
    std::int64_t sum = 0;
    for (const Tensor& t : tensors) sum += t.size.value;
    if (sum == 0) {
        shares.push_back(total);
        return {{layer.name + "." + role, total, use}};
    }
    std::vector<Argument> list;
    std::int64_t left = total;
    for (std::size_t i = 0; i < tensors.size(); ++i) {
        const double part = static_cast<double>(tensors[i].size.value) / static_cast<double>(sum);
        const bool exact = sum == total;
        std::int64_t share = exact ? tensors[i].size.value : std::llround(static_cast<double>(total) * part);
        if (i + 1 == tensors.size()) share = left;
        left -= share;
        shares.push_back(share);
        list.push_back({tensors[i].id, std::max(share, tensors[i].size.value), use});
    }
    return list;
}

}  // namespace

Launches lower_elementwise(const Layer& layer, const workload::Elementwise& op, const config::HwConfig&) {
    const std::int64_t elements = op.rows * op.cols;
    const auto bytes_of = [&](DType dtype, double tensors) {
        return storage(dtype, std::llround(tensors * static_cast<double>(elements))).value;
    };
    std::vector<Tensor> sources = layer.inputs;
    sources.insert(sources.end(), layer.parameters.begin(), layer.parameters.end());
    Elementwise::Parameters p;
    const auto in = operands(sources, bytes_of(layer.activations, op.reads), layer, "in", Use::read, p.reads);
    const auto out =
        operands(layer.outputs, bytes_of(op.output.value_or(layer.activations), op.writes), layer, "out", Use::write, p.writes);
    const auto cost = kernels::function_cost(op.fn);
    p.elements = elements;
    p.sfu = cost.sfu;
    p.fma = std::max(cost.fma, op.flops_per_element - cost.sfu);
    p.chain = std::max<std::int64_t>(1, cost.chain);
    if (layer.library == workload::Library::vllm && op.fn == "quantise") return lower_quantise(layer, op, in, out);
    if (has_row_kernel(layer, op)) {
        std::vector<Argument> all = in;
        all.insert(all.end(), out.begin(), out.end());
        std::vector<std::int64_t> bytes = p.reads;
        bytes.insert(bytes.end(), p.writes.begin(), p.writes.end());
        for (auto& b : bytes) b = b / op.rows;
        return lower_row_function(op, all, bytes, p.reads.size());
    }
    p.ctas = layer.library == workload::Library::tuned ? Elementwise::grid(p) : ceil_div(p.elements, Elementwise::kEagerElements);
    std::string text = join({p.elements, p.fma, p.sfu, p.chain});
    for (const auto v : p.reads) text += "r" + std::to_string(v);
    for (const auto v : p.writes) text += "w" + std::to_string(v);
    text += "g" + std::to_string(p.ctas);
    KernelBuilder builder("vectorized_elementwise_kernel_" + (op.fn.empty() ? "op" : op.fn),
                          {Elementwise::kThreads, 32, Bytes(0)});
    builder.grid(p.ctas).arguments(in).arguments(out).math(DType::fp32, false);
    return {{builder.build(std::make_shared<Elementwise>(p), text), 1}};
}

Launches lower_rows(const Layer& layer, const workload::RowReduction& op, const config::HwConfig& gpu) {
    if (layer.library != workload::Library::tuned && op.op != workload::RowOp::reduce) return lower_library_rows(layer, op);
    struct Kind {
        const char* name;
        std::int64_t fma, sfu;
    };
    // softmax: max, subtract, exp, sum, scale; layer norm: sum, squares, subtract, scale, shift; RMS norm: squares, scale, weight
    const Kind kind = op.op == workload::RowOp::softmax     ? Kind{"softmax_warp_forward", 4, 1}
                      : op.op == workload::RowOp::layernorm ? Kind{"vectorized_layer_norm_kernel", 5, 0}
                      : op.op == workload::RowOp::rmsnorm   ? Kind{"rms_norm_kernel", 3, 0}
                                                            : Kind{"reduce_kernel", 1, 0};
    RowReduction::Parameters p;
    p.rows = op.rows, p.cols = op.cols, p.dtype = layer.activations, p.fma = kind.fma, p.sfu = kind.sfu;
    p.keeps_rows = op.op != workload::RowOp::reduce;
    p.rows_per_cta = RowReduction::rows_per_cta(op.rows, storage(p.dtype, op.cols).value, gpu.sm.count);
    const std::int64_t size = storage(p.dtype, op.rows * op.cols).value;

    KernelBuilder builder(std::string(kind.name) + "_" + std::string(name(p.dtype)), {RowReduction::threads(p), 40, Bytes(1024)});
    builder.argument(argument_of(layer.inputs, 0, layer, "in", size, Use::read));
    p.residual = op.residual;
    if (op.residual) builder.argument(argument_of(layer.inputs, 1, layer, "residual", size, Use::read_write));
    std::string text = join({p.rows, p.cols, p.fma, p.sfu, p.rows_per_cta, p.residual ? 1 : 0});
    for (const Tensor& t : layer.parameters) {
        p.parameter_bytes.push_back(t.size.value);
        text += "p" + std::to_string(t.size.value);
        builder.argument({t.id, t.size.value, Use::read});
    }
    builder.argument(
        argument_of(layer.outputs, 0, layer, "out", p.keeps_rows ? size : storage(p.dtype, op.rows).value, Use::write));
    builder.grid(RowReduction::grid(p)).math(DType::fp32, false);
    return {{builder.build(std::make_shared<RowReduction>(p), text), 1}};
}

}  // namespace rafter::lowering
