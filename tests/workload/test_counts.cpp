// Exact counts of products, rows and recurrences, with the derivation beside each figure.
#include "tests/workload/helpers.h"

using namespace rafter;
using namespace rafter::workload;
using namespace rafter::workload::test;

TEST_CASE("C002 useful work is exact for shapes that divide nothing", "[workload]") {
    CHECK(text(count(layer_of("op: gemm, m: 8, n: 1, k: 1")).macs) == "8");
    CHECK(text(count(layer_of("op: gemm, m: 7, n: 13, k: 11")).macs) == "1001");
}

TEST_CASE("C001 a GEMM with an edge tile counts its own elements only", "[workload]") {
    // 2 * 129 * 4096 * 4096
    CHECK(text(count(layer_of("op: gemm, m: 129, n: 4096, k: 4096")).flops) == "4328521728");
}

TEST_CASE("bias and activation are not counted as FLOPs, bias is counted as bytes", "[workload]") {
    const Counts plain = count(layer_of("op: linear, m: 64, n: 256, k: 512", "fp32"));
    const Counts dressed = count(layer_of("op: linear, m: 64, n: 256, k: 512, bias: true, activation: relu", "fp32"));
    CHECK(text(plain.flops) == "16777216");
    CHECK(text(dressed.flops) == "16777216");
    CHECK(dressed.parameter_bytes.value - plain.parameter_bytes.value == 256 * 4);
}

TEST_CASE("C032 a batched product of activations", "[workload]") {
    const Layer layer = layer_of("op: bmm, batch: 12, m: 256, n: 256, k: 64");
    CHECK(text(count(layer).macs) == "50331648");  // 12 * 256 * 256 * 64
    CHECK(layer.parameters.empty());
    CHECK(layer.inputs.size() == 2);
}

TEST_CASE("a residual is read, a gated product stores half its columns", "[workload]") {
    const Layer residual = layer_of("op: linear, m: 4, n: 8, k: 16, residual: true");
    CHECK(count(residual).input_bytes.value == (4 * 16 + 4 * 8) * 2);
    const Layer gated = layer_of("op: linear, m: 4, n: 8, k: 16, gated: true, activation: silu");
    CHECK(count(gated).output_bytes.value == 4 * 4 * 2);
    CHECK(text(count(gated).macs) == "512");
    CHECK(layer_error("op: linear, m: 4, n: 7, k: 16, gated: true").find("gated needs an even n") != std::string::npos);
}

TEST_CASE("C025 lm_head counts like every other product", "[workload]") {
    const Layer one = layer_of("op: linear, m: 1, n: 128256, k: 4096");
    const Layer many = layer_of("op: linear, m: 64, n: 128256, k: 4096");
    CHECK(text(count(many).flops) == text(Count{2} * 64 * 4096 * 128256));
    CHECK(count(many).input_bytes.value == 64 * count(one).input_bytes.value);
    CHECK(count(many).output_bytes.value == 64 * count(one).output_bytes.value);
}

TEST_CASE("C026 LSTM work is linear in the time steps", "[workload]") {
    // a step: 4 * 512 * (300 + 512) + 4 * 512 * (512 + 512) = 3,760,128
    const auto macs = [](int steps) {
        return count(layer_of(fmt::format("op: lstm, batch: 1, steps: {}, input: 300, hidden: 512, layers: 2", steps))).macs;
    };
    CHECK(text(macs(100)) == "376012800");
    CHECK(macs(100) == 10 * macs(10));
}

TEST_CASE("recurrent cells: gates, weights, chain", "[workload]") {
    const std::string sizes = ", batch: 32, steps: 100, input: 64, hidden: 128";
    const Layer rnn = layer_of("op: rnn" + sizes, "fp32"), lstm = layer_of("op: lstm" + sizes, "fp32"),
                gru = layer_of("op: gru" + sizes, "fp32");
    CHECK(text(count(rnn).macs) == "78643200");  // 32 * 100 * (64 * 128 + 128 * 128)
    CHECK(count(lstm).macs == 4 * count(rnn).macs);
    CHECK(count(gru).macs == 3 * count(rnn).macs);
    CHECK(count(rnn).parameter_bytes.value == (64 + 128) * 128 * 4);
    CHECK(chain_length(rnn) == 100);
    CHECK(chain_length(layer_of("op: lstm, layers: 2" + sizes)) == 200);
    const Layer skipped = layer_of("op: rnn, input_gemm: skipped" + sizes, "fp32");
    CHECK(text(count(skipped).macs) == "52428800");  // 32 * 100 * 128 * 128
}

TEST_CASE("backward passes of a recurrence: products and bytes", "[workload]") {
    const std::string op = "op: lstm, batch: 2, steps: 3, input: 5, hidden: 8, pass: ";
    const std::int64_t weights = 4 * 8 * (5 + 8), states = 2 * 3 * 8, gates = 4 * states, input = 2 * 3 * 5;
    const Counts forward = count(layer_of(op + "forward", "fp32")), data = count(layer_of(op + "backward_data", "fp32")),
                 gradient = count(layer_of(op + "backward_weights", "fp32")), both = count(layer_of(op + "backward", "fp32"));
    CHECK(data.macs == forward.macs);
    CHECK(gradient.macs == forward.macs);
    CHECK(both.macs == 2 * forward.macs);
    CHECK(data.input_bytes.value == 4 * (states + gates + states));  // gradient of the states, kept gates, cell states
    CHECK(data.parameter_bytes.value == 4 * weights);
    CHECK(data.output_bytes.value == 4 * input);
    CHECK(gradient.input_bytes.value == 4 * (gates + states + input));
    CHECK(gradient.parameter_bytes.value == 4 * weights);  // added to
    CHECK(gradient.output_bytes.value == 4 * weights);
    CHECK(both.input_bytes.value == 4 * (states + gates + states + states + input));
    CHECK(both.parameter_bytes.value == 2 * 4 * weights);
    CHECK(both.output_bytes.value == 4 * (input + weights));
    CHECK(count(layer_of(op + "backward_data, input_gemm: skipped", "fp32")).output_bytes.value == 4 * gates);
    CHECK(chain_length(layer_of(op + "backward_data", "fp32")) == 3);
    CHECK(chain_length(layer_of(op + "backward_weights", "fp32")) == 1);
}

TEST_CASE("elementwise functions and rows", "[workload]") {
    const Counts relu = count(layer_of("op: elementwise, fn: relu, cols: 4096", "fp32"));
    CHECK(text(relu.flops) == "4096");
    CHECK(text(relu.macs) == "0");
    CHECK(relu.read_bytes().value == 16384);
    CHECK(relu.total_bytes().value == 32768);
    const Counts add = count(layer_of("op: elementwise, fn: add, rows: 3, cols: 5"));
    CHECK(text(add.flops) == "15");
    CHECK(add.input_bytes.value == 2 * 15 * 2);
    CHECK(text(count(layer_of("op: elementwise, fn: rope, rows: 4, cols: 8")).flops) == "96");
    CHECK(text(count(layer_of("op: softmax, rows: 10, cols: 7")).flops) == "350");
    CHECK(count(layer_of("op: rmsnorm, rows: 10, cols: 8")).parameter_bytes.value == 16);
    CHECK(count(layer_of("op: layernorm, rows: 10, cols: 8")).parameter_bytes.value == 32);
    CHECK(count(layer_of("op: reduce, rows: 10, cols: 8")).output_bytes.value == 20);
    CHECK(count(layer_of("op: elementwise, fn: mul, rows: 2, cols: 8, reads: 2, writes: 0.5")).output_bytes.value == 16);
}

TEST_CASE("C047 sub-byte formats keep their exact size, unknown ones are named", "[workload]") {
    const auto bytes = [](const std::string& dtype) {
        return count(layer_of("op: linear, m: 1, n: 1024, k: 1024", dtype)).parameter_bytes.value;
    };
    const std::int64_t elements = 1024 * 1024;
    CHECK(bytes("int4") * 2 == elements);
    CHECK(bytes("fp4") * 2 == elements);
    CHECK(bytes("nf4") * 2 == elements);
    CHECK(bytes("fp6") * 4 == 3 * elements);
    CHECK(bytes("e4m3") == elements);
    CHECK(bytes("e5m2") == elements);
    CHECK(bytes("int8") == elements);
    CHECK(bytes("bf16") == 2 * elements);
    CHECK(bytes("tf32") == 4 * elements);
    CHECK(bytes("fp64") == 8 * elements);
    const std::string error = layer_error("op: linear, m: 1, n: 8, k: 8", "fp17");
    CHECK(error.find("unknown dtype 'fp17'; known: fp64, fp32, tf32, fp16, bf16, fp8, int8, int4") != std::string::npos);
}

TEST_CASE("an odd number of int4 values rounds up to a whole byte", "[workload]") {
    CHECK(count(layer_of("op: linear, m: 1, n: 3, k: 1", "int4")).parameter_bytes.value == 2);
}

TEST_CASE("C007 totals beyond 2^63 stay exact", "[workload]") {
    // 2 * 2^22 * 2^22 * 2^22 = 2^67 FLOP; the weights alone are 2^44 elements
    const Counts counts = count(layer_of("op: linear, m: 4194304, n: 4194304, k: 4194304"));
    CHECK(text(counts.flops) == "147573952589676412928");
    CHECK(counts.intensity() > 0);
}

TEST_CASE("a tensor that no machine counts is refused", "[workload]") {
    const std::string error = layer_error("op: linear, m: 1099511627776, n: 1, k: 1099511627776");
    CHECK(error.find("a tensor of more than") != std::string::npos);
}

TEST_CASE("an operand named twice is the same memory", "[workload]") {
    const Model model = load_text(R"(dtype: fp16
layers:
  - {name: x, op: elementwise, fn: copy, rows: 4, cols: 32}
  - {name: gram, op: bmm, batch: 4, m: 4, n: 4, k: 8, inputs: [x, x]}
)");
    CHECK(count(find(model, "forward", "gram")).input_bytes.value == 4 * 32 * 2);
}

TEST_CASE("compute dtype is the wider one, activations alone without weights", "[workload]") {
    CHECK(compute_dtype(layer_of("op: linear, m: 1, n: 8, k: 8, weight_dtype: int4", "fp16")) == DType::fp16);
    CHECK(compute_dtype(layer_of("op: linear, m: 1, n: 8, k: 8, dtype: fp8", "fp16")) == DType::fp8);
    CHECK(compute_dtype(layer_of("op: bmm, m: 1, n: 8, k: 8, weight_dtype: fp32", "fp16")) == DType::fp16);
}
