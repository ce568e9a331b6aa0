// What a tile program may touch: buffers and access descriptors. Shapes only; no data moves in the simulator.
#pragma once

#include <cstdint>
#include <string>

#include "sim/core/quantity.h"

namespace rafter::program {

inline constexpr std::int64_t kLineBytes = 128;
inline constexpr std::int64_t kSectorBytes = 32;

/// Where memory is: the GPU's own, the host's, another GPU's. The others are reached over a link.
enum class Tier : std::uint8_t { hbm, host, peer };

/// Addresses of the other tiers begin here; those of the GPU's own memory at 0.
inline constexpr std::int64_t kHostBase = std::int64_t{1} << 40, kPeerBase = std::int64_t{1} << 41;

/// Memory of one kernel argument. Addresses are assigned by the engine, 128-byte aligned, never overlapping.
struct Buffer {
    std::string id;        ///< tensor id, for residency between kernels and for reports
    std::int64_t base{0};  ///< byte address
    std::int64_t size{0};  ///< bytes
};

/// `rows` pieces of `row_bytes` each, `pitch` bytes apart, starting at byte `address`. A piece need not be aligned.
struct Access {
    std::int64_t address{0};
    std::int64_t row_bytes{0};
    std::int64_t rows{1};
    std::int64_t pitch{0};
};

/// Which path a load takes.
enum class Path : std::uint8_t {
    through_l1,  ///< ld.global: allocates in L1, lands in registers
    streaming,   ///< ld.global.cs / no-allocate: registers, no L1 allocation
    async_copy,  ///< cp.async / TMA: bypasses L1 tags and registers, lands in shared memory
};

}  // namespace rafter::program
