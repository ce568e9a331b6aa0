// The library's choice of tile and split-K. The estimate below ranks candidates and nothing else: no time of it reaches a result.
#pragma once

#include <cstdint>

#include "sim/config/hw_config.h"
#include "sim/kernels/gemm.h"
#include "sim/lowering/catalogue.h"

namespace rafter::lowering {

/// Whose kernels are asked for: the matrix product's, or those of convolution as implicit product.
enum class Family : std::uint8_t { product, convolution };

struct GemmChoice {
    GemmKernel kernel;
    std::int64_t splits{1};
    std::int64_t cluster{1};
    std::int64_t grid{1};
};

/// CTAs along m that share B: the kernels with TMA have clusters of two where there are two rows of tiles.
std::int64_t cluster_of(const kernels::GemmParameters& p, const GemmKernel& kernel);

/// `shape` gives the extents and dtypes; its tile, splits and grid are ignored. Errors: Error naming `layer` and what the GPU has
/// when no kernel can run it.
GemmChoice choose_gemm(const kernels::GemmParameters& shape, const config::HwConfig& gpu, const std::string& layer,
                       bool may_split = true, Family family = Family::product);

/// Error: no units for `dtype`; lists the dtypes this GPU multiplies.
[[noreturn]] void unsupported(const std::string& layer, DType dtype, const config::HwConfig& gpu);

}  // namespace rafter::lowering
