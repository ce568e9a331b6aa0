#include "sim/core/error.h"
#include "sim/stats/cause.h"
#include "tests/catch.h"
#include "tests/stats/results.h"

using namespace rafter;
using stats::Cause;

TEST_CASE("a breakdown charges every femtosecond once", "[stats]") {
    stats::Breakdown b(Femtoseconds{100});
    b.charge(Femtoseconds{130}, Cause::launch);
    b.charge(Femtoseconds{130}, Cause::tensor);
    b.charge(Femtoseconds{200}, Cause::tensor);
    b.charge(Femtoseconds{250}, Cause::launch);
    CHECK(b.times()[static_cast<std::size_t>(Cause::launch)].value == 80);
    CHECK(b.times()[static_cast<std::size_t>(Cause::tensor)].value == 70);
    CHECK(b.accounted().value == 250);
}

TEST_CASE("time charged twice is our mistake", "[stats]") {
    stats::Breakdown b;
    b.charge(Femtoseconds{10}, Cause::fma);
    CHECK_THROWS_AS(b.charge(Femtoseconds{9}, Cause::fma), InternalError);
}

TEST_CASE("totals are sums over layers", "[stats]") {
    const auto r = test::two_layers();
    CHECK(r.total_time() == test::us(30));
    CHECK(static_cast<std::uint64_t>(r.total_macs()) == 4'000'000);
    CHECK(static_cast<std::uint64_t>(r.total_flops()) == 9'000'000);
    CHECK(r.total_traffic().hbm_read.value == 660'000);
    CHECK((r.total_traffic() * 3).l2_write.value == 3 * 440'000);
}

TEST_CASE("FLOP totals beyond 2^63 stay positive", "[stats]") {  // C007
    auto r = test::two_layers();
    for (auto& l : r.layers) l.flops = static_cast<Count>(9'000'000'000'000'000'000ULL);
    CHECK(static_cast<double>(r.total_flops()) == Approx(1.8e19));
}
