// The governor by itself: energies that add up, a clock that no more power than the limit is drawn at.
#include <cmath>

#include "sim/model/power_governor.h"
#include "tests/catch.h"

using namespace rafter;
using namespace rafter::model;

namespace {

Hertz mhz(std::int64_t n) { return Hertz(n * 1'000'000); }

/// 1500 MHz at the reference; 50 W that are always drawn, 20 W of clocks, 1 pJ a FLOP.
config::Power board(std::int64_t limit) {
    config::Power p;
    p.limit_w = limit, p.static_w = 50, p.clock_w = 20;
    p.reference = mhz(1500);
    p.voltage_per_ghz = 0.6, p.voltage_min = 0.75;
    p.clock_step = mhz(15), p.clock_min = mhz(210);
    p.window = Femtoseconds(30'000'000'000'000);
    p.zeros_activity = 0.5;
    p.tensor_flop_j[DType::fp16] = 1e-12;
    p.fp64_flop_j = 8e-12, p.fp32_flop_j = 4e-12, p.fp16_flop_j = 2e-12, p.lane_operation_j = 3e-12;
    p.l1_byte_j = 10e-12, p.l2_byte_j = 40e-12, p.dram_byte_j = 100e-12, p.link_byte_j = 60e-12;
    return p;
}

/// A product of 300 TFLOP/s at 1500 MHz for a second, and 0.5 TB of DRAM.
Sample product(Hertz clock, double share = 1.0, Hertz top = mhz(1500)) {
    Part part;
    part.top = top;
    const double stretch = 1500e6 / static_cast<double>(std::min(top, clock).value);
    part.seconds = 1 - share + share * stretch;
    part.core_joules = 300;
    part.fixed_joules = 50;
    part.share = 1;  // what the causes say; two runs know better
    Sample sample;
    sample.clock = clock;
    sample.parts = {part};
    return sample;
}

struct Found {
    Hertz clock;
    double watts;
    int runs;
};

/// Searches as the engine does, on a machine whose time stretches by `share`.
Found search(const config::Power& power, double share = 1.0) {
    ClockSearch search(PowerModel(power, 1.0), mhz(1500));
    Hertz clock = mhz(1500);
    int runs = 1;
    for (auto next = search.next(product(clock, share)); next; next = search.next(product(clock, share))) clock = *next, ++runs;
    return {search.found(), search.watts(product(search.found(), share)), runs};
}

Activity work() {
    Activity w;
    w.time = Femtoseconds(1'000'000'000'000'000), w.clock = mhz(1500);
    w.tensor_flops = 200e12, w.dtype = DType::fp16;
    w.lanes = {1'000'000'000'000, 2'000'000'000'000, 3'000'000'000'000, 4'000'000'000'000};
    w.traffic.l1_read = Bytes(5'000'000'000'000), w.traffic.l2_write = Bytes(1'000'000'000'000);
    w.traffic.hbm_read = Bytes(800'000'000'000), w.traffic.link_read = Bytes(20'000'000'000);
    return w;
}

}  // namespace

TEST_CASE("voltage falls with the clock down to its floor", "[power]") {
    const auto p = board(300);
    const PowerModel model(p, 1.0);
    CHECK(model.voltage(mhz(1500)) == Approx(1.0));
    CHECK(model.voltage(mhz(1400)) == Approx(0.94));
    CHECK(model.voltage(mhz(210)) == Approx(0.75));
    CHECK(model.voltage(mhz(1600)) == Approx(1.06));
}

TEST_CASE("energies are counts times energies, and add up", "[power]") {
    const auto p = board(300);
    const auto e = PowerModel(p, 1.0).energy(work());
    CHECK(e.static_j == Approx(50));
    CHECK(e.clock_j == Approx(20));
    CHECK(e.tensor_j == Approx(200));
    CHECK(e.vector_j == Approx(8 * 1 + 4 * 2 + 2 * 3 + 3 * 4));
    CHECK(e.l1_j == Approx(50));
    CHECK(e.l2_j == Approx(40));
    CHECK(e.dram_j == Approx(80));
    CHECK(e.link_j == Approx(1.2));
    CHECK(e.total() == Approx(50 + 20 + 200 + 34 + 50 + 40 + 80 + 1.2));
    auto twice = e;
    twice += e;
    CHECK(twice.total() == Approx((e * 2).total()));
}

TEST_CASE("constant operands and lower voltages cost what switches less, and nothing else", "[power]") {
    const auto p = board(300);
    const auto random = PowerModel(p, 1.0).energy(work()), zeros = PowerModel(p, p.zeros_activity).energy(work());
    CHECK(zeros.tensor_j == Approx(random.tensor_j / 2));
    CHECK(zeros.l2_j == Approx(random.l2_j / 2));
    CHECK(zeros.dram_j == random.dram_j);
    CHECK(zeros.clock_j == random.clock_j);
    auto slow = work();
    slow.clock = mhz(1000);
    const auto lower = PowerModel(p, 1.0).energy(slow);
    CHECK(lower.tensor_j == Approx(random.tensor_j * 0.75 * 0.75));
    CHECK(lower.dram_j == random.dram_j);
    CHECK(lower.static_j == random.static_j);
}

TEST_CASE("what is below the limit runs at the top clock, in one run", "[power]") {
    const auto found = search(board(1000));
    CHECK(found.clock == mhz(1500));
    CHECK(found.runs == 1);
}

TEST_CASE("the clock found is the highest within the limit", "[power]") {
    for (const double share : {1.0, 0.6, 0.2}) {
        for (const std::int64_t limit : {150, 200, 250, 300, 350, 400}) {
            const auto p = board(limit);
            const auto found = search(p, share);
            INFO("limit " << limit << ", share " << share << ", clock " << found.clock.value);
            CHECK(found.watts <= static_cast<double>(limit));
            CHECK(found.runs <= 7);
            if (found.clock >= mhz(1500)) continue;
            const ClockSearch fresh(PowerModel(p, 1.0), mhz(1500));
            CHECK(fresh.watts(product(found.clock + mhz(15), share)) > static_cast<double>(limit));
            CHECK((mhz(1500).value - found.clock.value) % mhz(15).value == 0);
        }
    }
}

TEST_CASE("a higher limit is never a lower clock", "[power]") {
    Hertz before{};
    for (std::int64_t limit = 60; limit <= 500; limit += 10) {
        const auto found = search(board(limit));
        CHECK(found.clock >= before);
        CHECK(found.clock <= mhz(1500));
        CHECK(found.clock >= mhz(210));
        before = found.clock;
    }
    CHECK(before == mhz(1500));
}

TEST_CASE("a limit that cannot be held ends at the least clock", "[power]") {
    const auto found = search(board(55));
    CHECK(found.clock == mhz(210));
    CHECK(found.watts > 55);
}

TEST_CASE("kernels that cannot use the top clock are not slowed before it has come down to theirs", "[power]") {
    const auto p = board(380);
    const ClockSearch search(PowerModel(p, 1.0), mhz(1500));
    const auto sample = product(mhz(1500), 1.0, mhz(1200));
    CHECK(search.watts_at(sample, mhz(1500)) == Approx(search.watts_at(sample, mhz(1200))));
    CHECK(search.watts_at(sample, mhz(1100)) < search.watts_at(sample, mhz(1200)));
}

TEST_CASE("a short loop ends before the average reaches the limit", "[power]") {
    const auto p = board(300);
    CHECK(std::isinf(free_seconds(p, 300)));
    CHECK(free_seconds(p, 400) == Approx(0.030 * std::log(350.0 / 100.0)));
    Loop loop{10, 0.001, 0.0012, 400, mhz(1500), mhz(1200)};
    CHECK(average_clock(p, loop) == mhz(1500));
    loop.passes = 100;
    const Hertz some = average_clock(p, loop);
    CHECK(some < mhz(1500));
    CHECK(some > mhz(1200));
    loop.passes = 1e6;
    CHECK(average_clock(p, loop) <= mhz(1215));
    CHECK(average_clock(p, loop) >= mhz(1200));
}
