// A row gather as PyTorch 2.7 and later do it (at::native::vectorized_gather_kernel): a CTA for each 4 KiB of a row, which reads
// its index and copies 16 bytes a thread.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "sim/core/dtype.h"
#include "sim/kernels/index_source.h"
#include "sim/program/kernel.h"

namespace rafter::kernels {

/// Buffers in order: indices int64 [tokens], table [rows][dim], output [tokens][dim].
class RowGather : public program::Code {
public:
    static constexpr std::int64_t kPieceBytes = 4096;

    struct Parameters {
        std::int64_t tokens{}, row_bytes{};
        std::int64_t pieces() const { return ceil_div(row_bytes, kPieceBytes); }
    };
    static std::int64_t grid(const Parameters& p) { return p.tokens * p.pieces(); }
    static std::int64_t threads(const Parameters& p) {
        return std::clamp<std::int64_t>(ceil_div(ceil_div(std::min(p.row_bytes, kPieceBytes), 16), 32) * 32, 32, 256);
    }

    RowGather(const Parameters& parameters, const IndexSource& indices) : p_(parameters), indices_(indices) {}
    program::TileProgram run(program::Cta& cta, const std::vector<program::Buffer>& buffers) const override;
    program::Repeats repeats(std::int64_t) const override { return {program::Repeat{0, grid(p_), p_.pieces(), 0, true}}; }

private:
    Parameters p_;
    IndexSource indices_;
};

}  // namespace rafter::kernels
