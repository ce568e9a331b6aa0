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

/// Gradient of the image. Stride 1: the convolution of the output's gradient with the turned weights. Else a product over the
/// k r s / (stride^2) taps that reach a pixel of the image, the pixels' patches of the gradient overlapping; `early` libraries
/// (before Ampere) multiply all k r s taps, zeros or not. (C.2)
void backward_data(GemmParameters& p, GemmOperands& operands, const Layer& layer, const workload::Conv2d& op, Window& window,
                   bool early) {
    window.c = op.k, window.h = op.p, window.w = op.q, window.p = op.h, window.q = op.w;
    window.pad_top = op.dilation_h * (op.r - 1) - op.pad_top, window.pad_left = op.dilation_w * (op.s - 1) - op.pad_left;
    const std::int64_t strides = op.stride_h * op.stride_w;
    p.m = op.n * op.h * op.w, p.n = op.c, p.k = early ? op.k * op.r * op.s : ceil_div(op.k * op.r * op.s, strides);
    operands.a = argument_of(layer.inputs, 0, layer, "gradient", storage(p.a, op.n * op.p * op.q * op.k).value, Use::read);
    operands.b = argument_of(layer.parameters, 0, layer, "weight", storage(p.b, weight_elements(op)).value, Use::read);
    operands.c = argument_of(layer.outputs, 0, layer, "out", storage(layer.activations, p.m * p.n).value, Use::write);
    if (strides == 1 && window.pad_top >= 0 && window.pad_left >= 0) return;
    p.a_pitch = std::max<std::int64_t>(1, op.k / strides) * bits(p.a) / 8;
    operands.a.size = std::max(operands.a.size, (p.m - 1) * p.a_pitch + storage(p.a, p.k).value);
}

/// Gradient of the weights: [k, n p q] x [n p q, r s c]; the rows of the second are patches of the image, which overlap. (C.3)
void backward_weights(GemmParameters& p, GemmOperands& operands, const Layer& layer, const workload::Conv2d& op) {
    p.m = op.k, p.n = op.r * op.s * op.c, p.k = op.n * op.p * op.q;
    p.b = layer.activations, p.compute = layer.activations;
    p.a_transposed = true, p.b_transposed = false;
    p.b_pitch = op.stride_h * op.stride_w * op.c * bits(p.b) / 8;
    p.epilogue.out = layer.weights;
    operands.a = argument_of(layer.inputs, 0, layer, "gradient", storage(p.a, p.k * op.k).value, Use::read);
    const std::int64_t image = storage(p.b, op.n * op.h * op.w * op.c).value,
                       last = (p.k - 1) * p.b_pitch + storage(p.b, p.n).value;
    operands.b = argument_of(layer.inputs, 1, layer, "in", std::max(image, last), Use::read);
    operands.c = argument_of(layer.outputs, 0, layer, "out", storage(layer.weights, weight_elements(op)).value, Use::write);
}

Launches lower_backward(const Layer& layer, const workload::Conv2d& op, const config::HwConfig& gpu) {
    Window window = window_of(op);
    window.dilation_h = op.dilation_h, window.dilation_w = op.dilation_w, window.stride_h = window.stride_w = 1;
    GemmParameters p;
    p.a = layer.activations, p.b = layer.weights, p.compute = workload::compute_dtype(layer);
    p.epilogue.out = layer.activations;
    GemmOperands operands;
    const bool data = op.pass == workload::ConvPass::backward_data;
    if (data) {
        backward_data(p, operands, layer, op, window, gpu.tensor.generation < config::TensorGeneration::ampere);
    } else {
        backward_weights(p, operands, layer, op);
    }
    operands.workspace = layer.name + ".workspace";
    operands.prefix = data ? "dgrad_" : "wgrad_";
    operands.suffix = operands.prefix;
    operands.convolution = true;
    if (data && p.a_pitch == 0) {
        operands.suffix += window.text();
        operands.make = [window](const GemmParameters& chosen) { return std::make_shared<kernels::Conv2d>(chosen, window); };
    }
    Launches launches;
    append_gemm(launches, p, operands, gpu, layer.name);
    return launches;
}

}  // namespace

Launches lower_conv(const Layer& layer, const workload::Conv2d& op, const config::HwConfig& gpu) {
    Window window = window_of(op);
    window.dilation_h = op.dilation_h, window.dilation_w = op.dilation_w;
    if (op.pass != workload::ConvPass::forward) return lower_backward(layer, op, gpu);
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
    operands.convolution = true;
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
