#include <algorithm>
#include <vector>

#include "sim/model/divider.h"
#include "tests/catch.h"

using rafter::model::Divider;
using rafter::model::Interleave;
using rafter::mix;

TEST_CASE("division by reciprocal is exact", "[model]") {
    for (const std::uint64_t d : {1ULL, 2ULL, 3ULL, 5ULL, 7ULL, 40ULL, 80ULL, 96ULL, 4095ULL, 65537ULL}) {
        const Divider by(d);
        for (std::uint64_t i = 0; i < 2000; ++i) {
            const std::uint64_t n = mix(i) >> (1 + i % 50);
            REQUIRE(by.quotient(n) == n / d);
            REQUIRE(by.remainder(n) == n % d);
        }
    }
}

TEST_CASE("traffic is balanced within 5 % over any number of places, sequential, strided and random", "[model]") {
    for (const std::uint64_t places : {1ULL, 3ULL, 5ULL, 10ULL, 12ULL, 40ULL, 80ULL, 96ULL}) {
        const Interleave over(places);
        for (const std::uint64_t stride : {1ULL, 64ULL, 4096ULL, 0ULL}) {
            std::vector<double> hits(places, 0);
            constexpr std::uint64_t kUnits = 4'000'000;
            for (std::uint64_t i = 0; i < kUnits; ++i) ++hits[over(stride == 0 ? mix(i) >> 20 : i * stride).place];
            const double even = static_cast<double>(kUnits) / static_cast<double>(places);
            INFO(places << " places, stride " << stride);
            CHECK(*std::max_element(hits.begin(), hits.end()) <= 1.05 * even);
            CHECK(*std::min_element(hits.begin(), hits.end()) >= 0.95 * even);
        }
    }
}

TEST_CASE("unit() inverts the interleaving", "[model]") {
    for (const std::uint64_t places : {1ULL, 7ULL, 80ULL}) {
        const Interleave over(places);
        for (std::uint64_t i = 0; i < 10'000; ++i) {
            const auto spot = over(i * 37);
            REQUIRE(over.unit(spot.place, spot.local) == i * 37);
        }
    }
}
