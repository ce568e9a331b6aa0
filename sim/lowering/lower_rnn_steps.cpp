// cuDNN's standard algorithm: the dependent kernels of a step, step after step. docs/model/recurrent.md, equations (R.1)-(R.6).
#include <algorithm>
#include <memory>

#include <fmt/format.h>

#include "sim/kernels/elementwise.h"
#include "sim/lowering/catalogue.h"
#include "sim/lowering/families.h"
#include "sim/lowering/kernel_builder.h"

namespace rafter::lowering {

using kernels::Elementwise;
using kernels::GemmParameters;
using program::Argument;
using program::Use;
using workload::Cell;
using workload::Layer;
using workload::Rnn;

namespace {

/// Events between cuDNN's own streams, in commands of the front end (a record or a wait passes like a launch without work).
/// Estimates: a step takes 19-25 us more than its kernels on the V100 whatever its size and dtype (GRU, 750 and 1500 steps), a
/// call of one step 80 us. (R.4)
constexpr std::int64_t kDependencyCommands = 6;  // record and wait on three streams
constexpr std::int64_t kCallCommands = 32;       // fork from the caller's stream to eight and back

const char* const kReduction = "splitKreduce_kernel";

/// A tensor of a step stands in the kernel built once for all steps under a name of its own.
using Names = std::vector<std::pair<std::string, std::string>>;

class Steps {
public:
    Steps(const Layer& layer, const Rnn& op, const config::HwConfig& gpu)
        : layer_(layer), op_(op), gpu_(gpu), compute_(workload::compute_dtype(layer)) {
        weights_ = id_of(layer.parameters, 0, "weight");
        gradient_ = id_of(layer.parameters, op.data() ? 1 : 0, "gradient");
        output_ = id_of(layer.outputs, 0, "out");
    }

    Launches lower() {
        if (op_.forward())
            for (std::int64_t index = 0; index < op_.layers; ++index) forward(index);
        if (op_.data())
            for (std::int64_t index = op_.layers - 1; index >= 0; --index) backward(index);
        if (op_.gradient())
            for (std::int64_t index = op_.layers - 1; index >= 0; --index) weight_gradient(index);
        launches_.front().kernel.stream_commands += kCallCommands;
        return std::move(launches_);
    }

private:
    bool lstm() const { return op_.cell == Cell::lstm; }
    std::int64_t width() const { return op_.gates() * op_.hidden; }
    std::int64_t rows() const { return op_.batch * op_.steps; }
    std::int64_t bytes(std::int64_t columns) const { return storage(layer_.activations, op_.batch * columns).value; }
    std::int64_t bytes_of_all(std::int64_t columns) const { return storage(layer_.activations, rows() * columns).value; }
    static std::string at(const std::string& tensor, std::int64_t step) { return fmt::format("{}[{}]", tensor, step); }
    std::string own(const std::string& role, std::int64_t index) const {
        return fmt::format("{}.{}{}", layer_.name, role, op_.layers > 1 ? std::to_string(index) : "");
    }
    std::string id_of(const std::vector<workload::Tensor>& list, std::size_t i, const std::string& role) const {
        return argument_of(list, i, layer_, role, 0, Use::read).tensor;
    }
    std::string operand(std::size_t i) const { return id_of(layer_.inputs, i, fmt::format("in{}", i + 1)); }
    std::string input(std::size_t i, std::int64_t index) const {
        return operand(i) + (op_.layers > 1 ? fmt::format("/{}", index) : "");
    }
    std::string output(std::int64_t index) const { return index + 1 == op_.layers ? output_ : own("states", index); }
    /// Gradient of the pre-activations; what the layer writes when the input product is left out.
    std::string gate_gradient(std::int64_t index) const {
        if (op_.input_gemm) return own("dgates", index);
        return output_ + (op_.layers > 1 ? fmt::format("/{}", index) : "");
    }
    /// Weights of one product: a tensor of its own, so that what the L2 keeps of it is its own, too.
    Argument part(const std::string& tensor, const char* role, std::int64_t index, std::int64_t columns, Use use) const {
        return {fmt::format("{}/{}{}", tensor, role, index), storage(layer_.weights, width() * columns).value, use};
    }

    void product(GemmParameters p, const GemmOperands& operands, Launches& out) const {
        p.a = layer_.activations, p.compute = compute_;
        append_gemm(out, p, operands, gpu_, layer_.name, graph());
    }
    bool graph() const { return op_.execution == workload::RnnExecution::graph; }

    /// Rows of `m` states or gates times weights.
    void with_weights(std::int64_t m, std::int64_t n, std::int64_t k, bool transposed, const GemmOperands& operands,
                      Launches& out) const {
        product(weight_product(m, n, k, transposed), operands, out);
    }
    GemmParameters weight_product(std::int64_t m, std::int64_t n, std::int64_t k, bool transposed) const {
        GemmParameters p;
        p.m = m, p.n = n, p.k = k, p.a = layer_.activations, p.b = layer_.weights, p.compute = compute_;
        p.b_transposed = transposed;
        p.epilogue.out = layer_.activations;
        return p;
    }
    void step_product(GemmParameters p, GemmOperands operands, Launches& out) const;

    /// Gradient += gates^T x, over `count` rows.
    void add_gradient(std::int64_t count, std::int64_t columns, const Argument& gates, const Argument& x, Argument gradient) {
        GemmParameters p;
        p.m = width(), p.n = columns, p.k = count, p.b = layer_.activations, p.b_transposed = false;
        p.epilogue.out = layer_.weights, p.epilogue.residual = true;
        GemmOperands operands;
        operands.a = gates, operands.b = x, operands.c = gradient, operands.workspace = own("workspace", 0);
        gradient.use = Use::read;
        operands.extra = {gradient};
        product(p, operands, launches_);
    }

    /// A thread a hidden unit and sequence, all gates of it.
    void pointwise(const std::string& name, const std::vector<Argument>& reads, const std::vector<Argument>& writes,
                   Launches& out) const {
        const std::int64_t gates = op_.gates();
        Elementwise::Parameters p;
        for (const Argument& a : reads) p.reads.push_back(a.size);
        for (const Argument& a : writes) p.writes.push_back(a.size);
        p.elements = op_.batch * op_.hidden;
        p.fma = gates * 4 + 4, p.sfu = (gates + 1) * 2, p.chain = 16;
        p.ctas = ceil_div(p.elements, Elementwise::kThreads);
        const char* kind = lstm() ? "LSTM" : op_.cell == Cell::gru ? "GRU" : "RNN";
        KernelBuilder builder(kind + ("_elementWise_" + name), {Elementwise::kThreads, 32, Bytes(0)});
        builder.grid(p.ctas).arguments(reads).arguments(writes).math(DType::fp32, false).graph(graph());
        std::string text = join({p.elements, p.fma, p.sfu, p.chain});
        for (const auto v : p.reads) text += "r" + std::to_string(v);
        for (const auto v : p.writes) text += "w" + std::to_string(v);
        out.push_back({builder.build(std::make_shared<Elementwise>(p), text), 1});
    }

    /// The kernels of a step with the tensors of that step in place of those they were built with.
    void append(const Launches& step, const Names& names) {
        for (Launch launch : step) {
            if (launch.kernel.name != kReduction) launch.kernel.stream_commands = kDependencyCommands;
            for (Argument& argument : launch.kernel.arguments) {
                for (const auto& [placeholder, tensor] : names)
                    if (argument.tensor == placeholder) argument.tensor = tensor;
            }
            launches_.push_back(std::move(launch));
        }
    }

    void forward(std::int64_t index);
    void backward(std::int64_t index);
    void weight_gradient(std::int64_t index);

    const Layer& layer_;
    const Rnn& op_;
    const config::HwConfig& gpu_;
    DType compute_;
    std::string weights_, gradient_, output_;
    Launches launches_;
};

// Pascal's library leaves the product of a step whole, and takes a tile of 128 units by 64 rows for 17 to 32 sequences. (R.5)
void Steps::step_product(GemmParameters p, GemmOperands operands, Launches& out) const {
    const bool pascal = gpu_.tensor.generation == config::TensorGeneration::none;
    operands.may_split = !pascal;
    const std::vector<GemmKernel> known = gemm_kernels(gpu_, compute_);
    const auto wide =
        std::find_if(known.begin(), known.end(), [](const GemmKernel& k) { return k.tile.m == 64 && k.tile.n == 128; });
    if (!pascal || p.m <= 16 || p.m > 32 || wide == known.end()) return product(p, operands, out);
    p.tile = wide->tile, p.grid = p.units();
    KernelBuilder builder(wide->name, wide->resources);
    builder.grid(p.grid).graph(graph()).math(compute_, false, p.issued_macs());
    builder.argument(operands.a).argument(operands.b).argument(operands.c);
    out.push_back({builder.build(std::make_shared<kernels::Gemm>(p), p.text()), 1});
}

// gates of all steps = x W^T, then for each step: product = h W^T; h, c = cell(gates + product, c). (R.1)
void Steps::forward(std::int64_t index) {
    const std::string gates = op_.input_gemm ? own("gates", index) : input(0, index);
    if (op_.input_gemm) {
        const std::int64_t k = op_.input_of(index);
        GemmOperands operands;
        operands.a = {index == 0 ? operand(0) : output(index - 1), bytes_of_all(k), Use::read};
        operands.b = part(weights_, "input", index, k, Use::read);
        operands.c = {gates, bytes_of_all(width()), Use::write};
        operands.workspace = own("workspace", 0);
        with_weights(rows(), width(), k, true, operands, launches_);
    }
    GemmOperands operands;
    operands.a = {"<before>", bytes(op_.hidden), Use::read};
    operands.b = part(weights_, "recurrent", index, op_.hidden, Use::read);
    operands.c = {own("product", index), bytes(width()), Use::write};
    operands.workspace = own("workspace", 0);
    Launches step;
    step_product(weight_product(op_.batch, width(), op_.hidden, true), operands, step);
    const Argument cell{own("cell", index), bytes(op_.hidden), Use::read};
    std::vector<Argument> reads{{"<gates>", bytes(width()), Use::read}, {own("product", index), bytes(width()), Use::read}};
    std::vector<Argument> writes{{"<state>", bytes(op_.hidden), Use::write}};
    if (lstm()) reads.push_back(cell), writes.push_back({cell.tensor, cell.size, Use::write});
    pointwise("fp", reads, writes, step);
    for (std::int64_t t = 0; t < op_.steps; ++t) {
        const std::string before = t == 0 ? own("initial", index) : at(output(index), t - 1);
        append(step, {{"<before>", before}, {"<gates>", at(gates, t)}, {"<state>", at(output(index), t)}});
    }
}

// for each step, last first: dgates, dc = cell'(dy + dh, kept gates, dc); dh = dgates W. Then dx of all steps = dgates W. (R.2)
void Steps::backward(std::int64_t index) {
    const bool top = index + 1 == op_.layers;
    const std::string incoming = top ? operand(0) : own("dx", index + 1);
    const std::string dgates = gate_gradient(index);
    std::vector<Argument> reads{{"<dy>", bytes(op_.hidden), Use::read},
                                {own("dh", index), bytes(op_.hidden), Use::read},
                                {"<kept>", bytes(width()), Use::read}};
    std::vector<Argument> writes{{"<dgates>", bytes(width()), Use::write}};
    if (lstm()) {
        const Argument dc{own("dc", index), bytes(op_.hidden), Use::read};
        reads.insert(reads.end(),
                     {{"<cell>", bytes(op_.hidden), Use::read}, {"<cell before>", bytes(op_.hidden), Use::read}, dc});
        writes.push_back({dc.tensor, dc.size, Use::write});
    }
    Launches step;
    pointwise("bp", reads, writes, step);
    GemmOperands operands;
    operands.a = {"<dgates>", bytes(width()), Use::read};
    operands.b = part(weights_, "recurrent", index, op_.hidden, Use::read);
    operands.c = {own("dh", index), bytes(op_.hidden), Use::write};
    operands.workspace = own("workspace", 0);
    step_product(weight_product(op_.batch, op_.hidden, width(), false), operands, step);
    for (std::int64_t t = op_.steps - 1; t >= 0; --t) {
        const std::string cells = lstm() ? input(2, index) : "";
        append(step, {{"<dy>", at(incoming, t)},
                      {"<kept>", at(input(1, index), t)},
                      {"<dgates>", at(dgates, t)},
                      {"<cell>", at(cells, t)},
                      {"<cell before>", t == 0 ? own("initial cell", index) : at(cells, t - 1)}});
    }
    if (!op_.input_gemm) return;
    const std::int64_t columns = op_.input_of(index);
    operands.a = {dgates, bytes_of_all(width()), Use::read};
    operands.b = part(weights_, "input", index, columns, Use::read);
    operands.c = {index == 0 ? output_ : own("dx", index), bytes_of_all(columns), Use::write};
    with_weights(rows(), columns, width(), false, operands, launches_);
}

// dW += dgates^T h of the step before: the first step's state lies apart, all others are one product. (R.3)
void Steps::weight_gradient(std::int64_t index) {
    const std::size_t states = op_.data() ? (lstm() ? 3 : 2) : 1;
    const std::string dgates = op_.data() ? gate_gradient(index) : input(0, index);
    const Argument gradient = part(gradient_, "recurrent", index, op_.hidden, Use::read_write);
    const auto of_rows = [&](const std::string& tensor, std::int64_t count, std::int64_t columns) {
        return Argument{tensor, storage(layer_.activations, count * columns).value, Use::read};
    };
    add_gradient(op_.batch, op_.hidden, of_rows(dgates, op_.batch, width()),
                 of_rows(own("initial", index), op_.batch, op_.hidden), gradient);
    const std::int64_t others = rows() - op_.batch;
    if (others > 0)
        add_gradient(others, op_.hidden, of_rows(dgates, others, width()), of_rows(input(states, index), others, op_.hidden),
                     gradient);
    if (!op_.input_gemm) return;
    const std::int64_t columns = op_.input_of(index);
    const std::string x = index == 0 ? operand(states + 1) : input(states, index - 1);
    add_gradient(rows(), columns, of_rows(dgates, rows(), width()), of_rows(x, rows(), columns),
                 part(gradient_, "input", index, columns, Use::read_write));
}

}  // namespace

Launches lower_rnn_steps(const Layer& layer, const Rnn& op, const config::HwConfig& gpu) { return Steps(layer, op, gpu).lower(); }

}  // namespace rafter::lowering
