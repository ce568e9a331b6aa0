#include <algorithm>
#include <vector>

#include "sim/model/placement.h"
#include "tests/catch.h"

using namespace rafter::model;

namespace {

struct Tags {
    std::vector<TagArray> arrays;
    Placement placement;
    Tags(std::uint64_t slices, std::uint64_t partitions) : arrays(slices, TagArray(1024, 16)), placement(slices, partitions) {
        for (std::size_t i = 0; i < slices; ++i) placement.watch(i, arrays[i]);
    }
};

}  // namespace

TEST_CASE("a line has one home, and its copies lie at the same place of the other partitions", "[model][l2]") {
    const Tags tags(80, 2);
    for (std::uint64_t line = 0; line < 20'000; ++line) {
        const auto here = tags.placement.decode(line, 0), there = tags.placement.decode(line, 1);
        REQUIRE(here.home == there.home);
        REQUIRE(tags.placement.partition(here.near) == 0);
        REQUIRE(tags.placement.partition(there.near) == 1);
        REQUIRE((here.near == here.home) != (there.near == there.home));
        REQUIRE(here.local == there.local);
        for (const auto slice : {here.near, there.near}) REQUIRE(tags.placement.line(slice, here.local) == line);
        REQUIRE(tags.placement.is_home(here.home, here.local));
        REQUIRE_FALSE(tags.placement.is_home(here.home == here.near ? there.near : here.near, here.local));
    }
}

TEST_CASE("homes are balanced over the partitions within 5 %", "[model][l2]") {
    const Tags tags(48, 2);
    for (const std::uint64_t stride : {1ULL, 64ULL, 4096ULL}) {
        std::int64_t first = 0;
        constexpr std::int64_t kLines = 100'000;
        for (std::int64_t i = 0; i < kLines; ++i)
            first += tags.placement.partition(tags.placement.decode(static_cast<std::uint64_t>(i) * stride).home) == 0 ? 1 : 0;
        CHECK(first >= kLines / 2 * 95 / 100);
        CHECK(first <= kLines / 2 * 105 / 100);
    }
}

TEST_CASE("without partitions a line has one place, whoever asks", "[model][l2]") {
    const Tags tags(30, 1);
    for (std::uint64_t line = 0; line < 1000; ++line) {
        const auto spot = tags.placement.decode(line);
        REQUIRE(spot.near == spot.home);
        REQUIRE(tags.placement.line(spot.home, spot.local) == line);
        REQUIRE(tags.placement.is_home(spot.home, spot.local));
    }
}

TEST_CASE("a dropped line is not there, and nothing is written back", "[model][l2]") {
    TagArray tags(64, 4);
    CHECK(tags.read(7, kAllSectors, 0).missing == kAllSectors);
    CHECK(tags.read(7, kAllSectors, 1000).missing == 0);
    tags.drop(tags.locate(7));
    tags.drop(tags.locate(8));  // was never there
    CHECK(tags.read(7, kAllSectors, 2000).missing == kAllSectors);
}
