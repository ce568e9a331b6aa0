// Which fp32 kernel cuBLAS takes on the FMA lanes. docs/model/lowering.md.
#pragma once

#include <vector>

#include "sim/config/hw_config.h"
#include "sim/kernels/gemm.h"
#include "sim/lowering/catalogue.h"

namespace rafter::lowering {

/// Those of `kernels` that the library would take for `shape`: one tile where its rule is known, else all of them.
std::vector<GemmKernel> sgemm_kernels(std::vector<GemmKernel> kernels, const kernels::GemmParameters& shape,
                                      const config::HwConfig& gpu);

/// Those of `kernels` that cuDNN has for convolution in fp32 (scudnn_128xN, and its _stridedB_splitK form for the gradient of the
/// weights): 128 rows of the product by 32, 64 or 128 columns.
std::vector<GemmKernel> sconv_kernels(std::vector<GemmKernel> kernels, const kernels::GemmParameters& shape);

}  // namespace rafter::lowering
