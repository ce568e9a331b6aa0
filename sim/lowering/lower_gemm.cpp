#include <algorithm>
#include <memory>

#include "sim/kernels/split_k_reduce.h"
#include "sim/lowering/choose_gemm.h"
#include "sim/lowering/families.h"
#include "sim/lowering/kernel_builder.h"
#include "sim/lowering/library/gemm.h"

namespace rafter::lowering {

using kernels::Epilogue;
using kernels::Gemm;
using kernels::GemmParameters;
using kernels::SplitKReduce;
using program::Argument;
using program::Use;

namespace {

program::Kernel reduction(const GemmParameters& p, const Epilogue& epilogue, const GemmOperands& operands,
                          const Argument& workspace, bool graph) {
    const std::int64_t rows = p.batch * p.m;
    KernelBuilder builder("splitKreduce_kernel", {SplitKReduce::kThreads, 32, Bytes(0)});
    builder.grid(SplitKReduce::grid(rows, p.n)).graph(graph).math(DType::fp32, false);
    builder.argument({workspace.tensor, workspace.size, Use::read}).arguments(operands.extra).argument(operands.c);
    return builder.build(std::make_shared<SplitKReduce>(rows, p.n, p.splits, epilogue),
                         join({rows, p.n, p.splits}) + epilogue.text() + std::string(name(epilogue.out)));
}

}  // namespace

void append_gemm(Launches& launches, GemmParameters p, const GemmOperands& operands, const config::HwConfig& gpu,
                 const std::string& layer, bool graph) {
    const auto ruled = library_gemm(p, gpu, operands.library);
    const Family family = operands.convolution ? Family::convolution : Family::product;
    const GemmChoice choice = ruled ? *ruled : choose_gemm(p, gpu, layer, operands.may_split, family);
    const Epilogue whole = p.epilogue;
    p.tile = choice.kernel.tile;
    p.splits = choice.splits;
    p.cluster = choice.cluster;
    p.grid = choice.grid;
    p.epilogue.partial = p.splits > 1;

    Argument out = operands.c;
    if (p.splits > 1) out = {operands.workspace, p.splits * p.batch * p.m * p.n * 4, Use::write};
    KernelBuilder builder(operands.prefix + choice.kernel.name + (p.splits > 1 ? "_splitK" + std::to_string(p.splits) : ""),
                          choice.kernel.resources);
    builder.grid(p.grid).graph(graph).math(p.compute, gpu.has_tensor(p.compute), p.issued_macs());
    builder.argument(operands.a).argument(operands.b);
    if (p.splits == 1) builder.arguments(operands.extra);
    builder.argument(out);
    launches.push_back(
        {builder.build(operands.make ? operands.make(p) : std::make_shared<Gemm>(p), p.text() + operands.suffix), 1});
    if (p.splits > 1) launches.push_back({reduction(p, whole, operands, out, graph), 1});
}

Argument bias_argument(const workload::Layer& layer, std::int64_t weight_bytes, std::int64_t n, Epilogue& epilogue) {
    epilogue.bias_type = layer.weights;
    const std::int64_t bytes = storage(layer.weights, n).value;
    if (layer.parameters.size() != 1) return argument_of(layer.parameters, 1, layer, "bias", bytes, Use::read);
    epilogue.bias_offset = std::max<std::int64_t>(0, std::min(weight_bytes, layer.parameters[0].size.value - bytes));
    return argument_of(layer.parameters, 0, layer, "weight", epilogue.bias_offset + bytes, Use::read);
}

Launches lower_gemm(const workload::Layer& layer, const workload::Gemm& op, const config::HwConfig& gpu) {
    GemmParameters p;
    p.batch = op.batch, p.m = op.m, p.n = op.n, p.k = op.k;
    p.a = layer.activations, p.b = op.weights ? layer.weights : layer.activations;
    p.compute = workload::compute_dtype(layer);
    p.b_transposed = op.weights;
    p.a_stride = op.m * kernels::Matrix::packed(op.k, p.a).pitch;
    p.b_stride = op.n * op.k * bits(p.b) / 8;
    p.epilogue.bias = op.bias, p.epilogue.residual = op.residual, p.epilogue.gated = op.gated;
    p.epilogue.activation = kernels::function_cost(op.activation);
    p.epilogue.out = op.output.value_or(layer.activations);

    GemmOperands operands;
    operands.a = argument_of(layer.inputs, 0, layer, "a", storage(p.a, op.batch * op.m * op.k).value, Use::read);
    const std::int64_t b_size = storage(p.b, op.batch * op.n * op.k).value;
    operands.b = op.weights ? argument_of(layer.parameters, 0, layer, "weight", b_size, Use::read)
                            : argument_of(layer.inputs, layer.inputs.size() > 1 ? 1 : 0, layer, "b", b_size, Use::read);
    const std::int64_t out = storage(p.epilogue.out, op.batch * op.m * (op.gated ? op.n / 2 : op.n)).value;
    if (op.bias) operands.extra.push_back(bias_argument(layer, b_size, op.n, p.epilogue));
    if (op.residual) {
        operands.extra.push_back(argument_of(layer.inputs, op.weights ? 1 : 2, layer, "residual", out, Use::read));
    }
    operands.c = argument_of(layer.outputs, 0, layer, "out", out, Use::write);
    operands.workspace = layer.name + ".workspace";
    operands.library = layer.library;
    Launches launches;
    append_gemm(launches, p, operands, gpu, layer.name);
    return launches;
}

}  // namespace rafter::lowering
