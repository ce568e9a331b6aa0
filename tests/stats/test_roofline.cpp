#include "sim/stats/roofline.h"

#include "tests/catch.h"
#include "tests/stats/results.h"

using namespace rafter;
using namespace rafter::test;
using stats::Bound;
using stats::Cause;

TEST_CASE("ridge, intensity and bound times of a compute layer", "[stats]") {
    const auto l = compute_layer();
    CHECK(l.arithmetic_intensity == Approx(80.0));  // 8e6 / 1e5
    CHECK(l.ridge_point == Approx(10.0));           // 1e12 / 1e11
    CHECK(l.roofline_time == us(8));                // 8e6 / 1e12 > 1e5 / 1e11
    CHECK(l.compulsory_time == us(8));
    CHECK(l.bound == Bound::compute);
    CHECK(l.reuse_l1 == Approx((240'000 + 40'000) / (120'000.0 + 40'000)));
    CHECK(l.reuse_l2 == Approx((120'000 + 40'000) / (60'000.0 + 40'000)));
    CHECK(l.sentence == "compute-bound: 80.0 FLOP/byte is right of the ridge at 10.0; 80 % of SM time computes on tensor cores");
}

TEST_CASE("the sentence of a memory layer", "[stats]") {
    CHECK(memory_layer().sentence ==
          "memory-bound: 1.0 FLOP/byte is left of the ridge at 10.0; 91 % of SM time waits on HBM bandwidth");
}

TEST_CASE("roofline time follows the bytes moved, compulsory time the algorithm's", "[stats]") {
    auto l = memory_layer();
    l.traffic.hbm_read = Bytes(400'000);  // half of it stayed in the L2
    l.traffic.hbm_write = Bytes(100'000);
    stats::finish_layer(l, round_gpu());
    CHECK(l.roofline_time == us(5));
    CHECK(l.compulsory_time == us(10));
}

TEST_CASE("a launch-bound layer left of the ridge says yet", "[stats]") {
    auto l = layer("tiny", us(10), causes({{Cause::launch, us(16)}, {Cause::idle, us(4)}}));
    set_work(l, 500, 1000, 1000, 1000);
    stats::finish_layer(l, round_gpu());
    CHECK(l.bound == Bound::launch);
    CHECK(l.sentence ==
          "launch-bound: 0.5 FLOP/byte is left of the ridge at 10.0, yet 80 % of SM time waits for a kernel launch, 20 % never "
          "got a CTA");
}

TEST_CASE("a layer without FLOPs is not placed on the roofline", "[stats]") {
    auto l = layer("gather", us(10), causes({{Cause::hbm_latency, us(12)}, {Cause::hbm_bandwidth, us(8)}}));
    set_work(l, 0, 0, 1000, 1000);
    stats::finish_layer(l, round_gpu());
    CHECK(l.arithmetic_intensity == 0);
    CHECK(l.bound == Bound::memory_latency);
    CHECK(l.sentence ==
          "latency-bound: it moves bytes and computes nothing, yet 60 % of SM time waits on HBM latency, 40 % waits on HBM "
          "bandwidth");
}

TEST_CASE("the cause named first belongs to the bound", "[stats]") {
    // launch is the largest single cause, but the two memory causes together outweigh it
    auto l = layer("mix", us(10), causes({{Cause::launch, us(8)}, {Cause::hbm_bandwidth, us(7)}, {Cause::l2_bandwidth, us(5)}}));
    set_work(l, 500, 1000, 1000, 1000);
    stats::finish_layer(l, round_gpu());
    CHECK(l.bound == Bound::memory_bandwidth);
    CHECK(l.sentence ==
          "memory-bound: 0.5 FLOP/byte is left of the ridge at 10.0; 35 % of SM time waits on HBM bandwidth, 25 % waits on L2 "
          "bandwidth");
}

TEST_CASE("a layer on vector lanes in fp32 has the vector roof", "[stats]") {
    auto l = memory_layer();
    l.kernels[0].tensor = false;
    l.dtype = DType::fp32;
    CHECK(stats::peak_flops(round_gpu(), l) == Approx(100e9));
    CHECK(stats::ridge_point(round_gpu(), l) == Approx(1.0));
}

TEST_CASE("every cause counts towards one bound", "[stats]") {
    const std::vector<std::pair<Cause, Bound>> table{
        {Cause::tensor, Bound::compute},
        {Cause::fma, Bound::compute},
        {Cause::sfu, Bound::compute},
        {Cause::shared_memory, Bound::compute},
        {Cause::l1, Bound::memory_bandwidth},
        {Cause::crossbar, Bound::memory_bandwidth},
        {Cause::l2_bandwidth, Bound::memory_bandwidth},
        {Cause::l2_latency, Bound::memory_latency},
        {Cause::hbm_bandwidth, Bound::memory_bandwidth},
        {Cause::link, Bound::memory_bandwidth},
        {Cause::hbm_latency, Bound::memory_latency},
        {Cause::dependency, Bound::dependency},
        {Cause::barrier, Bound::dependency},
        {Cause::launch, Bound::launch},
        {Cause::tail, Bound::parallelism},
        {Cause::idle, Bound::parallelism},
    };
    CHECK(table.size() == stats::kCauses);
    for (const auto& [cause, bound] : table) {
        INFO(stats::name(cause));
        CHECK(stats::bound_of(cause) == bound);
        CHECK(stats::classify(causes({{cause, us(1)}})) == bound);
        CHECK_FALSE(stats::description(cause).empty());
    }
}

TEST_CASE("shares are sorted and sum to one", "[stats]") {
    const auto shares = stats::cause_shares(compute_layer().causes);
    REQUIRE(shares.size() == 3);
    CHECK(shares[0].first == Cause::tensor);
    CHECK(shares[2].first == Cause::tail);
    CHECK(shares[0].second + shares[1].second + shares[2].second == Approx(1.0));
    CHECK(stats::cause_shares(stats::CauseTimes{}).empty());
}
