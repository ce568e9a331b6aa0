// Readers of the operations on NHWC images.
#include <fmt/format.h>

#include "sim/workload/builder.h"

namespace rafter::workload {

namespace {

struct Pads {
    std::int64_t top{0}, left{0}, bottom{0}, right{0};
};

/// `padding: 1` or `padding: [top, left, bottom, right]`.
Pads read_pads(Fields& f) {
    const config::Value value = f.map().optional("padding");
    if (!value.defined()) return {};
    if (!value.is_list()) {
        const std::int64_t all = f.evaluated(value, 0);
        return {all, all, all, all};
    }
    const auto items = value.list();
    if (items.size() != 4) {
        value.error(
            fmt::format("{}: expected one number or [top, left, bottom, right], found {} numbers", value.path(), items.size()));
        return {};
    }
    return {f.evaluated(items[0], 0), f.evaluated(items[1], 0), f.evaluated(items[2], 0), f.evaluated(items[3], 0)};
}

std::int64_t floor_div(std::int64_t a, std::int64_t b) { return a >= 0 ? a / b : -((-a + b - 1) / b); }

/// floor((size + pads - window) / stride) + 1, which must be positive.
std::int64_t window_outputs(Fields& f, const char* side, std::int64_t size, std::int64_t pads, std::int64_t window,
                            std::int64_t stride) {
    const std::int64_t outputs = floor_div(size + pads - window, stride) + 1;
    if (outputs > 0) return outputs;
    const char* const direction = side[0] == 'h' ? "high" : "wide";
    f.error(side, fmt::format("the output would be {} {}: floor(({} + {} padding - {} kernel) / {} stride) + 1", outputs,
                              direction, size, pads, window, stride));
    return 1;
}

ConvPass read_pass(Fields& f) {
    const std::string pass = f.text_or("pass", "forward", {"forward", "backward_data", "backward_weights"});
    return pass == "backward_data"      ? ConvPass::backward_data
           : pass == "backward_weights" ? ConvPass::backward_weights
                                        : ConvPass::forward;
}

/// Backward: the gradient of the output comes in; that of the image or of the weights goes out.
Shape backward_shape(const Layer& layer, const Conv2d& c, Fields& f) {
    if (c.bias || c.residual || !c.activation.empty())
        f.error("pass", "a backward pass has no bias, residual or activation (they are layers of their own)");
    if (c.groups > 1) f.error("groups", "the backward passes of grouped convolutions are not modelled");
    const std::int64_t image = f.elements({c.n, c.c, c.h, c.w}), weights = f.elements({c.k, c.c, c.r, c.s});
    Shape shape;
    shape.exact = true;
    shape.inputs = {f.elements({c.n, c.k, c.p, c.q})};
    shape.operation = c;
    if (c.pass == ConvPass::backward_weights) {
        shape.inputs.push_back(image);
        shape.output = {"", weights, c.k, weights / c.k, 0, 0, 0, 0};
        shape.output_dtype = layer.weights;
        return shape;
    }
    shape.parameters.push_back({".weight", weights, layer.weights});
    shape.output = {"", image, f.elements({c.n, c.h, c.w}), c.c, c.n, c.c, c.h, c.w};
    return shape;
}

}  // namespace

Shape read_conv(const Layer& layer, Fields& f) {
    Conv2d c;
    c.pass = read_pass(f);
    const Produced in = c.pass == ConvPass::forward ? f.input() : Produced{};  // a gradient does not tell the sizes of the image
    c.n = f.inferred("n", in.n);
    c.c = f.inferred("c", in.c);
    c.h = f.inferred("h", in.h);
    c.w = f.inferred("w", in.w);
    c.k = f.number("k");
    const std::int64_t kernel = f.has("kernel") ? f.number("kernel") : 0;
    c.r = f.inferred("r", kernel);
    c.s = f.inferred("s", kernel);
    const std::int64_t stride = f.number_or("stride", 1, 1), dilation = f.number_or("dilation", 1, 1);
    c.stride_h = f.number_or("stride_h", stride, 1);
    c.stride_w = f.number_or("stride_w", stride, 1);
    c.dilation_h = f.number_or("dilation_h", dilation, 1);
    c.dilation_w = f.number_or("dilation_w", dilation, 1);
    c.groups = f.number_or("groups", 1, 1);
    c.bias = f.flag("bias");
    c.residual = f.flag("residual");
    c.activation = f.text_or("activation", "", activation_names());
    const Pads pads = read_pads(f);
    c.pad_top = pads.top;
    c.pad_left = pads.left;
    c.pad_bottom = pads.bottom;
    c.pad_right = pads.right;
    if (c.c % c.groups != 0 || c.k % c.groups != 0) {
        f.error("groups", fmt::format("channels not divisible by groups: c = {}, k = {}, groups = {}", c.c, c.k, c.groups));
        c.groups = 1;
    }
    c.p = window_outputs(f, "h", c.h, c.pad_top + c.pad_bottom, f.elements({c.r - 1, c.dilation_h}) + 1, c.stride_h);
    c.q = window_outputs(f, "w", c.w, c.pad_left + c.pad_right, f.elements({c.s - 1, c.dilation_w}) + 1, c.stride_w);
    if (c.pass != ConvPass::forward) return backward_shape(layer, c, f);
    Shape shape;
    shape.exact = true;
    shape.inputs = {f.elements({c.n, c.c, c.h, c.w})};
    shape.parameters.push_back({".weight", f.elements({c.k, c.c / c.groups, c.r, c.s}), layer.weights});
    if (c.bias) shape.parameters.push_back({".bias", c.k, layer.weights});
    shape.output = {"", f.elements({c.n, c.k, c.p, c.q}), f.elements({c.n, c.p, c.q}), c.k, c.n, c.k, c.p, c.q};
    if (c.residual) shape.inputs.push_back(shape.output.elements);
    shape.operation = c;
    return shape;
}

Shape read_pool(Fields& f) {
    const Produced in = f.input();
    Pool2d p;
    p.n = f.inferred("n", in.n);
    p.c = f.inferred("c", in.c);
    p.h = f.inferred("h", in.h);
    p.w = f.inferred("w", in.w);
    const std::int64_t kernel = f.has("kernel") ? f.number("kernel") : 0;
    p.r = f.inferred("r", kernel);
    p.s = f.inferred("s", kernel);
    p.stride_h = p.stride_w = f.number_or("stride", 1, 1);
    const Pads pads = read_pads(f);
    p.pad_top = pads.top;
    p.pad_left = pads.left;
    p.pad_bottom = pads.bottom;
    p.pad_right = pads.right;
    p.average = f.text_or("kind", "max", {"max", "average"}) == "average";
    p.p = window_outputs(f, "h", p.h, pads.top + pads.bottom, p.r, p.stride_h);
    p.q = window_outputs(f, "w", p.w, pads.left + pads.right, p.s, p.stride_w);
    Shape shape;
    shape.exact = true;
    shape.inputs = {f.elements({p.n, p.c, p.h, p.w})};
    shape.output = {"", f.elements({p.n, p.c, p.p, p.q}), f.elements({p.n, p.p, p.q}), p.c, p.n, p.c, p.p, p.q};
    if (p.p == 1 && p.q == 1) shape.output.rows = p.n;
    shape.operation = p;
    return shape;
}

}  // namespace rafter::workload
