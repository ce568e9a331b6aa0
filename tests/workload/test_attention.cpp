#include "tests/workload/helpers.h"

using namespace rafter;
using namespace rafter::workload;
using namespace rafter::workload::test;

namespace {

Count flops_of(const std::string& fields) { return count(layer_of("op: attention, " + fields)).flops; }

/// Unmasked pairs by looking at every one.
std::int64_t pairs(std::int64_t seq_q, std::int64_t seq_kv, bool causal, std::int64_t window) {
    std::int64_t n = 0;
    for (std::int64_t q = 0; q < seq_q; ++q) {
        const std::int64_t at = seq_kv - seq_q + q;  // position of the query
        for (std::int64_t k = 0; k < seq_kv; ++k) n += (!causal || k <= at) && (window == 0 || k > at - window) ? 1 : 0;
    }
    return n;
}

}  // namespace

TEST_CASE("C023 attention products of B1 H12 S64 D64", "[workload]") {
    // 2 products of 12 * 64 * 64 * 64 MACs each; softmax is not in it
    CHECK(text(flops_of("batch: 1, heads: 12, head_dim: 64, seq_q: 64, causal: false")) == "12582912");
}

TEST_CASE("C022 attention is quadratic in the sequence", "[workload]") {
    const std::string sizes = "batch: 1, heads: 32, kv_heads: 8, head_dim: 128, causal: false, seq_q: ";
    CHECK(flops_of(sizes + "16384") == 4 * flops_of(sizes + "8192"));
    const auto projection = [](int seq) {
        return count(layer_of(fmt::format("op: linear, m: {}, n: 6144, k: 4096", seq))).flops;
    };
    CHECK(projection(16384) == 2 * projection(8192));
}

TEST_CASE("causal and windowed pairs equal a count of the mask", "[workload]") {
    for (const int seq_q : {1, 2, 5, 16})
        for (const int extra : {0, 1, 7})
            for (const int window : {0, 1, 4, 100}) {
                INFO(seq_q << ' ' << extra << ' ' << window);
                const auto fields = fmt::format("batch: 1, heads: 1, head_dim: 1, seq_q: {}, seq_kv: {}, window: {}", seq_q,
                                                seq_q + extra, window);
                CHECK(text(flops_of(fields)) == fmt::format("{}", 4 * pairs(seq_q, seq_q + extra, true, window)));
            }
}

TEST_CASE("C043 a million tokens do not overflow", "[workload]") {
    // 32 layers of an 8B model; 4 * 32 heads * 128 * S^2 FLOP a layer, S = 2^20
    const std::string sizes = "batch: 1, heads: 32, kv_heads: 8, head_dim: 128, seq_q: 1048576";
    const Count full = flops_of(sizes + ", causal: false"), causal = flops_of(sizes);
    CHECK(text(full) == "18014398509481984");                               // 2^54
    CHECK(text(32 * full) == "576460752303423488");                         // 5.76e17
    CHECK(text(2 * causal) == text(full + Count{4} * 32 * 128 * 1048576));  // the diagonal is not halved
    CHECK(text(20 * 32 * full) == "11529215046068469760");                  // C007: beyond 2^63
}

TEST_CASE("C034 kv_heads that do not divide heads", "[workload]") {
    const std::string error = layer_error("op: attention, batch: 1, heads: 40, kv_heads: 12, head_dim: 128, seq_q: 16");
    CHECK(error.find("kv_heads does not divide heads: heads = 40, kv_heads = 12") != std::string::npos);
}

TEST_CASE("C035 head_dim is its own key", "[workload]") {
    // hidden 3584, 16 heads of 256: not 224
    const Layer layer = layer_of("op: attention, batch: 1, heads: 16, kv_heads: 8, head_dim: 256, seq_q: 10");
    CHECK(std::get<Attention>(layer.operation).head_dim == 256);
    CHECK(count(layer).output_bytes.value == 10 * 16 * 256 * 2);
    // Mistral Small 24B: 40 layers, 8 KV heads of 128, bf16
    const Layer decode =
        layer_of("op: attention, mode: decode, batch: 1, heads: 32, kv_heads: 8, head_dim: 128, seq_kv: 1", "bf16");
    CHECK(40 * count(decode).parameter_bytes.value == 163840);
    CHECK(layer_error("op: attention, batch: 1, heads: 16, seq_q: 10").find("missing key 'head_dim'") != std::string::npos);
}

TEST_CASE("C038 a sliding window bounds the cache", "[workload]") {
    const std::string local =
        "op: attention, mode: decode, batch: 1, heads: 8, kv_heads: 4, head_dim: 256, window: 1024, seq_kv: ";
    CHECK(count(layer_of(local + "1024")).parameter_bytes == count(layer_of(local + "32768")).parameter_bytes);
    CHECK(count(layer_of(local + "1024")).flops == count(layer_of(local + "32768")).flops);
    CHECK(count(layer_of(local + "1023")).parameter_bytes < count(layer_of(local + "1024")).parameter_bytes);
}

TEST_CASE("C040 the KV cache grows by its closed form at every step", "[workload]") {
    const Model model = load_text(R"(dtype: bf16
dims: {context: 4096}
phases:
  - name: decode
    steps: 128
    kv_growth: 1
    layers:
      - {name: attention, op: attention, mode: decode, batch: 1, heads: 32, kv_heads: 8, head_dim: 128, seq_kv: context}
)");
    const std::int64_t per_token = 2 * 8 * 128 * 2;
    std::int64_t total = 0;
    for (std::int64_t t = 0; t < 128; ++t) {
        const Layer layer = find(model, "decode", "attention", t);
        CHECK(count(layer).parameter_bytes.value == (4096 + t) * per_token);
        CHECK(layer.parameters.at(0).id == "attention.kv");
        total += count(layer).parameter_bytes.value;
    }
    CHECK(total == per_token * (128 * 4096 + 127 * 128 / 2));
}

TEST_CASE("C044 a prefill of one token is a decode step with an empty cache", "[workload]") {
    const std::string sizes = "batch: 3, heads: 8, kv_heads: 2, head_dim: 64";
    const Counts prefill = count(layer_of("op: attention, mode: prefill, seq_q: 1, " + sizes));
    const Counts decode = count(layer_of("op: attention, mode: decode, seq_kv: 1, " + sizes));
    CHECK(prefill.flops == decode.flops);
    CHECK(prefill.total_bytes() == decode.total_bytes());
    const Counts appends = count(layer_of("op: attention, mode: decode, seq_kv: 1, writes_kv: true, " + sizes));
    CHECK((appends.total_bytes() - decode.total_bytes()).value == 3 * 2 * 2 * 64 * 2);  // K and V of one token each
}

TEST_CASE("C046 the KV cache has a dtype of its own", "[workload]") {
    const std::string decode = "op: attention, mode: decode, batch: 1, heads: 8, head_dim: 64, seq_kv: 1000";
    const Layer wide = layer_of(decode, "bf16"), narrow = layer_of(decode + ", kv_dtype: fp8", "bf16");
    CHECK(count(wide).parameter_bytes.value == 2 * count(narrow).parameter_bytes.value);
    CHECK(count(wide).flops == count(narrow).flops);
    CHECK(compute_dtype(narrow) == DType::bf16);
    const Layer by_model = layer_of(decode, "{weights: bf16, activations: bf16, kv: fp8}");
    CHECK(count(by_model).parameter_bytes == count(narrow).parameter_bytes);
}

TEST_CASE("seq_kv includes the new tokens", "[workload]") {
    CHECK(layer_error("op: attention, batch: 1, heads: 1, head_dim: 8, seq_q: 4, seq_kv: 3")
              .find("seq_kv = 3 is less than seq_q = 4") != std::string::npos);
}
