#include "tests/workload/helpers.h"

using namespace rafter;
using namespace rafter::workload;
using namespace rafter::workload::test;

namespace {

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

const char* const kMlp = R"(dims: {batch: 64, hidden: 128}
dtype: fp16
layers:
  - {name: fc1, op: linear, m: batch, k: hidden, n: hidden, activation: relu}
  - {name: fc2, op: linear, n: 2 * hidden}
)";

}  // namespace

TEST_CASE("a linear layer takes m and k from the layer before", "[workload]") {
    const Model model = load_text(kMlp);
    const auto gemm = std::get<Gemm>(find(model, "forward", "fc2").operation);
    CHECK(gemm.m == 64);
    CHECK(gemm.k == 128);
    CHECK(gemm.n == 256);
    CHECK(find(model, "forward", "fc2").inputs.at(0).id == "fc1.out");
    CHECK(model.dims.at("hidden") == 128);
}

TEST_CASE("a --set overrides dims and dtypes, unknown ones are named", "[workload]") {
    CHECK(total_macs(load_text(kMlp, {{"batch", "128"}})) == 2 * total_macs(load_text(kMlp)));
    const std::string error = error_of(kMlp, {{"bach", "128"}});
    CHECK(has(error, "--set bach=128: error: unknown dim 'bach' of"));
    CHECK(has(error, "(did you mean 'batch'?)"));
    const Model narrow = load_text(kMlp, {{"dtype.weights", "int8"}});
    CHECK(find(narrow, "forward", "fc1").weights == DType::int8);
    CHECK(find(narrow, "forward", "fc1").activations == DType::fp16);
    CHECK(has(error_of(kMlp, {{"dtype.weights", "int9"}}), "unknown dtype 'int9'"));
    CHECK(has(error_of(kMlp, {{"batch", "-5"}}), "--set dims.batch=-5: error: dims.batch: '-5' is not a whole number"));
    CHECK(has(error_of(kMlp, {{"batch", "0"}}), "0 is out of range"));
    CHECK(has(error_of(kMlp, {{"batch", "1.5"}}), "'1.5' is not a whole number"));
}

TEST_CASE("C010 negative, fractional and infinite sizes are refused", "[workload]") {
    for (const char* size : {"-5", "1.5", ".inf", ".nan", "0", "''", "010"}) {
        INFO(size);
        CHECK(has(layer_error(fmt::format("op: linear, m: {}, n: 8, k: 8", size)), "layers[0].m:"));
    }
}

TEST_CASE("the whole text of an error", "[workload]") {
    const TemporaryFile file(R"(schema: rafter.workload/1
title: t
family: mlp
dims: {hidden: 128}
dtype: fp16
layers:
  - {name: fc1, op: linear, m: 4, k: hiden, n: hidden}
  - {name: fc2, op: lineer, n: hidden}
  - {name: fc3, op: linear, m: 4, k: 2, n: 2, activaton: relu}
)");
    std::string found;
    try {
        load(file.path(), {});
    } catch (const Error& e) {
        found = e.what();
    }
    const std::string& p = file.path();
    CHECK(found == p +
                       ":7:38: error: layers[0].k: unknown dim 'hiden' at character 1 of 'hiden' (did you mean 'hidden'?)\n"
                       "  - {name: fc1, op: linear, m: 4, k: hiden, n: hidden}\n"
                       "                                     ^\n" +
                       p +
                       ":8:21: error: layers[1].op: 'lineer' is not one of gemm, linear, bmm, conv2d, attention, "
                       "embedding_bag, rnn, lstm, gru, elementwise, softmax, layernorm, rmsnorm, reduce, pool2d (did you "
                       "mean 'linear'?)\n"
                       "  - {name: fc2, op: lineer, n: hidden}\n"
                       "                    ^\n" +
                       p +
                       ":9:47: error: unknown key 'activaton' in layers[2] (did you mean 'activation'?)\n"
                       "  - {name: fc3, op: linear, m: 4, k: 2, n: 2, activaton: relu}\n"
                       "                                              ^");
}

TEST_CASE("operands must have the size their producer wrote", "[workload]") {
    const std::string error = error_of(R"(dtype: fp16
layers:
  - {name: a, op: linear, m: 4, k: 8, n: 16}
  - {name: b, op: linear, m: 4, k: 17, n: 2}
)");
    CHECK(has(error, "linear 'b' reads 68 elements of a.out, which holds 64"));
    // A row reduction may read a part: the norm of the last token.
    CHECK(error_of("dtype: fp16\nlayers:\n  - {name: a, op: linear, m: 4, k: 8, n: 16}\n  - {name: n, op: rmsnorm, rows: 1}\n") ==
          "no error");
}

TEST_CASE("inputs are named, nearest names are offered", "[workload]") {
    const std::string text = R"(dtype: fp16
layers:
  - {name: first, op: linear, m: 4, k: 8, n: 8}
  - {name: second, op: linear, n: 8}
  - {name: sum, op: elementwise, fn: add, cols: 32, inputs: [second, NAME]}
)";
    const auto with = [&](const std::string& name) {
        std::string t = text;
        return t.replace(t.find("NAME"), 4, name);
    };
    const Layer sum = find(load_text(with("first")), "forward", "sum");
    CHECK(sum.inputs.at(0).id == "second.out");
    CHECK(sum.inputs.at(1).id == "first.out");
    CHECK(find(load_text(with("input")), "forward", "sum").inputs.at(1).id == "input");
    CHECK(has(error_of(with("frist")), "no earlier layer named 'frist' (did you mean 'first'?)"));
    CHECK(has(error_of(with("first, first")), "3 inputs named"));
}

TEST_CASE("a concatenation reads its producers whole", "[workload]") {
    const Layer layer = find(load_text(R"(dtype: fp16
layers:
  - {name: a, op: linear, m: 4, k: 8, n: 3}
  - {name: b, op: linear, m: 4, k: 8, n: 5, inputs: [input]}
  - {name: both, op: elementwise, fn: concat, rows: 4, cols: 8, inputs: [a, b]}
)"),
                             "forward", "both");
    CHECK(layer.inputs.at(0).size.value == 24);
    CHECK(layer.inputs.at(1).size.value == 40);
    CHECK(layer.outputs.at(0).size.value == 64);
}

TEST_CASE("C020 the name of a layer carries no meaning", "[workload]") {
    const auto counts = [](const std::string& name) {
        return count(
            find(load_text("dtype: fp16\nlayers:\n  - {name: " + name + ", op: linear, m: 4, k: 8, n: 3}\n"), "forward", name));
    };
    CHECK(counts("fc1").macs == counts("ADPT_DP_fc1").macs);
    CHECK(counts("fc1").total_bytes() == counts("ADPT_DP_fc1").total_bytes());
}

TEST_CASE("C028 reading and counting again changes nothing", "[workload]") {
    const Model model = load_text(kMlp);
    const auto memory = model.memory();
    for (int i = 0; i < 3; ++i) {
        CHECK(total_macs(model) == total_macs(load_text(kMlp)));
        CHECK(model.memory().size() == memory.size());
        CHECK(model.memory().at(0).size == memory.at(0).size);
    }
}

TEST_CASE("C031 shared weights are one tensor, the work is done thrice", "[workload]") {
    const Model model = load_text(R"(dtype: fp32
layers:
  - {name: a, op: linear, m: 1, k: 100, n: 100}
  - {name: b, op: linear, m: 1, k: 100, n: 100, share: a, inputs: [input]}
  - {name: c, op: linear, m: 1, k: 100, n: 100, share: a, inputs: [input]}
)");
    CHECK(text(2 * total_macs(model)) == "60000");
    const auto memory = model.memory();
    CHECK(memory.at(0).name == "weights");
    CHECK(memory.at(0).size.value == 100 * 100 * 4);
    CHECK(has(error_of("dtype: fp32\nlayers:\n  - {name: a, op: linear, m: 1, k: 4, n: 4}\n"
                       "  - {name: b, op: linear, m: 1, k: 4, n: 5, share: a}\n"),
              "'a' has weights of 64 B, 'b' of 80 B"));
    CHECK(has(error_of("dtype: fp32\nlayers:\n  - {name: a, op: linear, m: 1, k: 4, n: 4}\n"
                       "  - {name: b, op: linear, n: 4, share: aa}\n"),
              "no earlier layer with weights named 'aa' (did you mean 'a'?)"));
}

TEST_CASE("a repeated block owns weights per repetition and chains its activations", "[workload]") {
    const Model model = load_text(R"(dtype: fp16
layers:
  - {name: stem, op: linear, m: 2, k: 8, n: 4}
  - block: body
    repeat: 3
    layers:
      - {name: up, op: linear, n: 16}
      - {name: down, op: linear, n: 4, residual: true, inputs: [up, input]}
  - {name: head, op: linear, n: 1}
)");
    const Layer first = find(model, "forward", "up", 0, 0), last = find(model, "forward", "up", 0, 2);
    CHECK(first.inputs.at(0).id == "stem.out");
    CHECK(last.inputs.at(0).id == "body/down.out");
    CHECK(first.parameters.at(0).id == "body[0]/up.weight");
    CHECK(last.parameters.at(0).id == "body[2]/up.weight");
    CHECK(last.outputs.at(0).id == first.outputs.at(0).id);
    CHECK(find(model, "forward", "down", 0, 0).inputs.at(1).id == "stem.out");
    CHECK(find(model, "forward", "down", 0, 2).inputs.at(1).id == "body/down.out");
    CHECK(find(model, "forward", "head").inputs.at(0).id == "body/down.out");
    CHECK(model.memory().at(0).size.value == (8 * 4 + 3 * (4 * 16 + 16 * 4) + 4) * 2);
}

TEST_CASE("a repeated block must write what it reads", "[workload]") {
    CHECK(has(error_of("dtype: fp16\nlayers:\n  - {name: a, op: linear, m: 2, k: 8, n: 4}\n  - block: b\n    repeat: 2\n"
                       "    layers:\n      - {name: c, op: linear, n: 5}\n"),
              "block 'b' repeats, but it reads 8 elements and writes 10"));
}

TEST_CASE("names are unique and plain", "[workload]") {
    CHECK(has(error_of("dtype: fp16\nlayers:\n  - {name: a, op: linear, m: 1, k: 4, n: 4}\n  - {name: a, op: linear, n: 4}\n"),
              "a layer named 'a' exists already"));
    CHECK(has(error_of("dtype: fp16\nlayers:\n  - {name: a/b, op: linear, m: 1, k: 4, n: 4}\n"), "holds none of / [ ] @"));
}

TEST_CASE("phases share weights, not activations", "[workload]") {
    const Model model = load_text(R"(dtype: fp16
dims: {seq: 16}
phases:
  - name: prefill
    layers:
      - {name: fc, op: linear, m: seq, k: 8, n: 8}
  - name: decode
    steps: 4
    layers:
      - {name: fc, op: linear, m: 1, k: 8, n: 8}
)");
    CHECK(find(model, "prefill", "fc").parameters.at(0).id == find(model, "decode", "fc").parameters.at(0).id);
    CHECK(find(model, "prefill", "fc").outputs.at(0).id == "prefill/fc.out");
    CHECK(find(model, "decode", "fc").outputs.at(0).id == "decode/fc.out");
    CHECK(text(total_macs(model)) == fmt::format("{}", (16 + 4) * 64));
    CHECK(model.memory().at(1).size.value == 64 * 2);
}

TEST_CASE("sizes may be written with the decode step", "[workload]") {
    const Model model = load_text(R"(dtype: fp16
dims: {context: 100}
phases:
  - name: decode
    steps: 10
    layers:
      - {name: scores, op: bmm, batch: 8, m: 1, n: context + step + 1, k: 64}
      - {name: softmax, op: softmax, rows: 8, cols: context + step + 1}
)");
    for (std::int64_t t = 0; t < 10; ++t) {
        CHECK(std::get<Gemm>(find(model, "decode", "scores", t).operation).n == 101 + t);
        CHECK(std::get<RowReduction>(find(model, "decode", "softmax", t).operation).cols == 101 + t);
    }
    CHECK(has(error_of("dtype: fp16\nphases:\n  - name: d\n    steps: 10\n    layers:\n"
                       "      - {name: a, op: linear, m: 5 - step, k: 8, n: 8}\n"),
              "-4 is out of range"));
    CHECK(has(error_of("dtype: fp16\nlayers:\n  - {name: a, op: linear, m: step, k: 8, n: 8}\n"), "unknown dim 'step'"));
}

TEST_CASE("dims may use the dims above them", "[workload]") {
    const Model model = load_text(R"(dims: {heads: 24, head_dim: 128, hidden: heads * head_dim}
dtype: fp16
layers:
  - {name: a, op: linear, m: 1, k: hidden, n: 8}
)",
                                  {{"heads", "32"}});
    CHECK(model.dims.at("hidden") == 4096);
    CHECK(model.free_dims == std::vector<std::string>{"heads", "head_dim"});
}

TEST_CASE("a file says what it is", "[workload]") {
    CHECK(has(error_of("layers:\n  - {name: a, op: linear, m: 1, k: 4, n: 4}\n"), "missing key 'dtype'"));
    CHECK(has(error_of("dtype: fp16\n"), "missing key 'layers'"));
    CHECK(has(error_of("dtype: fp16\nlayers: []\n"), "a phase needs at least one layer"));
    CHECK(has(error_of("dtype: fp16\nlayers: [3]\n"), "expected a layer"));
    CHECK(has(error_of("dtype: fp16\nfamily: cnn\nlayers:\n  - {name: a, op: linear, m: 1, k: 4, n: 4}\n"),
              "duplicate key 'family'"));
    CHECK(load_text("name: mine\ndtype: fp16\nlayers:\n  - {name: a, op: linear, m: 1, k: 4, n: 4}\n").name == "mine");
}

TEST_CASE("an unknown workload names the known ones", "[workload]") {
    CHECK_THROWS_WITH(load("transfromer", {}), Catch::Contains("no workload named 'transfromer' (did you mean 'transformer'?)"));
}

TEST_CASE("C043 sizes that no 64-bit count holds are refused, not wrapped", "[workload]") {
    const std::string most = "1125899906842624";  // 2^50
    for (const std::string& fields :
         {"op: conv2d, n: 1, c: 1, h: 8, w: 8, k: 1, r: " + most + ", s: 1, dilation_h: " + most,
          "op: conv2d, n: " + most + ", c: 1, h: 999, w: 999, k: 1, kernel: 1",
          "op: elementwise, rows: " + most + ", cols: 64, reads: 64",
          "op: embedding_bag, tables: " + most + ", rows: 1, dim: " + most + ", batch: 1",
          "op: attention, mode: decode, batch: " + most + ", heads: " + most + ", head_dim: 1, seq_kv: 1",
          "op: lstm, batch: " + most + ", steps: " + most + ", input: 1, hidden: 1"}) {
        INFO(fields);
        CHECK(has(layer_error(fields), "a tensor of more than"));
    }
    CHECK(has(error_of("dtype: fp16\nphases:\n  - name: d\n    steps: 1048576\n    kv_growth: 1048576\n    layers:\n"
                       "      - {name: a, op: attention, mode: decode, batch: 1048576, heads: 1, head_dim: 1, seq_kv: 1}\n"),
              "the KV cache of 'a' grows beyond"));
    CHECK(has(
        error_of("dtype: fp16\nlayers:\n  - block: b\n    repeat: 1048577\n    layers:\n      - {name: a, op: linear, m: 1, k: "
                 "1, n: 1}\n"),
        "1048577 is out of range; allowed: 1 to 1048576"));
}
