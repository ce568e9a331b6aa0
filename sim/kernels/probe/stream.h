// Streams: every thread reads an element of some arrays and writes one of others. One-shot grids, grid-stride loops, and loops of
// CTAs over the same data (warm caches) differ only in how many pieces a CTA takes and how many CTAs lie side by side.
#pragma once

#include <cstdint>

#include "sim/program/kernel.h"

namespace rafter::kernels {

class Stream : public program::Code {
public:
    struct Parameters {
        std::int64_t reads{1}, writes{0};  ///< arrays
        std::int64_t array_bytes{1};       ///< of each; indices beyond its end wrap around
        std::int64_t threads{256};
        std::int64_t element{8};  ///< bytes a thread moves with one instruction
        std::int64_t unroll{1};   ///< loads of one array a thread has in flight
        std::int64_t steps{1};    ///< of each CTA: it takes steps x unroll pieces of threads x element bytes
        std::int64_t grid{1};     ///< CTAs
        /// CTAs whose pieces lie side by side, a step of all before the next of any; CTA c does what CTA c + stride does.
        /// 0: a CTA's pieces follow each other, then come those of the next.
        std::int64_t stride{0};
        std::int64_t half_fma{0};  ///< fp64 multiply-adds for every two elements
        std::int64_t integer{1};   ///< address instructions an element
        program::Path path{program::Path::through_l1};
    };
    /// Bytes that all CTAs ask for.
    static std::int64_t bytes(const Parameters& p);

    explicit Stream(Parameters parameters) : p_(parameters) {}
    program::TileProgram run(program::Cta& cta, const std::vector<program::Buffer>& buffers) const override;

private:
    std::int64_t offset(std::int64_t cta, std::int64_t piece) const;
    Parameters p_;
};

program::Kernel stream_kernel(const Stream::Parameters& parameters);

}  // namespace rafter::kernels
