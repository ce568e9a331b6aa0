// The worked examples of the two source texts, as shipped in workloads/examples. docs/examples.md walks through them.
#include "tests/workload/helpers.h"

using namespace rafter;
using namespace rafter::workload;
using namespace rafter::workload::test;

namespace {

Layer only_layer(const std::string& example, const Settings& settings = {}) {
    const Model model = load("examples/" + example, settings);
    return model.phases.at(0).layer_at(model.phases.at(0).blocks.at(0), 0, 0, 0);
}

}  // namespace

TEST_CASE("example fc", "[workload][examples]") {
    const Counts c = count(only_layer("fc"));
    CHECK(text(c.flops) == "33554432");  // 2 * 4096 * 4096
    CHECK(c.total_bytes().value == 67'141'632);
    CHECK(c.intensity() == Approx(0.4998).margin(0.00005));
}

TEST_CASE("example relu", "[workload][examples]") {
    const Counts c = count(only_layer("relu"));
    CHECK(text(c.flops) == "4096");
    CHECK(c.read_bytes().value == 16'384);
    CHECK(c.total_bytes().value == 32'768);
    CHECK(c.intensity() == Approx(0.125));
}

TEST_CASE("example conv", "[workload][examples]") {
    const Counts c = count(only_layer("conv"));
    CHECK(text(c.flops) == "173408256");  // 2 * 27 * 64 * 224 * 224
    CHECK(c.total_bytes().value == 13'454'080);
    CHECK(c.intensity() == Approx(12.89).margin(0.005));
}

TEST_CASE("example embedding_100m", "[workload][examples]") {
    CHECK(only_layer("embedding_100m").parameters.at(0).size.value == 51'200'000'000);
}

TEST_CASE("example gather", "[workload][examples]") {
    const Counts c = count(only_layer("gather"));
    CHECK(c.parameter_bytes.value == 1'048'576);  // 2048 * 1 * 128 * 4
    CHECK(text(c.flops) == "0");
}

TEST_CASE("example mlp_layer", "[workload][examples]") {
    const Counts c = count(only_layer("mlp_layer"));
    CHECK(text(c.macs) == "8388608");
    CHECK(text(c.flops) == "16777216");
}

TEST_CASE("example weights", "[workload][examples]") { CHECK(only_layer("weights").parameters.at(0).size.value == 2'097'152); }

TEST_CASE("example house_prices: the weights are the same for 3 and for 1,000 houses", "[workload][examples]") {
    const Counts three = count(only_layer("house_prices")), thousand = count(only_layer("house_prices_1000"));
    CHECK(text(three.macs) == "6");
    CHECK(text(thousand.macs) == "2000");
    CHECK(three.parameter_bytes.value == 8);
    CHECK(thousand.parameter_bytes.value == 8);
    CHECK(count(only_layer("house_prices", {{"houses", "1000"}})).macs == thousand.macs);
}

TEST_CASE("examples pixels_mlp and pixels_cnn: 48 weights against 9", "[workload][examples]") {
    CHECK(count(only_layer("pixels_mlp")).parameter_bytes.value == 48 * 4);
    const Layer cnn = only_layer("pixels_cnn");
    CHECK(count(cnn).parameter_bytes.value == 9 * 4);
    CHECK(text(count(cnn).macs) == "36");  // 9 weights at each of 2 x 2 positions
}

TEST_CASE("example conv_macs", "[workload][examples]") { CHECK(text(count(only_layer("conv_macs")).macs) == "4718592"); }

TEST_CASE("example rnn", "[workload][examples]") {
    CHECK(text(count(only_layer("rnn")).macs) == "78643200");
    CHECK(chain_length(only_layer("rnn")) == 100);
    CHECK(chain_length(only_layer("rnn_sentence")) == 3);
}

TEST_CASE("examples attention_1000 and attention_2000: exactly four times", "[workload][examples]") {
    const Count thousand = count(only_layer("attention_1000")).flops, two = count(only_layer("attention_2000")).flops;
    CHECK(two == 4 * thousand);
    CHECK(text(thousand) == "2048000000");  // 2 products * 2 * 8 heads * 1,000,000 scores * 64
}

TEST_CASE("example attention_scores: 25, 10,000, 1,000,000", "[workload][examples]") {
    for (const auto& [tokens, scores] :
         std::vector<std::pair<std::string, std::int64_t>>{{"5", 25}, {"100", 10'000}, {"1000", 1'000'000}}) {
        const Layer layer = only_layer("attention_scores", {{"tokens", tokens}});
        CHECK(layer.outputs.at(0).size.value == 2 * scores);
        CHECK(text(count(layer).macs) == fmt::format("{}", 64 * scores));
    }
}

TEST_CASE("example kv_cache", "[workload][examples]") {
    CHECK(only_layer("kv_cache").parameters.at(0).size.value == 4'096'000);  // 2 * 2 * 1000 * 512 * 2
}

TEST_CASE("example kv_growth: one token more at every step", "[workload][examples]") {
    const Model model = load("examples/kv_growth", {});
    for (std::int64_t t = 0; t < 4; ++t) {
        const Layer layer = find(model, "decode", "attention", t);
        CHECK(layer.parameters.at(0).size.value == (t + 1) * 2 * 512 * 2);
        CHECK(layer.outputs.at(1).size.value == 2 * 512 * 2);
        CHECK(layer.outputs.at(1).id == layer.parameters.at(0).id);
    }
}
