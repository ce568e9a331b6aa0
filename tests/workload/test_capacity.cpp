#include "tests/workload/helpers.h"

using namespace rafter;
using namespace rafter::workload;
using namespace rafter::workload::test;

namespace {

std::string refusal(const Model& model, std::int64_t capacity) {
    try {
        check_capacity(model, Bytes(capacity), "test-gpu");
    } catch (const Error& e) {
        return e.what();
    }
    return "";
}

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

}  // namespace

TEST_CASE("C041 a KV cache beyond HBM names consumers, deficit and the context that fits", "[workload]") {
    // Llama 3 8B with its own lm_head: 16.06 GB of bf16 weights, 131,072 B of KV a token: 128 GiB at 1,048,576 tokens
    const TemporaryFile file(R"(schema: rafter.workload/1
title: t
name: llama
family: transformer
dims: {context: 1048576}
dtype: bf16
phases:
  - name: decode
    layers:
      - block: decoder
        repeat: 32
        layers:
          - {name: attention, op: attention, mode: decode, batch: 1, heads: 32, kv_heads: 8, head_dim: 128, seq_kv: context}
      - {name: other, op: linear, m: 1, k: 8030261248, n: 1, inputs: [input]}
)");
    const Model model = load(file.path(), {});
    const std::string text = refusal(model, 80'000'000'000);
    CHECK(has(text, "error: llama does not fit the memory of test-gpu:"));
    CHECK(has(text, "KV cache"));
    CHECK(has(text, "137438953472 B    128.00 GiB"));
    CHECK(has(text, "16060522496 B     14.96 GiB"));
    CHECK(has(text, "deficit"));
    // 80e9 - 16,060,522,496 (weights) - 16,060,522,498 (activations of the stand-in layer) over 131,072 B a token
    CHECK(has(text, fmt::format("largest context that fits: {}", (80'000'000'000 - 2 * 16'060'522'496 - 2) / 131'072)));
    CHECK(refusal(model, 180'000'000'000) == "");
    const auto fits = load(file.path(), {{"context", fmt::format("{}", (80'000'000'000 - 2 * 16'060'522'496 - 2) / 131'072)}});
    CHECK(refusal(fits, 80'000'000'000) == "");
}

TEST_CASE("C053 tables beyond HBM are listed by size", "[workload]") {
    const TemporaryFile file(R"(schema: rafter.workload/1
title: t
name: tables
family: dlrm
dims: {batch: 2048}
dtype: fp32
layers:
  - {name: small, op: embedding_bag, rows: 1000, dim: 128, batch: batch}
  - {name: users, op: embedding_bag, tables: 26, rows: 40000000, dim: 128, batch: batch}
)");
    const std::string text = refusal(load(file.path(), {}), 80'000'000'000);
    const auto users = text.find("embedding tables users[0..25], each 20480000000 B"), small = text.find("embedding table small");
    REQUIRE(users != std::string::npos);
    REQUIRE(small != std::string::npos);
    CHECK(users < small);
    CHECK(has(text, "532480000000 B    495.91 GiB"));
    CHECK(has(text, "no smaller context or batch fits"));
}

TEST_CASE("the table of 100 million users does not fit 40 GB and is named", "[workload]") {
    const Model model = load("examples/embedding_100m", {});
    const std::string text = refusal(model, 40'000'000'000);
    CHECK(has(text, "embedding table users"));
    CHECK(has(text, "51200000000 B     47.68 GiB"));
    CHECK(refusal(model, 80'000'000'000) == "");
}

TEST_CASE("a batch that fits is found when there is no cache", "[workload]") {
    const TemporaryFile file(R"(schema: rafter.workload/1
title: t
family: mlp
dims: {batch: 1000}
dtype: fp32
layers:
  - {name: fc, op: linear, m: batch, k: 100, n: 100}
)");
    // weights 40,000 B, 800 B a sample
    const std::string text = refusal(load(file.path(), {}), 100'000);
    CHECK(has(text, "largest batch that fits: 75 (--set batch=75)"));
}

TEST_CASE("memory counts what lives at the last step of a phase", "[workload]") {
    const Model model = load("examples/kv_growth", {});
    for (const Consumer& c : model.memory())
        if (c.name == "KV cache") CHECK(c.size.value == 4 * 2 * 512 * 2);
    const Model longer = load("transformer", {{"decode_steps", "1024"}});
    for (const Consumer& c : longer.memory())
        if (c.name == "KV cache") CHECK(c.size.value == (2048 + 1024) * 114'688);
}
