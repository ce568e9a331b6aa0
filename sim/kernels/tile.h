// The tiling of a matrix kernel: what the library compiled, and what a partial tile still issues.
#pragma once

#include <algorithm>
#include <cstdint>

#include "sim/core/dtype.h"
#include "sim/kernels/layout.h"
#include "sim/program/cta.h"

namespace rafter::kernels {

/// Which instructions multiply, hence how operands reach them.
enum class Feed : std::uint8_t {
    simt,             ///< FMA lanes; operands from shared memory to registers
    register_staged,  ///< Volta, Turing: global -> registers -> shared; mma.sync
    cp_async,         ///< Ampere: cp.async multistage; mma.sync
    tma,              ///< Hopper: TMA and wgmma, persistent
};

struct Tile {
    std::int64_t m{128}, n{128}, k{32};  ///< of the CTA; k in elements of the compute dtype
    std::int64_t stages{2};
    std::int64_t warps_m{2}, warps_n{2};  ///< warps (simt, mma.sync) or warp groups (wgmma) over the tile
    std::int64_t unit_m{16}, unit_n{8};   ///< rows and columns of one instruction
    std::int64_t unit_k{16};
    std::int64_t duplication{1};  ///< times an operand fragment is read from shared memory by the threads of a warp (Volta: 2)
    Feed feed{Feed::cp_async};
    bool pingpong{false};  ///< the epilogue of one tile runs under the products of the next (persistent kernels)

    std::int64_t warps() const { return warps_m * warps_n; }

    /// Rows issued for `valid` rows of a tile: warps work in lock step on tensor cores of their own, so a warp without rows costs
    /// what the fullest one does.
    std::int64_t issued_m(std::int64_t valid) const { return warps_m * std::min(m / warps_m, round_up(valid, unit_m)); }
    std::int64_t issued_n(std::int64_t valid) const { return warps_n * std::min(n / warps_n, round_up(valid, unit_n)); }
    std::int64_t issued_k(std::int64_t valid) const { return round_up(valid, unit_k); }

    /// Bytes the warps read from shared memory for one m x n x k product (issued extents), operands of `a` and `b` bits.
    /// mma.sync: every warp reads its rows of A and its columns of B. wgmma: each 64-row instruction reads its rows of A and all
    /// columns of B.
    std::int64_t operand_bytes(std::int64_t im, std::int64_t in, std::int64_t ik, std::int64_t a, std::int64_t b) const {
        if (feed == Feed::tma) {
            const bool swapped = unit_n > unit_m;
            const std::int64_t a_reads = swapped ? ceil_div(in, unit_n) : 1;
            const std::int64_t b_reads = swapped ? 1 : ceil_div(im, unit_m);
            return (im * a * a_reads + in * b * b_reads) * ik / 8;
        }
        return duplication * (im * a * warps_n + in * b * warps_m) * ik / 8;
    }

    /// Large tiles keep the tensor pipe full from one k block to the next: a warp issues the next product while the last drains.
    /// wgmma is asynchronous whatever the tile.
    bool overlaps() const { return feed == Feed::tma || (feed != Feed::simt && m * n >= 64 * 128); }
};

}  // namespace rafter::kernels
