// Micro-benchmarks of the memory system as tile programs. Buffer 0 is the memory they read. docs/model/curves.md.
#pragma once

#include <cstdint>
#include <vector>

#include "sim/kernels/index_source.h"
#include "sim/program/kernel.h"

namespace rafter::kernels {

/// One thread follows a cycle through all lines of a working set, after a lap that brings them as near as they will stay.
class Chase : public program::Code {
public:
    struct Parameters {
        std::int64_t lines{1}, steps{0};
        bool lap{true};  ///< false: the set is so large that nothing of it stays
    };
    explicit Chase(const Parameters& p) : p_(p), cycle_(p.lines, 1) {}
    program::TileProgram run(program::Cta& cta, const std::vector<program::Buffer>& buffers) const override;

private:
    Parameters p_;
    Scatter cycle_;
};

/// CTAs read pieces of a working set over and over; all pieces are read by CTAs of all SMs.
class SetRead : public program::Code {
public:
    struct Parameters {
        std::int64_t set_bytes{}, piece_bytes{}, passes{1};
        std::int64_t ctas{1}, step_bytes{};  ///< that the threads of a CTA have in flight
        std::int64_t pieces() const { return ceil_div(set_bytes, piece_bytes); }
    };
    explicit SetRead(const Parameters& p) : p_(p) {}
    program::TileProgram run(program::Cta& cta, const std::vector<program::Buffer>& buffers) const override;

private:
    Parameters p_;
};

/// Each of `ctas` CTAs reads rows at random, `depth` in flight; rows of a whole step one after another make it a stream.
class RowRead : public program::Code {
public:
    struct Parameters {
        std::int64_t rows{}, row_bytes{}, ctas{1}, steps{1}, depth{1};
        bool random{false};
    };
    explicit RowRead(const Parameters& p) : p_(p) {}
    program::TileProgram run(program::Cta& cta, const std::vector<program::Buffer>& buffers) const override;

private:
    Parameters p_;
};

}  // namespace rafter::kernels
