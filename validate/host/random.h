// Random values as a pure function of (seed, index): the device fills a tensor of any size with them, and the host computes only
// those a reference needs.
#pragma once

#include <cstdint>

#include "validate/twins/parameters.h"

namespace rafter::validate {

/// splitmix64's finaliser over a Weyl sequence.
RAFTER_HOST_DEVICE constexpr std::uint64_t random_bits(std::uint64_t seed, std::uint64_t index) {
    std::uint64_t z = seed + (index + 1) * 0x9E3779B97F4A7C15ULL;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ULL;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBULL;
    return z ^ (z >> 31);
}

/// Uniform in [-scale, scale), 24 bits. A scale that is a power of two is exact, so host and device agree before they round.
RAFTER_HOST_DEVICE constexpr float random_value(std::uint64_t seed, std::uint64_t index, float scale) {
    const auto top = static_cast<std::int32_t>(random_bits(seed, index) >> 40);  // 24 bits
    return static_cast<float>(top - 0x800000) * 0x1.0p-23F * scale;
}

}  // namespace rafter::validate
