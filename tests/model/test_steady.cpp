#include "sim/model/steady.h"
#include "sim/model/tag_array.h"
#include "tests/catch.h"

using rafter::Bytes;
using rafter::model::agree;
using rafter::model::choose_cut;
using rafter::model::Fs;
using rafter::model::TagArray;
using rafter::model::Tally;
using rafter::model::Trend;
using rafter::model::Trust;

namespace {

/// After `n` windows of 100 steps, 1000 lines and 10^6 fs each.
Tally after(std::int64_t n) {
    Tally t;
    t.clock = t.time = n * 1'000'000;
    t.progress = n * 100;
    t.lines = n * 1000;
    return t;
}

}  // namespace

TEST_CASE("stretches agree to half a percent", "[model][steady]") {
    const Tally a = after(1);
    Tally b = a;
    b.time += 4'900;
    CHECK(agree(a, b));
    b.time += 200;
    CHECK_FALSE(agree(a, b));
    b = a;
    b.fills = 6;  // of 1000 requests
    CHECK_FALSE(agree(a, b));
}

TEST_CASE("a trend settles when the latest windows are alike, and not while they drift", "[model][steady]") {
    Trend trend;
    for (int i = 0; i <= 2; ++i) trend.mark(after(i));
    CHECK_FALSE(trend.settled(8, {}));
    CHECK(trend.settled(4, {}));  // they are equal
    REQUIRE(trend.settled(2, {}));
    CHECK(trend.settled(2, {})->tally.time == 2'000'000);
    Trend drifting;
    for (int i = 0; i <= 12; ++i) {
        Tally t = after(i);
        t.time += i * i * 10'000;  // each window takes 1 % longer than the one before
        drifting.mark(t);
    }
    CHECK_FALSE(drifting.settled(2, {}));
}

TEST_CASE("one window is enough when a sample from before is known and agrees", "[model][steady]") {
    Trend trend;
    trend.mark(after(0));
    trend.mark(after(1));
    CHECK_FALSE(trend.settled(2, {}));
    REQUIRE(trend.settled(2, {after(4), 4}));
    CHECK(trend.settled(2, {after(4), 4})->tally.time == 5'000'000);
    CHECK(trend.settled(2, {after(4), 4})->windows == 5);
}

TEST_CASE("trust doubles with every sample that agrees and halves with one that does not", "[model][steady]") {
    Trust trust(6);
    trust.use({after(1), 1});
    CHECK(trust.reach() == 6);
    trust.use({after(3), 3});
    CHECK(trust.reach() == 12);
    Tally slow = after(1);
    slow.time *= 2;
    trust.use({slow, 1});
    CHECK(trust.reach() == 6);
}

TEST_CASE("a cut keeps the last wave as full as it was", "[model][steady]") {
    CHECK(choose_cut(1000, 1, 108) == 972);       // 9 rounds of 108
    CHECK(choose_cut(1000, 8, 108) == 864);       // 8 rounds: 108 periods of 8; 972 is 121.5 of them
    CHECK(choose_cut(100, 8, 108) == 0);          // less than a round
    CHECK(choose_cut(20000, 100, 108) == 18900);  // lcm: 2700
    CHECK(choose_cut(1 << 20, 10, 108) % 540 == 0);
}

TEST_CASE("a scaled tally is exact in 128 bits", "[model][steady]") {
    Tally t;
    t.time = 4'000'000'000'000'000;
    t.traffic.l2_read = Bytes(3);
    const Tally part = t.scaled(1'000'003, 1'000);
    CHECK(part.time == 4'000'012'000'000'000'000);
    CHECK(part.traffic.l2_read.value == 3000);
}

TEST_CASE("ageing replaces the lines used least recently, and nothing used since", "[model][steady]") {
    constexpr Fs kMicrosecond = 1'000'000'000;
    TagArray tags(4, 4);  // one set
    tags.write(1, 0xF, 1 * kMicrosecond);
    tags.read(2, 0xF, 2 * kMicrosecond);
    tags.read(3, 0xF, 3 * kMicrosecond);
    tags.read(4, 0xF, 4 * kMicrosecond);
    const auto aged = tags.age({3, 0, 3 * kMicrosecond, 5 * kMicrosecond});
    CHECK(aged.replaced == 2);
    CHECK(aged.written_sectors == 4);
    CHECK(tags.read(3, 0xF, 6 * kMicrosecond).missing == 0);
    CHECK(tags.read(4, 0xF, 6 * kMicrosecond).missing == 0);
    std::int64_t held = 0;
    tags.for_each([&](std::uint64_t line, auto, auto dirty) {
        ++held;
        CHECK((line == 3 || line == 4));  // what entered takes after them
        CHECK(dirty == 0);
    });
    CHECK(held == 4);
    CHECK(tags.read(1, 0xF, 7 * kMicrosecond).missing == 0xF);
    CHECK(tags.fills() == 5);
}
