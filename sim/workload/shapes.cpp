// Shape inference of the operations on matrices and rows.
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "sim/workload/builder.h"

namespace rafter::workload {

const std::vector<std::string>& activation_names() {
    static const std::vector<std::string> names{"", "relu", "gelu", "silu", "sigmoid", "tanh"};
    return names;
}

Shape read_gemm(const Layer& layer, Fields& f) {
    const Produced in = f.input();
    Gemm g;
    g.weights = layer.op != "bmm";
    g.m = g.weights ? f.inferred("m", in.rows) : f.number("m");
    g.n = f.number("n");
    g.k = g.weights ? f.inferred("k", in.cols) : f.number("k");
    g.batch = layer.op == "linear" ? 1 : f.number_or("batch", 1, 1);
    g.bias = f.flag("bias");
    g.residual = f.flag("residual");
    g.gated = f.flag("gated");
    g.activation = f.text_or("activation", "", activation_names());
    if (g.gated && g.n % 2 != 0) f.error("gated", fmt::format("gated needs an even n (both halves), found {}", g.n));
    if (g.gated && g.residual) f.error("gated", "gated and residual exclude each other");
    const config::Value output = f.map().optional("output_dtype");
    if (output.defined()) g.output = output.dtype();
    if (g.residual && g.output) f.error("output_dtype", "output_dtype and residual exclude each other");
    const std::int64_t cols = g.gated ? g.n / 2 : g.n;
    Shape shape;
    shape.exact = true;
    shape.output_dtype = g.output;
    shape.inputs = {f.elements({g.batch, g.m, g.k})};
    if (g.weights) {
        shape.parameters.push_back({".weight", f.elements({g.batch, g.n, g.k}), layer.weights});
    } else {
        shape.inputs.push_back(f.elements({g.batch, g.k, g.n}));
    }
    if (g.bias) shape.parameters.push_back({".bias", g.n, layer.weights});
    shape.output = {"", f.elements({g.batch, g.m, cols}), f.elements({g.batch, g.m}), cols, 0, 0, 0, 0};
    if (g.residual) shape.inputs.push_back(shape.output.elements);
    shape.operation = g;
    return shape;
}

namespace {

/// What PyTorch's RNN.cpp asks cuDNN for: one persistent kernel for small cells, the standard algorithm otherwise. Other
/// libraries' users get cuDNN's default.
RnnAlgorithm library_algorithm(const Rnn& r, Library library) {
    const std::int64_t largest = r.cell == Cell::rnn ? 384 : 192;
    const bool small = library == Library::pytorch && r.forward() && r.hidden <= largest;
    return small ? RnnAlgorithm::persistent : RnnAlgorithm::standard;
}

void read_algorithm(Rnn& r, Library library, Fields& f) {
    const std::string pass = f.text_or("pass", "forward", {"forward", "backward", "backward_data", "backward_weights"});
    r.pass = pass == "forward"         ? RnnPass::forward
             : pass == "backward"      ? RnnPass::backward
             : pass == "backward_data" ? RnnPass::backward_data
                                       : RnnPass::backward_weights;
    r.execution = f.text_or("execution", "stream", {"stream", "graph"}) == "graph" ? RnnExecution::graph : RnnExecution::stream;
    r.algorithm = library_algorithm(r, library);
    if (!f.has("algorithm")) return;
    const std::string algorithm = f.text_or("algorithm", "standard", {"standard", "fused", "persistent"});
    r.algorithm = algorithm == "standard" ? RnnAlgorithm::standard
                  : algorithm == "fused"  ? RnnAlgorithm::fused
                                          : RnnAlgorithm::persistent;
    if (!r.forward() && r.algorithm != RnnAlgorithm::standard)
        f.error("algorithm", "a backward pass runs 'standard' only, found '" + algorithm + "'");
}

/// Elements of the weights: input part (when it is included) and recurrent part of every layer.
std::int64_t rnn_weights(const Rnn& r, Fields& f) {
    const std::int64_t first = r.hidden + (r.input_gemm ? r.input : 0), later = r.hidden + (r.input_gemm ? r.hidden : 0);
    return f.elements({r.gates(), r.hidden, first}) + f.elements({r.gates(), r.hidden, later, r.layers - 1});
}

/// Backward: the gradient of the states and what the forward pass has kept come in (activated gates, cell states of an LSTM,
/// states and inputs); gradients of the input (of the pre-activations without the input product) and of the weights go out.
/// Weight gradients are added to what is there, as cuDNN does.
void shape_rnn_backward(Shape& shape, const Rnn& r, const Layer& layer, Fields& f) {
    const std::int64_t states = f.elements({r.batch, r.steps, r.hidden}), every = f.elements({states, r.layers});
    const std::int64_t gates = f.elements({every, r.gates()});
    shape.inputs.clear(), shape.parameters.clear();
    if (r.data()) shape.inputs.push_back(states);
    shape.inputs.push_back(gates);
    if (r.data() && r.cell == Cell::lstm) shape.inputs.push_back(every);
    if (r.gradient()) shape.inputs.push_back(every);
    if (r.gradient() && r.input_gemm) shape.inputs.push_back(f.elements({r.batch, r.steps, r.input}));
    const std::int64_t weights = rnn_weights(r, f);
    if (r.data()) shape.parameters.push_back({".weight", weights, layer.weights});
    if (r.gradient()) shape.parameters.push_back({".gradient", weights, layer.weights});
    shape.updates_parameters = !r.data();
    shape.updates_last = r.data() && r.gradient();
    const std::int64_t columns = r.input_gemm ? r.input : f.elements({r.gates(), r.hidden, r.layers});
    shape.output = {"", f.elements({r.batch, r.steps, columns}), f.elements({r.batch, r.steps}), columns, 0, 0, 0, 0};
}

}  // namespace

Shape read_rnn(const Layer& layer, Fields& f) {
    Rnn r;
    r.cell = layer.op == "lstm" ? Cell::lstm : layer.op == "gru" ? Cell::gru : Cell::rnn;
    r.batch = f.number("batch");
    r.steps = f.number("steps");
    r.hidden = f.number("hidden");
    r.layers = f.number_or("layers", 1, 1);
    read_algorithm(r, layer.library, f);
    r.input = r.forward() ? f.inferred("input", f.input().cols) : f.number("input");
    r.input_gemm = f.text_or("input_gemm", "included", {"included", "skipped"}) == "included";
    Shape shape;
    shape.exact = true;
    shape.parameters.push_back({".weight", rnn_weights(r, f), layer.weights});
    // Without the input product the gates' pre-activations are read instead of the input.
    shape.inputs = {f.elements({r.batch, r.steps, r.input_gemm ? r.input : r.gates() * r.hidden})};
    shape.output = {"", f.elements({r.batch, r.steps, r.hidden}), f.elements({r.batch, r.steps}), r.hidden, 0, 0, 0, 0};
    if (!r.forward()) shape_rnn_backward(shape, r, layer, f);
    shape.operation = r;
    return shape;
}

namespace {

/// Operations of one element, when the file does not say: docs/workloads.md, table of functions.
std::int64_t function_flops(const std::string& fn) {
    if (fn == "copy" || fn == "concat") return 0;
    if (fn == "sigmoid" || fn == "rope") return 3;
    if (fn == "silu") return 4;
    if (fn == "tanh") return 5;
    return fn == "gelu" ? 8 : 1;
}

/// `tensors` may be a half; whole numbers of tensors are counted without rounding.
std::int64_t scaled(double tensors, std::int64_t elements) {
    const double whole = std::floor(tensors);
    return static_cast<std::int64_t>(whole) * elements + std::llround((tensors - whole) * static_cast<double>(elements));
}

/// Whole producers when they make up what is read (as in a concatenation), else tensors of [rows, cols].
std::vector<std::int64_t> elementwise_operands(Fields& f, std::int64_t total, std::int64_t elements) {
    std::vector<std::int64_t> whole;
    std::int64_t sum = 0;
    bool known = total > 0;
    for (std::size_t i = 0; i < std::max<std::size_t>(1, f.named().size()); ++i) {
        whole.push_back(f.input(i).elements);
        sum += whole.back();
        known = known && whole.back() > 0;
    }
    if (known && sum == total) return whole;
    std::vector<std::int64_t> each;
    for (std::int64_t left = total; left > 0; left -= elements) each.push_back(std::min(left, elements));
    if (f.named().size() > each.size())
        f.error("inputs", fmt::format("the inputs hold {} elements, the layer reads {}", sum, total));
    return each;
}

}  // namespace

Shape read_elementwise(Fields& f) {
    const Produced in = f.input();
    Elementwise e;
    e.fn =
        f.text_or("fn", "relu", {"copy", "relu", "gelu", "silu", "add", "mul", "sigmoid", "tanh", "rope", "concat", "quantise"});
    const bool binary = e.fn == "add" || e.fn == "mul";
    e.rows = f.has("cols") ? f.number_or("rows", 1, 1) : f.inferred("rows", in.rows);
    e.cols = f.inferred("cols", in.cols);
    e.reads = f.real_or("reads", binary ? 2 : 1, 0, 64);
    e.writes = f.real_or("writes", 1, 0, 64);
    e.flops_per_element = f.number_or("flops_per_element", function_flops(e.fn), 0);
    const config::Value output = f.map().optional("output_dtype");
    if (output.defined()) e.output = output.dtype();
    const std::int64_t elements = f.elements({e.rows, e.cols});
    Shape shape;
    shape.output_dtype = e.output;
    shape.inputs = elementwise_operands(f, f.elements({scaled(e.reads, elements)}), elements);
    const std::int64_t written = f.elements({scaled(e.writes, elements)});
    shape.output = {"", written, 0, 0, 0, 0, 0, 0};
    if (written == elements) shape.output = {"", written, e.rows, e.cols, in.n, in.c, in.h, in.w};
    if (in.n * in.c * in.h * in.w != written) shape.output.n = shape.output.c = shape.output.h = shape.output.w = 0;
    shape.operation = e;
    return shape;
}

Shape read_rows(const Layer& layer, Fields& f) {
    const Produced in = f.input();
    RowReduction r;
    r.op = layer.op == "softmax"     ? RowOp::softmax
           : layer.op == "layernorm" ? RowOp::layernorm
           : layer.op == "rmsnorm"   ? RowOp::rmsnorm
                                     : RowOp::reduce;
    r.rows = f.inferred("rows", in.rows);
    r.cols = f.inferred("cols", in.cols);
    const bool norm = r.op == RowOp::layernorm || r.op == RowOp::rmsnorm;
    r.residual = norm && f.flag("residual");
    Shape shape;
    shape.inputs = {f.elements({r.rows, r.cols})};
    if (r.residual) shape.inputs.push_back(shape.inputs[0]);
    shape.updates_second = r.residual;
    shape.output = {"", r.op == RowOp::reduce ? r.rows : shape.inputs[0], r.rows, r.op == RowOp::reduce ? 1 : r.cols, 0, 0, 0, 0};
    if (norm) shape.parameters.push_back({".weight", r.cols, layer.activations});
    if (r.op == RowOp::layernorm) shape.parameters.push_back({".bias", r.cols, layer.activations});
    shape.operation = r;
    return shape;
}

}  // namespace rafter::workload
