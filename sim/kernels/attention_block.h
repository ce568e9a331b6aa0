// One key/value block of flash attention: S = Q K^T, online softmax, O += P V. Shared by prefill and decode.
#pragma once

#include <cstdint>
#include <string>

#include "sim/core/dtype.h"
#include "sim/kernels/layout.h"
#include "sim/kernels/tile.h"
#include "sim/program/cta.h"

namespace rafter::kernels {

struct AttentionBlock {
    std::int64_t head_dim{128}, head_dim_v{128};
    Tile tile;                   ///< m: query rows of a CTA, n: keys of a block; warps_m warps (or warp groups) share the rows
    DType compute{DType::fp16};  ///< of Q, S, P, O operands
    DType kv{DType::fp16};       ///< as stored
    bool tensor{true};           ///< false: products run on the FMA lanes

    program::Mma scores(std::int64_t rows, std::int64_t keys) const {
        const std::int64_t m = tile.issued_m(rows), n = tile.issued_n(keys), k = tile.issued_k(head_dim);
        return {m, n, k, compute, tile.operand_bytes(m, n, k, bits(compute), bits(kv))};
    }
    /// P stays in registers.
    program::Mma values(std::int64_t rows, std::int64_t keys) const {
        const std::int64_t m = tile.issued_m(rows), n = round_up(head_dim_v, tile.unit_n), k = tile.issued_k(keys);
        return {m, n, k, compute, tile.operand_bytes(m, n, k, 0, bits(kv))};
    }
    /// Per score: scale, maximum, subtract, exp2, sum, convert; per output: rescale by the changed maximum.
    program::Vector softmax(std::int64_t rows, std::int64_t keys) const {
        const std::int64_t scores = tile.issued_m(rows) * tile.issued_n(keys);
        program::Vector v;
        v.fma = 4 * scores + tile.issued_m(rows) * head_dim_v;
        v.sfu = scores;
        v.integer = scores / 2;
        v.chain = 16;  // row maximum and sum cross four lanes; exp2; rescale
        if (bits(kv) < bits(compute)) v.integer += keys * (head_dim + head_dim_v) * tile.warps_m;  // unpacking K and V
        return v;
    }
    /// O / sum, converted and staged through shared memory.
    program::Vector finish(std::int64_t rows) const {
        program::Vector v;
        v.fma = tile.issued_m(rows) * head_dim_v;
        v.sfu = tile.issued_m(rows);
        v.integer = v.fma / 2;
        v.shared_bytes = 2 * rows * head_dim_v * bits(compute) / 8;
        v.chain = 8;
        return v;
    }
    std::string text() const {
        std::string s;
        for (const std::int64_t v :
             {head_dim, head_dim_v, tile.m, tile.n, tile.warps_m, tile.unit_m, tile.unit_k, tile.duplication}) {
            s += std::to_string(v) + ",";
        }
        return s + std::string(name(compute)) + "," + std::string(name(kv)) + "," + std::to_string(static_cast<int>(tile.feed)) +
               (tensor ? "t" : "v");
    }
};

}  // namespace rafter::kernels
