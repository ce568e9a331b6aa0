#include <memory>

#include "sim/kernels/conv2d.h"
#include "sim/kernels/direct_window.h"
#include "sim/lowering/families.h"
#include "sim/lowering/kernel_builder.h"

namespace rafter::lowering {

using kernels::DirectWindow;
using kernels::Epilogue;
using kernels::GemmParameters;
using kernels::Window;
using program::Argument;
using program::Use;
using workload::Layer;

namespace {

template <class Op>
Window window_of(const Op& op) {
    Window w;
    w.n = op.n, w.c = op.c, w.h = op.h, w.w = op.w, w.r = op.r, w.s = op.s, w.p = op.p, w.q = op.q;
    w.stride_h = op.stride_h, w.stride_w = op.stride_w, w.pad_top = op.pad_top, w.pad_left = op.pad_left;
    return w;
}

std::int64_t weight_elements(const workload::Conv2d& op) { return op.k * op.r * op.s * (op.c / op.groups); }

/// Weights, bias and residual, in the order of a kernel's buffers; fills the epilogue.
std::vector<Argument> conv_operands(const Layer& layer, const workload::Conv2d& op, Epilogue& epilogue) {
    epilogue.bias = op.bias, epilogue.residual = op.residual;
    epilogue.activation = kernels::function_cost(op.activation);
    epilogue.out = layer.activations;
    const std::int64_t weights = storage(layer.weights, weight_elements(op)).value;
    std::vector<Argument> list{argument_of(layer.parameters, 0, layer, "weight", weights, Use::read)};
    if (op.bias) list.push_back(bias_argument(layer, weights, op.k, epilogue));
    const std::int64_t out = storage(layer.activations, op.n * op.p * op.q * op.k).value;
    if (op.residual) list.push_back(argument_of(layer.inputs, 1, layer, "residual", out, Use::read));
    return list;
}

Argument image_of(const Layer& layer, const Window& w) {
    return argument_of(layer.inputs, 0, layer, "in", storage(layer.activations, w.n * w.h * w.w * w.c).value, Use::read);
}

Argument output_of(const Layer& layer, const Window& w, std::int64_t channels) {
    return argument_of(layer.outputs, 0, layer, "out", storage(layer.activations, w.n * w.p * w.q * channels).value, Use::write);
}

Launches depthwise(const Layer& layer, const workload::Conv2d& op, const Window& window) {
    DirectWindow::Parameters p;
    p.window = window, p.multiplier = op.k / op.groups, p.dtype = layer.activations, p.weights = layer.weights;
    const auto extra = conv_operands(layer, op, p.epilogue);
    KernelBuilder builder("conv_depthwise2d_" + std::string(name(p.dtype)), {DirectWindow::kThreads, 48, Bytes(0)});
    builder.grid(p.grid()).math(DType::fp32, false);
    builder.argument(image_of(layer, window)).arguments(extra).argument(output_of(layer, window, op.k));
    return {{builder.build(std::make_shared<DirectWindow>(p), p.text()), 1}};
}

}  // namespace

Launches lower_conv(const Layer& layer, const workload::Conv2d& op, const config::HwConfig& gpu) {
    Window window = window_of(op);
    window.dilation_h = op.dilation_h, window.dilation_w = op.dilation_w;
    if (op.groups == op.c && op.groups > 1) return depthwise(layer, op, window);

    GemmParameters p;
    p.batch = op.groups, p.m = op.n * op.p * op.q, p.n = op.k / op.groups, p.k = op.r * op.s * (op.c / op.groups);
    p.a = layer.activations, p.b = layer.weights, p.compute = workload::compute_dtype(layer);
    p.b_stride = p.n * kernels::Matrix::packed(p.k, p.b).pitch;
    p.c_columns = op.groups > 1 ? op.k : 0;
    const auto extra = conv_operands(layer, op, p.epilogue);

    GemmOperands operands;
    operands.a = image_of(layer, window), operands.b = extra.front();
    operands.extra.assign(extra.begin() + 1, extra.end());
    operands.c = output_of(layer, window, op.k);
    operands.workspace = layer.name + ".workspace";
    operands.may_split = op.groups == 1;
    operands.prefix = "implicit_";
    operands.suffix = window.text();
    operands.make = [window](const GemmParameters& chosen) { return std::make_shared<kernels::Conv2d>(chosen, window); };
    Launches launches;
    append_gemm(launches, p, operands, gpu, layer.name);
    return launches;
}

Launches lower_pool(const Layer& layer, const workload::Pool2d& op, const config::HwConfig&) {
    DirectWindow::Parameters p;
    p.window = window_of(op), p.weighted = false, p.dtype = layer.activations;
    p.epilogue.out = layer.activations;
    KernelBuilder builder(std::string(op.average ? "avg" : "max") + "_pool_forward_nhwc_" + std::string(name(p.dtype)),
                          {DirectWindow::kThreads, 40, Bytes(0)});
    builder.grid(p.grid()).math(DType::fp32, false);
    builder.argument(image_of(layer, p.window)).argument(output_of(layer, p.window, op.c));
    return {{builder.build(std::make_shared<DirectWindow>(p), p.text()), 1}};
}

}  // namespace rafter::lowering
