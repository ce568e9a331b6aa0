// Tiled matrix product. Models cuBLAS / CUTLASS: multistage kernels (volta_*_s884gemm, turing_*_s1688gemm, ampere_*_s16816gemm,
// ampere_sgemm) and the persistent TMA + wgmma kernels of Hopper (nvjet_*). CUDA twin: validate/twins/gemm.cu.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "sim/core/dtype.h"
#include "sim/kernels/epilogue.h"
#include "sim/kernels/layout.h"
#include "sim/kernels/tile.h"
#include "sim/program/kernel.h"

namespace rafter::kernels {

/// C[batch][m,n] = A[batch][m,k] B[batch]. Buffers in order: A, B, bias (if any), residual (if any), C or the workspace.
struct GemmParameters {
    std::int64_t batch{1}, m{1}, n{1}, k{1};
    DType a{DType::fp16}, b{DType::fp16};  ///< as stored
    DType compute{DType::fp16};            ///< as multiplied
    bool b_transposed{true};               ///< B stored [n,k] (weights); else [k,n]
    bool a_transposed{false};              ///< A stored [k,m]
    std::int64_t a_pitch{0}, b_pitch{0};   ///< > 0: bytes from one stored row to the next; rows may overlap (unrolled patches)
    std::int64_t c_columns{0};  ///< > 0: batch entries are column blocks of one C of this many columns (grouped convolution)
    std::int64_t b_offset{0};   ///< byte in its buffer where B starts
    std::int64_t a_stride{0}, b_stride{0};  ///< bytes from one batch entry to the next
    Tile tile;
    std::int64_t splits{1};   ///< of k, in whole k blocks; > 1 writes fp32 partials [split][batch][m][n]
    std::int64_t cluster{1};  ///< neighbours along m that each load a part of B for all of them (multicast)
    std::int64_t grid{1};     ///< CTAs; fewer than units() makes it persistent
    Epilogue epilogue;

    std::int64_t tiles_m() const { return ceil_div(m, tile.m); }
    std::int64_t tiles_n() const { return ceil_div(n, tile.n); }
    std::int64_t blocks_per_split() const { return ceil_div(ceil_div(k, tile.k), splits); }
    /// Output tiles times splits.
    std::int64_t units() const { return batch * splits * tiles_m() * tiles_n(); }
    Count issued_macs() const;
    std::string text() const;  ///< every field, for the signature
};

/// The splits, at most `wanted`, that leave no split without a k block.
std::int64_t even_splits(std::int64_t k_blocks, std::int64_t wanted);

class Gemm : public program::Code {
public:
    static constexpr std::int64_t kMostStages = 16;
    explicit Gemm(const GemmParameters& parameters);
    program::TileProgram run(program::Cta& cta, const std::vector<program::Buffer>& buffers) const override;
    program::Repeats repeats(std::int64_t unit) const override;

protected:
    /// One output tile over one range of k.
    struct Unit {
        std::int64_t batch, split, row, rows, column, columns, k_end;
    };
    /// A position in the sequence of k blocks a CTA works through, over all of its tiles.
    struct Cursor {
        std::int64_t index;  ///< of the unit
        std::int64_t k;
        Unit unit;
    };
    /// The A and the B block of one step.
    virtual program::Ticket load(program::Cta& cta, const std::vector<program::Buffer>& buffers, const Cursor& cursor) const;
    program::Ticket load_b(program::Cta& cta, const program::Buffer& buffer, const Cursor& cursor) const;
    program::Path path() const {
        return p_.tile.feed == Feed::cp_async || p_.tile.feed == Feed::tma ? program::Path::async_copy : program::Path::streaming;
    }
    std::int64_t depth(const Cursor& cursor) const { return std::min(p_.tile.k, cursor.unit.k_end - cursor.k); }

private:
    /// The ring of stages between loads and products.
    struct Pipeline {
        std::array<program::Ticket, kMostStages> arrival;
        Cursor producer;
        std::size_t filled, used;
    };
    struct Columns {
        std::int64_t first, count;
    };
    Columns columns_loaded(const Unit& unit) const;
    Unit unit(std::int64_t index) const;
    Cursor at(std::int64_t index) const;
    void advance(program::Cta& cta, Cursor& cursor) const;
    bool more(const Cursor& cursor) const { return cursor.index < units_; }
    bool ends_unit(const Cursor& cursor) const { return cursor.k + p_.tile.k >= cursor.unit.k_end; }

    std::int64_t block_bytes(const Cursor& cursor) const;
    program::Repeat columns_alike(std::int64_t first, std::int64_t tile) const;
    program::Repeat groups_alike(std::int64_t first, std::int64_t tile) const;
    std::int64_t step_period() const;
    /// Ends the tile earlier by the steps that the machine leaves out.
    void leave_out(program::Cta& cta, Cursor& consumer, Cursor& producer) const;
    /// Loads the next block of the CTA's sequence, if there is one.
    void refill(program::Cta& cta, const std::vector<program::Buffer>& buffers, Pipeline& pipe) const;
    program::Suspend multiply_now(program::Cta& cta, const Cursor& cursor) const;
    program::Mma product(const Cursor& cursor) const;
    program::Vector simt_product(const Cursor& cursor) const;
    program::Vector unpack(const Cursor& cursor) const;
    program::Ticket load_epilogue(program::Cta& cta, const std::vector<program::Buffer>& buffers, const Unit& unit) const;
    program::Access c_block(const program::Buffer& buffer, const Unit& unit) const;
    program::Vector epilogue(const Unit& unit) const;

protected:
    GemmParameters p_;
    std::int64_t step_period_;  ///< k blocks after which the accesses repeat; 0: they never do

private:
    std::int64_t units_, k_per_split_, tile_count_;
    bool unpacks_, simt_;
    Matrix a_, b_, bias_, c_;
    std::int64_t out_bits_;
};

}  // namespace rafter::kernels
