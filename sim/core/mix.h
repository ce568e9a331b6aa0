// The hash of the project.
#pragma once

#include <cstdint>

namespace rafter {

/// A well-mixed 64-bit hash (the finaliser of splitmix64, public domain, S. Vigna).
constexpr std::uint64_t mix(std::uint64_t x) {
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ULL;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebULL;
    return x ^ (x >> 31);
}

/// Number `k` of the random stream `stream`: splitmix64 started at a hash of it.
constexpr std::uint64_t mix(std::uint64_t stream, std::uint64_t k) {
    constexpr std::uint64_t kGolden = 0x9e3779b97f4a7c15ULL;
    return mix(mix(stream + kGolden) + (k + 1) * kGolden);
}

}  // namespace rafter
