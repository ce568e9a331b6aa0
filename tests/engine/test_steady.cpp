// What is left out in steady states against simulating all of it: within 1 %. docs/model/steady.md.
#include <cmath>

#include "tests/support.h"

using rafter::test::Json;
using rafter::test::run;
using rafter::test::Settings;

namespace {

/// Runs both ways; at least `left_out` of the line requests must have been left out.
void check(const std::string& workload, const std::string& gpu, const Settings& dims, double left_out, double tolerance = 0.01) {
    const Json steady = run(workload, {dims, {}, gpu, false}), exact = run(workload, {dims, {}, gpu, true});
    const auto total = [](const Json& r, const char* key) { return r["totals"][key].get<double>(); };
    INFO(workload << " on " << gpu);
    CHECK(exact["simulator"]["simulated_line_share"].get<double>() == 1.0);
    CHECK(steady["simulator"]["simulated_line_share"].get<double>() <= 1.0 - left_out);
    CHECK(total(steady, "time_s") == Approx(total(exact, "time_s")).epsilon(tolerance));
    CHECK(total(steady, "flops") == total(exact, "flops"));
    for (const char* level : {"l1_read_bytes", "l1_write_bytes", "l2_read_bytes", "l2_write_bytes"})
        CHECK(total(steady, level) == Approx(total(exact, level)).epsilon(tolerance));
}

}  // namespace

TEST_CASE("steady: a large product", "[steady]") {
    check("gemm", "a100-sxm4-80gb", {}, 0.3);
    check("gemm", "t4", {}, 0.3);
    check("gemm", "h100-sxm5-80gb", {{"k", "8192"}}, 0.1, 0.04);  // copies between the partitions settle slowly
}

TEST_CASE("steady: a product of few outputs and a long sum", "[steady]") {
    check("gemm", "a100-sxm4-80gb", {{"m", "1024"}, {"n", "8"}, {"k", "300000"}}, 0.4);
    check("gemm", "h100-sxm5-80gb", {{"m", "1024"}, {"n", "8"}, {"k", "500000"}}, 0.2, 0.02);
}

TEST_CASE("steady: a convolution", "[steady]") {
    check("conv", "a100-sxm4-80gb", {{"batch", "1024"}, {"channels", "64"}, {"filters", "64"}}, 0.3);
    check("conv", "t4", {{"batch", "128"}}, 0.25, 0.03);
}

TEST_CASE("steady: attention over a prompt", "[steady]") {
    check("prefill", "a100-sxm4-80gb", {}, 0.2);
    check("prefill_full", "a100-sxm4-80gb", {}, 0.3);
}

TEST_CASE("steady: attention over a cache", "[steady]") { check("cache", "t4", {}, 0.3); }

TEST_CASE("steady: look-ups", "[steady]") { check("gather", "t4", {{"batch", "65536"}}, 0.3); }

TEST_CASE("steady: streams", "[steady]") {
    check("copy", "t4", {{"elements", "67108864"}}, 0.5, 0.035);  // half a wave of loads more or less
    check("copy", "h100-sxm5-80gb", {{"elements", "268435456"}}, 0.3);
    check("norm", "a100-sxm4-80gb", {}, 0.4);
    check("norm", "t4", {{"rows", "32768"}}, 0.4);
}

TEST_CASE("steady: what is left out does not make lanes that are always busy faster than their peak", "[steady]") {
    // 100 % of the FMA lanes for 28 ms: an estimate 0.02 % too short would break physics, and the run would fail.
    const Json r = run("gemm", {{{"m", "65536"}, {"n", "4096"}, {"k", "1024"}, {"dtype", "fp32"}}, {}, "a100-pcie-80gb", false});
    CHECK(r["simulator"]["simulated_line_share"].get<double>() < 0.5);
    CHECK(r["totals"]["time_s"].get<double>() >= 2.0 * 65536 * 4096 * 1024 / (2.0 * 64 * 108 * 1.41e9));
}
