// Attention of a few new tokens over a cache. Models FlashAttention-2's flash_fwd_splitkv_kernel and its combine kernel: a CTA
// takes one split of the keys of one KV head, with all query heads of that group. CUDA twin: validate/twins/attention_decode.cu.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sim/kernels/attention_block.h"
#include "sim/program/kernel.h"

namespace rafter::kernels {

/// FlashAttention's num_splits_heuristic: `work` = batch x KV heads x query blocks, `slots` = twice the SMs.
std::int64_t decode_splits(std::int64_t work, std::int64_t slots, std::int64_t kv_blocks);

/// Buffers in order: Q [batch][seq_q][heads][head_dim], cache (K [batch][held][kv_heads][head_dim], then V likewise), output;
/// with more than one split the output is the workspace: fp32 [split][batch][kv_heads][rows][head_dim_v], then one fp32 log-sum a
/// row.
class AttentionDecode : public program::Code {
public:
    struct Parameters {
        std::int64_t batch{1}, heads{1}, kv_heads{1}, seq_q{1};
        std::int64_t held{1};  ///< cached tokens read, the new ones included
        std::int64_t splits{1};
        AttentionBlock block;

        std::int64_t rows() const { return heads / kv_heads * seq_q; }
        std::int64_t q_blocks() const { return ceil_div(rows(), block.tile.m); }
        std::int64_t kv_blocks() const { return ceil_div(held, block.tile.n); }
        std::int64_t grid() const { return batch * kv_heads * q_blocks() * splits; }
        std::int64_t output_rows() const { return batch * kv_heads * rows(); }
        std::int64_t workspace_bytes() const { return splits * output_rows() * (block.head_dim_v + 1) * 4; }
        Count issued_macs() const;
        std::string text() const;
    };

    explicit AttentionDecode(const Parameters& p);
    program::TileProgram run(program::Cta& cta, const std::vector<program::Buffer>& buffers) const override;
    program::Repeats repeats(std::int64_t) const override { return {program::Repeat{0, p_.grid(), p_.q_blocks() * p_.splits}}; }

private:
    struct Work {
        std::int64_t sequence, kv_head, split, row, rows, first, last;
    };
    Work work(std::int64_t index) const;
    void load_queries(program::Cta& cta, const program::Buffer& q, const Work& w, program::Ticket& ticket) const;
    program::Ticket load(program::Cta& cta, const Matrix& cache, std::int64_t dim, const program::Buffer& buffer, const Work& w,
                         std::int64_t key) const;
    void store(program::Cta& cta, const program::Buffer& out, const Work& w) const;
    std::int64_t keys(const Work& w, std::int64_t key) const { return std::min(p_.block.tile.n, w.last - key); }

    Parameters p_;
    Matrix q_, k_, v_;
};

/// Adds the splits, weighted by their log-sums. Buffers in order: workspace, output.
class AttentionCombine : public program::Code {
public:
    static constexpr std::int64_t kThreads = 128;
    static constexpr std::int64_t kRows = 4;  ///< of the output per CTA
    /// `serial`: one partial sum is loaded when the one before it has been added, as in FlashAttention-2; else all at once.
    AttentionCombine(std::int64_t rows, std::int64_t dim, std::int64_t splits, DType out, bool serial)
        : rows_(rows), dim_(dim), splits_(splits), serial_(serial), out_(Matrix::packed(dim, out)) {}
    static std::int64_t grid(std::int64_t rows) { return ceil_div(rows, kRows); }
    program::TileProgram run(program::Cta& cta, const std::vector<program::Buffer>& buffers) const override;
    program::Repeats repeats(std::int64_t) const override { return {program::Repeat{0, rows_ / kRows, 1}}; }

private:
    std::int64_t rows_, dim_, splits_;
    bool serial_;
    Matrix out_;
};

}  // namespace rafter::kernels
