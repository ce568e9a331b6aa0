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
    bool paged{false};           ///< every block looks the pages of its keys and values up
    bool exclusive{false};       ///< mma.sync: co-resident CTAs hide nothing of each other (A.5)
    bool lengths{false};         ///< sequences of different lengths: what a CTA works on follows from tables

    program::Mma scores(std::int64_t rows, std::int64_t keys) const {
        const std::int64_t m = tile.issued_m(rows), n = tile.issued_n(keys), k = tile.issued_k(head_dim);
        return {m, n, k, compute, tile.operand_bytes(m, n, k, bits(compute), bits(kv))};
    }
    /// P stays in registers.
    program::Mma values(std::int64_t rows, std::int64_t keys) const {
        const std::int64_t m = tile.issued_m(rows), n = round_up(head_dim_v, tile.unit_n), k = tile.issued_k(keys);
        return {m, n, k, compute, tile.operand_bytes(m, n, k, 0, bits(kv))};
    }
    /// The softmax is three passes over the scores of a thread, each waiting for the one before it: the row maximum (A.1);
    /// scale, subtract, exp2, sum (A.2); the conversion and the rescaling of O by the changed maximum (A.3).
    static constexpr int kPasses = 3;
    program::Vector softmax(int pass, std::int64_t rows, std::int64_t keys) const {
        const std::int64_t scores = tile.issued_m(rows) * tile.issued_n(keys);
        program::Vector v;
        if (pass == 0) {
            v.integer = scores;
            v.chain = kDrain + kShuffles;
            if (bits(kv) < bits(compute)) v.integer += keys * (head_dim + head_dim_v) * tile.warps_m;  // unpacking K and V
        } else if (pass == 1) {
            v.fma = 2 * scores, v.sfu = scores, v.chain = kExponential;
        } else {
            v.integer = scores / 2, v.fma = tile.issued_m(rows) * head_dim_v, v.chain = kDrain;
        }
        v.exclusive = exclusive;
        return v;
    }
    /// Before the first key block: lengths of the sequence, its row of the page table, descriptors, instructions that the loop of
    /// the CTA before has driven out of the cache; one after the other. (A.6)
    static program::Vector prologue() {
        program::Vector v;
        v.chain = kPrologue;
        return v;
    }
    /// Finding the page of the next keys (or values): a division, an entry of the table, the address. (A.4)
    program::Vector lookup() const {
        program::Vector v;
        v.integer = kLookup * tile.warps() * 32;
        v.chain = kLookup + kEntry;
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
               (tensor ? "t" : "v") + (paged ? "p" : "") + (lengths ? "l" : "") + (exclusive ? "x" : "");
    }

private:
    // Dependent instructions (of about four clocks): from the last product to its first use and back into the next; two rounds of
    // shuffles; one exponential; an integer division with an address; an entry of the table from the L1.
    static constexpr std::int64_t kDrain = 12, kShuffles = 14, kExponential = 12, kLookup = 50, kEntry = 12;
    static constexpr std::int64_t kPrologue = 2250;
};

}  // namespace rafter::kernels
