// The matrix kernels each generation's library has.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sim/config/hw_config.h"
#include "sim/core/dtype.h"
#include "sim/kernels/tile.h"
#include "sim/program/kernel.h"

namespace rafter::lowering {

/// One compiled kernel: tiling and what a CTA of it occupies.
struct GemmKernel {
    kernels::Tile tile;
    program::Resources resources;
    bool persistent{false};
    double efficiency{1.0};  ///< share of the units' rate it reaches when they are all busy; ranks candidates only
    std::string name;        ///< e.g. "ampere_fp16_gemm_128x256x64_3"
};

/// Kernels for `compute` on this GPU that fit an SM; tensor-core kernels when the dtype has them, else SIMT ones. Empty when the
/// GPU has no units for it.
std::vector<GemmKernel> gemm_kernels(const config::HwConfig& gpu, DType compute);

/// Bytes of A and B a CTA holds in shared memory at a time.
std::int64_t stage_bytes(const kernels::Tile& tile, DType compute);

}  // namespace rafter::lowering
