// Kernels that a library picks by rules of its own instead of asking cuBLAS. docs/model/libraries.md.
#pragma once

#include <optional>

#include "sim/config/hw_config.h"
#include "sim/kernels/gemm.h"
#include "sim/lowering/choose_gemm.h"
#include "sim/workload/layer.h"

namespace rafter::lowering {

/// The kernel that `library` takes for `shape` on this GPU; none where it asks cuBLAS. `shape`: as for choose_gemm.
std::optional<GemmChoice> library_gemm(const kernels::GemmParameters& shape, const config::HwConfig& gpu,
                                       workload::Library library);

}  // namespace rafter::lowering
