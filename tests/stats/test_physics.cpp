// check_physics accepts a sound result and names the layer and the law of every broken one.
#include "sim/stats/physics.h"

#include "sim/core/error.h"
#include "tests/catch.h"
#include "tests/stats/results.h"

using namespace rafter;
using namespace rafter::test;

namespace {

std::string broken(const stats::RunResult& result) {
    try {
        stats::check_physics(result);
    } catch (const InternalError& e) {
        return e.what();
    }
    return "";
}

}  // namespace

TEST_CASE("a sound result passes", "[stats]") { CHECK(broken(two_layers()) == ""); }

TEST_CASE("faster than the roofline", "[stats]") {
    auto r = two_layers();
    r.layers[0].roofline_time = us(11);
    CHECK(broken(r) ==
          "internal error: layer fc of phase forward breaks physics: 10000000000 fs is less than max(flops / peak, bytes / "
          "bandwidth) = "
          "11000000000 fs");
}

TEST_CASE("a femtosecond lost from the causes", "[stats]") {
    auto r = two_layers();
    r.layers[1].causes[0].value += 1;
    CHECK(broken(r) ==
          "internal error: layer scale of phase forward breaks physics: its causes do not sum to the elapsed time of all SMs");
}

TEST_CASE("a negative cause that keeps the sum", "[stats]") {
    auto r = two_layers();
    r.layers[0].causes[0].value += 5;
    r.layers[0].causes[1].value -= 5;
    CHECK(broken(r) == "internal error: layer fc of phase forward breaks physics: a cause has negative time");
}

TEST_CASE("kernels are held to the same laws", "[stats]") {
    auto r = two_layers();
    r.layers[0].kernels[0].parallelism.occupancy = 1.5;
    CHECK(broken(r) == "internal error: kernel fc_kernel of layer fc breaks physics: occupancy 1.5 is outside 0..1");
    r = two_layers();
    r.layers[0].kernels[0].launch = us(11);
    CHECK(broken(r) == "internal error: kernel fc_kernel of layer fc breaks physics: the launch takes longer than the kernel");
}

TEST_CASE("more from the DRAM than was asked of the L2", "[stats]") {
    auto r = two_layers();
    // 160,000 B asked of the L2 in 32 B sectors may fetch 64 B each
    r.layers[0].traffic.hbm_read = Bytes(2 * 160'000);
    CHECK(broken(r) == "");
    r.layers[0].traffic.hbm_read = Bytes(2 * 160'000 + 2);
    CHECK(broken(r) ==
          "internal error: layer fc of phase forward breaks physics: 320002 B come from the DRAM, 160000 B were asked of the L2");
}

TEST_CASE("phases and kernels must sum up", "[stats]") {
    auto r = two_layers();
    r.phases[0].time = us(29);
    CHECK(broken(r) == "internal error: the run breaks physics: its phases do not sum to the total time");
    r = two_layers();
    r.layers[0].kernels.clear();
    CHECK(broken(r) == "internal error: layer fc of phase forward breaks physics: its kernels do not sum to its time");
}

TEST_CASE("more busy SMs than there are", "[stats]") {
    auto r = two_layers();
    r.layers[0].parallelism.busy_sms = 2.5;
    CHECK(broken(r) == "internal error: layer fc of phase forward breaks physics: 2.5 busy SMs of 2");
}
