// More of anything is never slower; a knob moves what it should and no more.
#include <cmath>

#include "tests/support.h"

using rafter::test::Json;
using rafter::test::run;
using rafter::test::run_text;
using rafter::test::Settings;
using rafter::test::Setup;
using rafter::test::source_path;
using rafter::test::time_of;

namespace {

const Settings kCompute{{"m", "2048"}, {"n", "4096"}, {"k", "4096"}};
const Settings kCopy{{"elements", "67108864"}};

Setup with(const Settings& dims, const Settings& hardware) { return {dims, hardware, "a100-sxm4-80gb", false}; }

double total(const Json& r, const char* key) { return r["totals"][key].get<double>(); }

}  // namespace

TEST_CASE("doubling the SMs halves a compute-bound product and leaves a large copy alone", "[properties][C064]") {
    // From 54 to 108: beyond that the operands of 128 x 256 tiles, 24 B/clk an SM, pass the L2's sustained 3200 B/clk.
    const Settings dims{{"m", "4096"}, {"n", "4096"}, {"k", "2048"}};
    const double product = time_of("gemm", with(dims, {{"sm.count", "54"}})) / time_of("gemm", with(dims, {{"sm.count", "108"}}));
    CHECK(product >= 1.8);
    CHECK(product <= 2.05);
    const double copy = time_of("copy", with(kCopy, {})) / time_of("copy", with(kCopy, {{"sm.count", "216"}}));
    CHECK(copy == Approx(1).margin(0.05));
}

TEST_CASE("doubling the HBM rate halves a large copy and leaves a compute-bound product alone", "[properties][C064]") {
    const double copy = time_of("copy", with(kCopy, {})) / time_of("copy", with(kCopy, {{"dram.data_rate", "6.372 Gbit/s"}}));
    CHECK(copy >= 1.5);
    CHECK(copy <= 2.0);
    const double product =
        time_of("gemm", with(kCompute, {})) / time_of("gemm", with(kCompute, {{"dram.data_rate", "6.372 Gbit/s"}}));
    CHECK(product >= 0.99);  // other arrival times evict other lines: under 1 % either way
    CHECK(product <= 1.1);
}

TEST_CASE("gathers of 512 B rows from a table larger than the L2 are slower per byte than a copy", "[properties]") {
    const Json gather = run("gather"), copy = run("copy", {kCopy});
    const double per_gathered = total(gather, "time_s") / (total(gather, "hbm_read_bytes") + total(gather, "hbm_write_bytes"));
    const double per_copied = total(copy, "time_s") / (2 * 67108864.0 * 2);
    CHECK(per_gathered > per_copied);
}

TEST_CASE("skew makes gathers faster through L2 hits, monotonically in alpha", "[properties]") {
    double before = time_of("gather");
    for (const char* alpha : {"05", "10", "15"}) {
        const double now = time_of(std::string("gather_zipf_") + alpha);
        INFO("alpha " << alpha);
        CHECK(now <= 1.005 * before);
        before = now;
    }
}

TEST_CASE("a larger L2 makes skewed gathers faster", "[properties]") {
    double before = 1;
    for (const char* size : {"5 MiB", "20 MiB", "80 MiB"}) {
        const double now = time_of("gather_zipf_10", with({}, {{"l2.capacity", size}}));
        CHECK(now <= 1.005 * before);
        before = now;
    }
}

TEST_CASE("a recurrence takes at least its steps, and more SMs do not shorten it", "[properties]") {
    const Settings one{{"steps", "1"}}, many{{"steps", "20"}};
    const double step = time_of("rnn", with(one, {})), chain = time_of("rnn", with(many, {}));
    // The first step fetches the weights, the later ones find them in the L2: the warm path is a step of a long chain.
    const double warm = (time_of("rnn", with({{"steps", "40"}}, {})) - chain) / 20;
    CHECK(chain >= 0.999 * (step + 19 * warm));
    CHECK(chain >= 20 * std::min(step, warm));
    CHECK(time_of("rnn", with(many, {{"sm.count", "216"}})) >= 0.9 * chain);
}

TEST_CASE("batch does not lengthen a recurrence until the SMs fill", "[properties]") {
    CHECK(time_of("rnn", with({{"batch", "16"}}, {})) <= 1.15 * time_of("rnn", with({{"batch", "1"}}, {})));
}

TEST_CASE("decode steps grow with the context and read the closed form of the cache", "[properties][C040]") {
    const Json r = run("decode");
    double before = 0;
    for (const Json& step : r["phases"][0]["step_results"]) {
        // 2 x batch 4 x 8 KV heads x 128 x 2 B = 16,384 B a token; the step's own token included.
        const auto context = 4096 + step["step"].get<std::int64_t>() + 1;
        CHECK(step["context_tokens"].get<std::int64_t>() == context);
        CHECK(step["kv_read_bytes"].get<std::int64_t>() == context * 16384);
        // The first step finds the L2 empty; from then on steps grow, but for the hash of a few lines (0.5 %).
        if (step["step"].get<int>() > 1) CHECK(step["time_s"].get<double>() >= 0.995 * before);
        before = step["time_s"].get<double>();
    }
    CHECK(time_of("decode", {{{"context", "8192"}}}) > time_of("decode"));
}

TEST_CASE("a layer's name carries no meaning", "[properties][C020]") {
    const Json r = run("vector");
    CHECK(r["layers"][0]["flops"] == r["layers"][1]["flops"]);
    CHECK(r["layers"][0]["l2_read_bytes"] == r["layers"][1]["l2_read_bytes"]);
}

TEST_CASE("the same input gives the same bytes, and memory of kernels changes none of them", "[properties][C095][C028]") {
    const auto strip = [](const std::string& text) {
        Json json = Json::parse(text);
        json.erase("simulator");
        return json.dump();
    };
    const std::string path = source_path("tests/data/vector.yaml");
    const std::string first = strip(run_text(path));
    CHECK(first == strip(run_text(path)));
    CHECK(first == strip(run_text(path, {{}, {}, "a100-sxm4-80gb", true})));
}

TEST_CASE("causes are fractions that sum to one, layers sum to the total", "[properties][C011]") {
    const Json r = run("vector");
    double time = 0;
    for (const Json& layer : r["layers"]) {
        double sum = 0;
        for (const auto& [cause, share] : layer["causes"].items()) {
            CHECK(share.get<double>() >= 0);
            sum += share.get<double>();
        }
        CHECK(sum == Approx(1).margin(1e-9));
        CHECK(layer["time_s"].get<double>() >= layer["roofline_time_s"].get<double>());
        time += layer["time_s"].get<double>();
    }
    CHECK(time == Approx(total(r, "time_s")).epsilon(1e-12));
}

TEST_CASE("a table larger than the memory is refused, by name", "[properties][C053]") {
    const Json r =
        Json::parse(run_text(source_path("workloads/examples/embedding_100m.yaml"), with({}, {{"dram.capacity", "40 GB"}})));
    REQUIRE(r.contains("error"));
    CHECK(r["error"].get<std::string>().find("embedding table users") != std::string::npos);
    CHECK(r["error"].get<std::string>().find("deficit") != std::string::npos);
}

TEST_CASE("a warm table that fits the L2 is read from HBM once", "[properties][C055]") {
    const Json cold = run("gather", {{{"rows", "20000"}, {"batch", "4096"}}});  // 10.24 MB of a 40 MiB L2
    CHECK(total(cold, "hbm_read_bytes") <= 1.02 * (20000 * 512 + 4096 * 16 * 8));
}
