#include "sim/model/tag_array.h"
#include "tests/catch.h"

using rafter::model::Fs;
using rafter::model::TagArray;

namespace {
constexpr Fs kMicrosecond = 1'000'000'000;
}

TEST_CASE("a line is missing once, and only the sectors not held", "[model]") {
    TagArray tags(64, 4);
    CHECK(tags.read(5, 0b0011, 0).missing == 0b0011);
    CHECK(tags.read(5, 0b0111, kMicrosecond).missing == 0b0100);
    CHECK(tags.read(5, 0b0111, 2 * kMicrosecond).missing == 0);
}

TEST_CASE("a fetch brings whole granules", "[model]") {
    TagArray tags(64, 4, 2);
    CHECK(tags.read(1, 0b0001, 0).missing == 0b0011);
    CHECK(tags.read(1, 0b0010, 0).missing == 0);
    CHECK(tags.read(1, 0b0110, 0).missing == 0b1100);
}

TEST_CASE("the least recently used line of a set is evicted, with its dirty sectors", "[model]") {
    TagArray tags(2, 2);  // one set of two ways
    tags.write(10, 0b1000, 1 * kMicrosecond);
    tags.read(20, 0b0001, 2 * kMicrosecond);
    tags.read(20, 0b0001, 3 * kMicrosecond);
    const auto outcome = tags.read(30, 0b0001, 4 * kMicrosecond);
    CHECK(outcome.evicted_dirty == 0b1000);
    CHECK(outcome.victim == 10);
    CHECK(tags.read(20, 0b0001, 5 * kMicrosecond).missing == 0);
}

TEST_CASE("a hit under a miss waits for the fetch: not ready before, ready after", "[model]") {
    TagArray tags(64, 4);
    tags.read(7, 0b0001, 0);
    tags.set_ready(kMicrosecond);
    const auto early = tags.read(7, 0b0001, kMicrosecond / 2);
    CHECK(early.ready >= kMicrosecond);
    CHECK(early.ready <= kMicrosecond + 4'000'000);
    CHECK(tags.read(7, 0b0001, kMicrosecond + 4'000'000).ready == 0);
}

TEST_CASE("no capacity is legal: everything misses", "[model]") {
    TagArray tags(0, 16);
    CHECK(tags.read(1, 0b1111, 0).missing == 0b1111);
    CHECK(tags.read(1, 0b1111, 0).missing == 0b1111);
    CHECK(tags.write(1, 0b0011, 0).evicted_dirty == 0b0011);
}

TEST_CASE("any number of sets and ways holds its capacity", "[model]") {
    for (const std::int64_t ways : {1, 3, 5, 16, 20, 24}) {
        for (const std::int64_t sets : {1, 7, 30, 256}) {
            TagArray tags(ways * sets, ways);
            for (std::uint64_t line = 0; line < static_cast<std::uint64_t>(ways * sets); ++line)
                tags.read(line, 0xF, static_cast<Fs>(line) * kMicrosecond);
            int held = 0;
            tags.for_each([&](std::uint64_t, auto, auto) { ++held; });
            INFO(ways << " ways, " << sets << " sets");
            CHECK(held == ways * sets);
        }
    }
}
