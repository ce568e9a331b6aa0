#include "sim/validate/row_model.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include <fmt/format.h>

#include "sim/core/dtype.h"
#include "sim/core/error.h"

namespace rafter::validate {

namespace {

/// The keys of a shape; what was not taken is unknown.
class Shape {
public:
    explicit Shape(const Row& row) { fields_ = parse_shape(row.shape, problem_); }

    std::string take(const std::string& key) {
        known_.push_back(key);
        const auto found = fields_.find(key);
        if (found != fields_.end()) return found->second;
        fail(fmt::format("shape: '{}' is missing", key));
        return "1";
    }
    std::string take_or(const std::string& key, const std::string& fallback) {
        known_.push_back(key);
        const auto found = fields_.find(key);
        return found == fields_.end() ? fallback : found->second;
    }
    void fail(const std::string& problem) {
        if (problem_.empty()) problem_ = problem;
    }
    std::string finish() {
        for (const auto& [key, value] : fields_) {
            if (std::find(known_.begin(), known_.end(), key) != known_.end()) continue;
            const std::string near = nearest_name(key, known_);
            fail(fmt::format("shape: unknown key '{}'{}", key, near.empty() ? "" : fmt::format(" (did you mean '{}'?)", near)));
        }
        return problem_;
    }

private:
    std::map<std::string, std::string> fields_;
    std::vector<std::string> known_;
    std::string problem_;
};

/// What an operation needs to write its layers.
struct Context {
    const Row& row;
    const MeasuredProtocol& protocol;
    Shape& shape;
};

std::string layer(const std::string& op, const std::string& fields) {
    return fmt::format("  - {{name: {0}, op: {0}, {1}}}\n", op, fields);
}

std::string gemm(Context& c) {
    std::string m = c.shape.take("m"), n = c.shape.take("n");
    const std::string k = c.shape.take("k"), bias = c.shape.take_or("bias", "0");
    // DeepBench counts as cuBLAS does, column by column: its m are the columns of a row-major product.
    if (!c.shape.take_or("transA", "").empty()) std::swap(m, n);
    c.shape.take_or("transB", "N");
    std::string text;
    // The kernel that turns 16-bit activations into fp8 is part of what was timed.
    if (c.protocol.includes_quantise)
        text = fmt::format(
            "  - {{name: quantise, op: elementwise, fn: quantise, dtype: bf16, rows: {}, cols: {}, output_dtype: fp8}}\n", m, k);
    const char* wide = c.protocol.includes_quantise ? ", output_dtype: bf16" : "";
    return text + layer("gemm", fmt::format("m: {}, n: {}, k: {}{}{}", m, n, k, bias == "1" ? ", bias: true" : "", wide));
}

std::string bmm(Context& c) {
    return layer("bmm", fmt::format("batch: {}, m: {}, n: {}, k: {}", c.shape.take("batch"), c.shape.take("m"), c.shape.take("n"),
                                    c.shape.take("k")));
}

std::string attention(Context& c) {
    const bool decode = c.row.op == "attention_decode";
    const std::string head_dim = c.shape.take("head_dim"), seq_q = decode ? c.shape.take_or("seq_q", "1") : c.shape.take("seq_q");
    // TensorRT-LLM rotates Q and K and writes the cache in one kernel over all of Q, K and V.
    const bool rotated = c.row.notes.find("kernel=torch_flow") != std::string::npos;
    const std::string before =
        rotated ? fmt::format("  - {{name: rope, op: elementwise, fn: rope, rows: {} * {}, cols: ({} + 2 * {}) * {}}}\n",
                              c.shape.take("batch"), seq_q, c.shape.take("heads"), c.shape.take("kv_heads"), head_dim)
                : "";
    return before +
           layer(
               "attention",
               fmt::format("mode: {}, batch: {}, heads: {}, kv_heads: {}, head_dim: {}, head_dim_v: {}, seq_q: {}, seq_kv: {}, "
                           "causal: {}, kv_dtype: {}, window: {}{}",
                           decode ? "decode" : "prefill", c.shape.take("batch"), c.shape.take("heads"), c.shape.take("kv_heads"),
                           head_dim, c.shape.take_or("head_dim_v", head_dim), seq_q, c.shape.take("seq_kv"),
                           c.shape.take_or("causal", "0") == "1", c.shape.take_or("kv_dtype", c.row.dtype),
                           c.shape.take_or("window", "0"), c.protocol.includes_kv_write && !rotated ? ", writes_kv: true" : ""));
}

/// p and q are written for the reader; they must be what the other sizes make them.
void check_output(Context& c, const char* given, const char* size, const char* window, const char* stride, const char* pad) {
    const std::string text = c.shape.take_or(given, "");
    if (text.empty()) return;
    const auto number = [&](const std::string& value) { return parse_positive(value).value_or(0); };
    const double padded = number(c.shape.take(size)) + 2 * number(c.shape.take_or(pad, "0")) - number(c.shape.take(window));
    const double step = std::max(1.0, number(c.shape.take_or(stride, "1")));
    const double outputs = std::floor(padded / step) + 1;
    if (number(text) != outputs) c.shape.fail(fmt::format("shape: {}={}, but the other sizes give {}", given, text, outputs));
}

std::string conv(Context& c) {
    static const std::map<std::string, std::string> passes{
        {"fwd", "forward"}, {"bwd_data", "backward_data"}, {"bwd_weights", "backward_weights"}};
    const std::string given = c.shape.take_or("pass", "fwd");
    const auto pass = passes.find(given);
    if (pass == passes.end()) c.shape.fail(fmt::format("shape: pass={}: allowed: fwd, bwd_data, bwd_weights", given));
    check_output(c, "p", "h", "r", "stride_h", "pad_h");
    check_output(c, "q", "w", "s", "stride_w", "pad_w");
    const std::string pad_h = c.shape.take_or("pad_h", "0"), pad_w = c.shape.take_or("pad_w", "0");
    return layer(
        "conv2d",
        fmt::format(
            "n: {}, c: {}, h: {}, w: {}, k: {}, r: {}, s: {}, stride_h: {}, stride_w: {}, groups: {}, padding: [{}, {}, {}, {}], "
            "pass: {}",
            c.shape.take("n"), c.shape.take("c"), c.shape.take("h"), c.shape.take("w"), c.shape.take("k"), c.shape.take("r"),
            c.shape.take("s"), c.shape.take_or("stride_h", "1"), c.shape.take_or("stride_w", "1"), c.shape.take_or("groups", "1"),
            pad_h, pad_w, pad_h, pad_w, pass == passes.end() ? "forward" : pass->second));
}

std::string recurrent(Context& c) {
    static const std::map<std::string, std::string> passes{
        {"fwd", "forward"}, {"bwd", "backward"}, {"bwd_data", "backward_data"}, {"bwd_weights", "backward_weights"}};
    const std::string written = c.shape.take_or("pass", "fwd");
    const auto pass = passes.find(written);
    if (pass == passes.end())
        c.shape.fail(fmt::format("{} pass={} is not modelled; known: fwd, bwd, bwd_data, bwd_weights", c.row.op, written));
    const std::string hidden = c.shape.take("hidden");
    return layer(c.row.op,
                 fmt::format("hidden: {0}, input: {0}, batch: {1}, steps: {2}, layers: {3}, input_gemm: {4}, pass: {5}", hidden,
                             c.shape.take("batch"), c.shape.take("steps"), c.shape.take_or("layers", "1"),
                             c.shape.take_or("input_gemm", "included"), pass == passes.end() ? "forward" : pass->second));
}

/// Functions count by their arithmetic alone: those not listed do one operation an element.
std::string elementwise(Context& c) {
    static const std::map<std::string, std::string> known{{"silu_and_mul", "silu"}, {"rope", "rope"}, {"gelu", "gelu"},
                                                          {"tanh", "tanh"},         {"pow", "tanh"},  {"powu", "tanh"},
                                                          {"sigmoid", "sigmoid"},   {"copy", "copy"}, {"quantise", "quantise"}};
    const auto fn = known.find(c.shape.take_or("fn", "relu"));
    return layer("elementwise",
                 fmt::format("fn: {}, rows: {}, cols: {}, reads: {}, writes: {}", fn == known.end() ? "relu" : fn->second,
                             c.shape.take("rows"), c.shape.take("cols"), c.shape.take("reads"), c.shape.take("writes")));
}

std::string row_reduction(Context& c) {
    const std::string reads = c.shape.take_or("reads", "1"), writes = c.shape.take_or("writes", "1");
    if (!(reads == "1" && writes == "1") && !(reads == "2" && writes == "2"))
        c.shape.fail(fmt::format("{} with reads={}, writes={} is not modelled", c.row.op, reads, writes));
    return layer(c.row.op, fmt::format("rows: {}, cols: {}{}", c.shape.take("rows"), c.shape.take("cols"),
                                       reads == "2" ? ", residual: true" : ""));
}

std::string embedding(Context& c) {
    const std::string dim = c.shape.take("dim");
    if (const std::string pass = c.shape.take_or("pass", "fwd"); pass != "fwd")
        c.shape.fail(fmt::format("embedding pass={} is not modelled", pass));
    const std::string tokens = c.shape.take_or("tokens", "");
    if (!tokens.empty())
        return layer("embedding_bag",
                     fmt::format("tables: 1, rows: {}, dim: {}, batch: {}", c.shape.take("table_rows"), dim, tokens));
    const std::string reuse = c.shape.take_or("alpha", "uniform_random");
    const bool number = parse_positive(reuse).has_value();
    if (reuse != "uniform_random" && reuse != "uniform" && reuse != "0" && !number)
        c.shape.fail(fmt::format("embedding with index reuse '{}': no distribution is given", reuse));
    const std::string tables = c.shape.take("tables");
    const bool apart = c.shape.take_or("per_table_kernel", "0") == "1";  // the time is that of one table's kernel
    return layer("embedding_bag", fmt::format("tables: {}, rows: {}, dim: {}, batch: {}, pooling: {}{}", apart ? "1" : tables,
                                              c.shape.take("rows"), dim, c.shape.take("batch"), c.shape.take_or("pooling", "1"),
                                              number ? ", pattern: zipf, alpha: " + reuse : ""));
}

using Writer = std::string (*)(Context&);
const std::map<std::string, Writer>& writers() {
    static const std::map<std::string, Writer> all{{"gemm", gemm},
                                                   {"bmm", bmm},
                                                   {"attention_prefill", attention},
                                                   {"attention_decode", attention},
                                                   {"conv", conv},
                                                   {"lstm", recurrent},
                                                   {"gru", recurrent},
                                                   {"rnn", recurrent},
                                                   {"elementwise", elementwise},
                                                   {"softmax", row_reduction},
                                                   {"layernorm", row_reduction},
                                                   {"rmsnorm", row_reduction},
                                                   {"embedding", embedding}};
    return all;
}

Simulation refused(std::string reason) {
    Simulation none;
    none.reason = std::move(reason);
    return none;
}

std::string did_you_mean(const std::string& name, const std::vector<std::string>& known) {
    const std::string near = nearest_name(name, known);
    return near.empty() ? "" : fmt::format(" (did you mean '{}'?)", near);
}

std::string family(const std::string& op) {
    if (op == "conv") return "cnn";
    if (op == "lstm" || op == "gru" || op == "rnn") return "rnn";
    if (op == "embedding") return "dlrm";
    return op.rfind("attention", 0) == 0 ? "transformer" : "mlp";
}

}  // namespace

const std::vector<std::string>& operation_names() {
    static const std::vector<std::string> names = [] {
        std::vector<std::string> all;
        for (const auto& [name, writer] : writers()) all.push_back(name);
        return all;
    }();
    return names;
}

std::string Simulation::key() const {
    return fmt::format("{}|{}|{}|{}|{}|{}\n{}", gpu, name(protocol.launch), name(protocol.caches), protocol.weight_copies,
                       name(protocol.data), protocol.passes, workload);
}

Simulation to_simulation(const Row& row) {
    if (!row.problem.empty()) return refused(row.problem);
    const auto writer = writers().find(row.op);
    if (writer == writers().end())
        return refused(fmt::format("unknown op '{}'{}", row.op, did_you_mean(row.op, operation_names())));
    if (!parse_dtype(row.dtype))
        return refused(fmt::format("unknown dtype '{}'{}", row.dtype, did_you_mean(row.dtype, dtype_names())));
    const MeasuredProtocol protocol = parse_protocol(row.protocol);
    if (!protocol.problem.empty()) return refused(protocol.problem);
    Shape shape(row);
    Context context{row, protocol, shape};
    Simulation simulation;
    const std::string layers = writer->second(context);
    if (const std::string problem = shape.finish(); !problem.empty()) return refused(problem);
    simulation.gpu = row.gpu;
    simulation.protocol = protocol.engine;
    set_loop(row, simulation.protocol);
    simulation.workload = fmt::format(
        "schema: rafter.workload/1\nname: {0}\ntitle: measured {0}\nfamily: {1}\ndtype: {2}\nlibrary: {4}\nlayers:\n{3}", row.op,
        family(row.op), row.dtype, layers, library_of(row));
    return simulation;
}

}  // namespace rafter::validate
