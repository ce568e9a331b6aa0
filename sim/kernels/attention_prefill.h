// Attention of many queries. Models FlashAttention-2 (Ampere and before: one K and one V buffer, the next K loads under softmax
// and P V) and FlashAttention-3 (Hopper: the next S is multiplied under softmax). CUDA twin: validate/twins/attention_prefill.cu.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sim/kernels/attention_block.h"
#include "sim/program/kernel.h"

namespace rafter::kernels {

/// Buffers in order: Q, K, V (they may be one packed tensor), output [batch][seq_q][heads][head_dim_v].
class AttentionPrefill : public program::Code {
public:
    struct Parameters {
        std::int64_t batch{1}, heads{1}, kv_heads{1}, seq_q{1}, seq_kv{1};
        bool causal{true};
        std::int64_t window{0};  ///< 0: none
        AttentionBlock block;
        Matrix q, k, v;                                   ///< rows are tokens of one sequence, columns all heads
        std::int64_t q_stride{}, k_stride{}, v_stride{};  ///< bytes from one sequence to the next
        bool longest_first{true};        ///< FlashAttention-3; FlashAttention-2 takes a head's query blocks in their order
        std::int64_t heads_together{1};  ///< (sequence, head) pairs walked side by side, so that their K and V share the L2
        bool overlaps{false};            ///< FlashAttention-3

        std::int64_t q_blocks() const { return ceil_div(seq_q, block.tile.m); }
        std::int64_t grid() const { return batch * heads * q_blocks(); }
        std::string text() const;
        /// Keys that queries [row, row + rows) see, cut to whole blocks at the low end.
        std::int64_t first_key(std::int64_t row) const;
        std::int64_t last_key(std::int64_t row, std::int64_t rows) const;
        Count issued_macs() const;
    };

    explicit AttentionPrefill(const Parameters& p);
    program::TileProgram run(program::Cta& cta, const std::vector<program::Buffer>& buffers) const override;
    program::Repeats repeats(std::int64_t unit) const override;

private:
    struct Work {
        std::int64_t sequence, head, row, rows, first, last;
    };
    Work work(std::int64_t index) const;
    program::Ticket load_q(program::Cta& cta, const std::vector<program::Buffer>& buffers, const Work& w) const;
    program::Access output(const program::Buffer& buffer, const Work& w) const;
    program::Ticket load_k(program::Cta& cta, const std::vector<program::Buffer>& buffers, const Work& w, std::int64_t key) const;
    program::Ticket load_v(program::Cta& cta, const std::vector<program::Buffer>& buffers, const Work& w, std::int64_t key) const;
    std::int64_t keys(const Work& w, std::int64_t key) const { return std::min(p_.block.tile.n, w.last - key); }

    Parameters p_;
    Matrix out_;
};

}  // namespace rafter::kernels
