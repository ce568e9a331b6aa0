// Closed forms a run must meet. Expected values are derived in the comments.
#include "tests/support.h"

using rafter::test::Json;
using rafter::test::run;
using rafter::test::Setup;
using rafter::test::time_of;

namespace {

/// A100: 108 SMs x 2048 FLOP/clk x 1.41 GHz.
constexpr double kPeak = 108 * 2048 * 1.41e9;
/// 80 channels x 64 bit x 3.186 Gbit/s / 8.
constexpr double kBandwidth = 80 * 64 * 3.186e9 / 8;

}  // namespace

TEST_CASE("a large fp16 product reaches 85 to 97 % of the A100's peak", "[limits]") {
    const Json r = run("gemm", {{{"m", "4096"}, {"n", "4096"}, {"k", "8192"}}});
    const double fraction = r["totals"]["flops"].get<double>() / r["totals"]["time_s"].get<double>() / kPeak;
    CHECK(fraction >= 0.85);
    CHECK(fraction <= 0.97);
}

TEST_CASE("a 1 GiB copy reaches 80 to 95 % of the HBM peak", "[limits]") {
    // 2^28 fp16 values read and written: 2 x 512 MiB.
    const Json r = run("copy");
    const double fraction = 2 * 268435456.0 * 2 / r["totals"]["time_s"].get<double>() / kBandwidth;
    CHECK(fraction >= 0.80);
    CHECK(fraction <= 0.95);
}

TEST_CASE("M = 129 costs no less than 128 and no more than 256, and counts its own FLOPs", "[limits][C001]") {
    const Json at128 = run("gemm", {{{"m", "128"}}}), at129 = run("gemm", {{{"m", "129"}}}),
               at256 = run("gemm", {{{"m", "256"}}});
    const auto time = [](const Json& r) { return r["totals"]["time_s"].get<double>(); };
    CHECK(time(at129) >= time(at128));
    CHECK(time(at129) <= 1.001 * time(at256));
    CHECK(at129["totals"]["flops"].get<std::uint64_t>() == 4328521728ULL);  // 2 x 129 x 4096 x 4096
    CHECK(at129["layers"][0]["kernels"][0]["issued_macs"].get<std::uint64_t>() >= at129["totals"]["macs"].get<std::uint64_t>());
}

TEST_CASE("GPUs with 1 or 7 SMs, 5 channels and 30 slices run", "[limits][C061]") {
    const Setup small{{{"m", "512"}, {"n", "512"}, {"k", "512"}}, {}, "a100-sxm4-80gb", false};
    for (const char* sms : {"1", "7"}) {
        Setup setup = small;
        setup.hardware = {{"sm.count", sms}, {"dram.channels", "5"}, {"l2.slices", "30"}};
        CHECK(time_of("gemm", setup) > 0);
    }
}

TEST_CASE("a GPU of one SM takes as long as its tensor cores need, and a little more", "[limits]") {
    // 2 x 512^3 FLOP at 2048 FLOP/clk x 1.41 GHz = 92.95 us.
    Setup setup{{{"m", "512"}, {"n", "512"}, {"k", "512"}}, {{"sm.count", "1"}}, "a100-sxm4-80gb", false};
    const double t = time_of("gemm", setup);
    CHECK(t >= 92.95e-6);
    CHECK(t <= 1.5 * 92.95e-6);
}

TEST_CASE("an empty kernel costs its launch: a tiny layer is launch-bound", "[limits]") {
    const Json r = run("copy", {{{"elements", "64"}}});
    CHECK(r["layers"][0]["bound"] == "launch");
    CHECK(r["totals"]["time_s"].get<double>() >= 2.6e-6);
    CHECK(r["totals"]["time_s"].get<double>() <= 2.6e-6 + 2e-6);
}

TEST_CASE("an L2 of nothing runs, with more HBM traffic", "[limits][C062]") {
    const Setup with{{{"m", "1024"}, {"n", "1024"}, {"k", "1024"}}, {}, "a100-sxm4-80gb", false};
    Setup without = with;
    without.hardware = {{"l2.capacity", "0 B"}};
    CHECK(run("gemm", without)["totals"]["hbm_read_bytes"].get<double>() >
          run("gemm", with)["totals"]["hbm_read_bytes"].get<double>());
}

TEST_CASE("two dependent loads cost the sum of their latencies", "[limits]") {
    // One look-up: an index from DRAM, then the row it names. Each load: an L2 hit's latency, 211 or 357 clk at 1.41 GHz, and 256
    // ns of DRAM beyond it, and tRP + tRCD = 28.4 ns to open the row: 434 to 538 ns. Before them the launch gap, 2600 ns; after
    // them pooling and a store of under 500 ns.
    const double t = time_of("gather", {{{"batch", "1"}, {"pooling", "1"}}, {}, "a100-sxm4-80gb", false}) - 2600e-9;
    CHECK(t >= 2 * 434e-9);
    CHECK(t <= 2 * 538e-9 + 500e-9);
}
