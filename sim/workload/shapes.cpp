// Shape inference of the operations: one reader an operation.
#include <cmath>
#include <fstream>

#include <fmt/format.h>

#include "sim/workload/builder.h"

namespace rafter::workload {

namespace {

const std::vector<std::string> kActivations{"", "relu", "gelu", "silu", "sigmoid", "tanh"};

Shape read_gemm(const std::string& op, Fields& f) {
    Gemm g;
    g.m = f.number("m");
    g.n = f.number("n");
    g.k = f.number("k");
    g.batch = op == "linear" ? 1 : f.number_or("batch", 1, 1);
    g.weights = op == "linear" || (op == "gemm" && !f.flag("both_activations"));
    g.bias = f.flag("bias");
    g.residual = f.flag("residual");
    g.gated = f.flag("gated");
    g.activation = f.text_or("activation", "", kActivations);
    if (g.gated && g.n % 2 != 0) f.error("gated", fmt::format("gated needs an even n (both halves), found {}", g.n));
    Shape shape;
    shape.inputs = {g.batch * g.m * g.k};
    if (g.weights) {
        shape.parameters = g.batch * g.n * g.k + (g.bias ? g.n : 0);
    } else {
        shape.inputs.push_back(g.batch * g.k * g.n);
    }
    shape.outputs = g.batch * g.m * (g.gated ? g.n / 2 : g.n);
    if (g.residual) shape.inputs.push_back(shape.outputs);
    shape.operation = g;
    return shape;
}

struct Pads {
    std::int64_t top{0}, left{0}, bottom{0}, right{0};
};

/// `padding: 1` or `padding: [top, left, bottom, right]`.
Pads read_pads(Fields& f) {
    const config::Value value = f.map().optional("padding");
    if (!value.defined()) return {};
    if (!value.is_list()) {
        const std::int64_t all = value.integer(0, 1 << 20);
        return {all, all, all, all};
    }
    const auto items = value.list();
    if (items.size() != 4) {
        value.error(
            fmt::format("{}: expected one number or [top, left, bottom, right], found {} numbers", value.path(), items.size()));
        return {};
    }
    return {items[0].integer(0, 1 << 20), items[1].integer(0, 1 << 20), items[2].integer(0, 1 << 20),
            items[3].integer(0, 1 << 20)};
}

std::int64_t window_outputs(Fields& f, const char* side, std::int64_t size, std::int64_t pads, std::int64_t window,
                            std::int64_t stride) {
    const std::int64_t span = size + pads - window;
    if (span < 0) {
        f.error(side, fmt::format("the output would have {} {}: {} + {} padding is smaller than the kernel's {}",
                                  span / stride + 1 > 0 ? 0 : span + 1, side, size, pads, window));
        return 1;
    }
    return span / stride + 1;
}

Shape read_conv(Fields& f) {
    Conv2d c;
    c.n = f.number("n");
    c.c = f.number("c");
    c.h = f.number("h");
    c.w = f.number("w");
    c.k = f.number("k");
    const std::int64_t kernel = f.has("kernel") ? f.number("kernel") : 0;
    c.r = kernel > 0 ? kernel : f.number("r");
    c.s = kernel > 0 ? kernel : f.number("s");
    const std::int64_t stride = f.number_or("stride", 1, 1), dilation = f.number_or("dilation", 1, 1);
    c.stride_h = f.number_or("stride_h", stride, 1);
    c.stride_w = f.number_or("stride_w", stride, 1);
    c.dilation_h = f.number_or("dilation_h", dilation, 1);
    c.dilation_w = f.number_or("dilation_w", dilation, 1);
    c.groups = f.number_or("groups", 1, 1);
    c.bias = f.flag("bias");
    c.residual = f.flag("residual");
    c.activation = f.text_or("activation", "", kActivations);
    const Pads pads = read_pads(f);
    c.pad_top = pads.top;
    c.pad_left = pads.left;
    c.pad_bottom = pads.bottom;
    c.pad_right = pads.right;
    if (c.c % c.groups != 0 || c.k % c.groups != 0) {
        f.error("groups", fmt::format("channels not divisible by groups: c = {}, k = {}, groups = {}", c.c, c.k, c.groups));
        c.groups = 1;
    }
    c.p = window_outputs(f, "h", c.h, c.pad_top + c.pad_bottom, (c.r - 1) * c.dilation_h + 1, c.stride_h);
    c.q = window_outputs(f, "w", c.w, c.pad_left + c.pad_right, (c.s - 1) * c.dilation_w + 1, c.stride_w);
    Shape shape;
    shape.inputs = {c.n * c.c * c.h * c.w};
    shape.parameters = c.k * (c.c / c.groups) * c.r * c.s + (c.bias ? c.k : 0);
    shape.outputs = c.n * c.k * c.p * c.q;
    if (c.residual) shape.inputs.push_back(shape.outputs);
    shape.operation = c;
    return shape;
}

Shape read_pool(Fields& f) {
    Pool2d p;
    p.n = f.number("n");
    p.c = f.number("c");
    p.h = f.number("h");
    p.w = f.number("w");
    const std::int64_t kernel = f.has("kernel") ? f.number("kernel") : 0;
    p.r = kernel > 0 ? kernel : f.number("r");
    p.s = kernel > 0 ? kernel : f.number("s");
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
    shape.inputs = {p.n * p.c * p.h * p.w};
    shape.outputs = p.n * p.c * p.p * p.q;
    shape.operation = p;
    return shape;
}

Shape read_rnn(const std::string& op, Fields& f) {
    Rnn r;
    r.cell = op == "lstm" ? Cell::lstm : op == "gru" ? Cell::gru : Cell::rnn;
    r.batch = f.number("batch");
    r.steps = f.number("steps");
    r.input = f.number("input");
    r.hidden = f.number("hidden");
    r.layers = f.number_or("layers", 1, 1);
    r.input_gemm = f.text_or("input_gemm", "included", {"included", "skipped"}) == "included";
    const std::string execution = f.text_or("execution", "stream", {"stream", "graph", "persistent"});
    r.execution = execution == "stream"  ? RnnExecution::stream
                  : execution == "graph" ? RnnExecution::graph
                                         : RnnExecution::persistent;
    const std::int64_t gates = op == "lstm" ? 4 : op == "gru" ? 3 : 1;
    Shape shape;
    for (std::int64_t layer = 0; layer < r.layers; ++layer) {
        const std::int64_t input = r.input_gemm ? (layer == 0 ? r.input : r.hidden) : 0;
        shape.parameters += gates * r.hidden * (input + r.hidden);
    }
    // Without the input product the gates' pre-activations are read instead of the input.
    shape.inputs = {r.batch * r.steps * (r.input_gemm ? r.input : gates * r.hidden)};
    shape.outputs = r.batch * r.steps * r.hidden;
    shape.operation = r;
    return shape;
}

double tensors(Fields& f, const char* key, double fallback) {
    const config::Value value = f.map().optional(key);
    return value.defined() ? value.real(0, 64) : fallback;
}

Shape read_elementwise(Fields& f) {
    Elementwise e;
    e.rows = f.number_or("rows", 1, 1);
    e.cols = f.number("cols");
    e.reads = tensors(f, "reads", 1);
    e.writes = tensors(f, "writes", 1);
    e.flops_per_element = f.number_or("flops_per_element", 1, 0);
    e.fn = f.text_or("fn", "relu", {"copy", "relu", "gelu", "silu", "add", "mul", "sigmoid", "tanh", "rope", "concat"});
    Shape shape;
    const std::int64_t elements = e.rows * e.cols;
    for (double left = e.reads; left > 0; left -= 1) {
        shape.inputs.push_back(static_cast<std::int64_t>(std::ceil(std::min(left, 1.0) * static_cast<double>(elements))));
    }
    shape.outputs = static_cast<std::int64_t>(std::ceil(e.writes * static_cast<double>(elements)));
    shape.operation = e;
    return shape;
}

Shape read_rows(const std::string& op, Fields& f) {
    RowReduction r;
    r.op = op == "softmax"     ? RowOp::softmax
           : op == "layernorm" ? RowOp::layernorm
           : op == "rmsnorm"   ? RowOp::rmsnorm
                               : RowOp::reduce;
    r.rows = f.number("rows");
    r.cols = f.number("cols");
    Shape shape;
    shape.inputs = {r.rows * r.cols};
    shape.outputs = r.op == RowOp::reduce ? r.rows : r.rows * r.cols;
    shape.parameters = r.op == RowOp::layernorm ? 2 * r.cols : r.op == RowOp::rmsnorm ? r.cols : 0;
    shape.operation = r;
    return shape;
}

}  // namespace

const std::vector<std::string>& operation_names() {
    static const std::vector<std::string> names{"gemm",          "linear",    "bmm",     "conv2d", "attention",
                                                "embedding_bag", "rnn",       "lstm",    "gru",    "elementwise",
                                                "softmax",       "layernorm", "rmsnorm", "reduce", "pool2d"};
    return names;
}

Shape read_shape(const std::string& op, Fields& fields, const Scope& scope) {
    if (op == "gemm" || op == "linear" || op == "bmm") return read_gemm(op, fields);
    if (op == "conv2d") return read_conv(fields);
    if (op == "attention") return read_attention(fields, scope);
    if (op == "embedding_bag") return read_embedding(fields, scope);
    if (op == "rnn" || op == "lstm" || op == "gru") return read_rnn(op, fields);
    if (op == "elementwise") return read_elementwise(fields);
    if (op == "pool2d") return read_pool(fields);
    return read_rows(op, fields);
}

}  // namespace rafter::workload
