// How many copies of a buffer keep a cache cold.
#pragma once

#include <cstdint>
#include <optional>

namespace rafter::validate {

/// The least count, at least two, for which the other copies exceed twice the L2: between two uses of one copy more than that
/// has passed. None when `budget` bytes do not hold them, or it takes more than 4096.
constexpr std::optional<int> rotating_copies(std::int64_t bytes, std::int64_t l2_bytes, std::int64_t budget) {
    constexpr std::int64_t kMost = 4096;
    if (bytes <= 0) return std::nullopt;
    const std::int64_t copies = 2 * l2_bytes / bytes + 2;
    if (copies > kMost || copies > budget / bytes) return std::nullopt;
    return static_cast<int>(copies);
}

}  // namespace rafter::validate
