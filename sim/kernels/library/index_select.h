// A row gather as PyTorch up to 2.6 does it (at::native::indexSelectLargeIndex): a thread for each element, the place of which in
// index, source and destination costs it three divisions; eight CTAs of 128 threads an SM go over all elements.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "sim/core/dtype.h"
#include "sim/kernels/index_source.h"
#include "sim/program/kernel.h"

namespace rafter::kernels {

/// Buffers in order: indices int64 [tokens], table [rows][dim], output [tokens][dim].
class IndexSelect : public program::Code {
public:
    static constexpr std::int64_t kThreads = 128;
    static constexpr std::int64_t kCtasPerSm = 8;

    struct Parameters {
        std::int64_t tokens{}, dim{};
        DType dtype{DType::fp16};
        std::int64_t ctas{1};
        std::int64_t elements() const { return tokens * dim; }
    };
    static std::int64_t grid(std::int64_t elements, std::int64_t sms) {
        return std::min(ceil_div(elements, kThreads), kCtasPerSm * sms);
    }

    IndexSelect(const Parameters& parameters, const IndexSource& indices) : p_(parameters), indices_(indices) {}
    program::TileProgram run(program::Cta& cta, const std::vector<program::Buffer>& buffers) const override;

private:
    Parameters p_;
    IndexSource indices_;
};

}  // namespace rafter::kernels
