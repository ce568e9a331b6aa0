// vLLM's own products of fp8 by fp8: CUTLASS kernels for compute capability 8.9 and 9.0, a table by m (and n) each.
// Source: vLLM 0.1x to 0.24, csrc/**/w8a8/cutlass/scaled_mm_c2x_sm89_fp8_dispatch.cuh and c3x/scaled_mm_sm90_fp8_dispatch.cuh.
// Compute capability 10 and later goes to FlashInfer, which asks cuBLAS.
#include "sim/lowering/library/gemm.h"

#include <algorithm>
#include <bit>

#include "sim/lowering/lower.h"

namespace rafter::lowering {

using config::TensorGeneration;
using kernels::Feed;
using kernels::GemmParameters;
using kernels::Tile;

namespace {

constexpr std::int64_t kSharedMemory = 232448, kEpilogueShared = 32 * 1024;

std::string title(const char* family, const Tile& t) {
    return std::string(family) + "_" + std::to_string(t.m) + "x" + std::to_string(t.n) + "_" + std::to_string(t.k) + "x" +
           std::to_string(t.stages);
}

/// Warp-specialised TMA + wgmma. `swapped`: the product is computed transposed, n on the 64-row side of the instruction.
struct Sm90 {
    std::int64_t m, n, k;
    bool swapped, pingpong, cooperative;
};

Sm90 sm90(const GemmParameters& p) {
    const bool narrow = p.n <= 1280;
    if (p.m <= 16) return {16, 64, 256, true, false, false};
    if (p.m <= 64) return {narrow ? 16 : 64, 64, 256, true, false, false};
    if (p.m <= 128) return {64, 128, 128, false, true, false};
    if (p.m >= 8192 && p.k >= 6144) return {256, 128, 128, false, false, true};
    return {128, 128, 128, false, true, false};
}

GemmKernel cutlass_sm90(const GemmParameters& p) {
    const Sm90 row = sm90(p);
    GemmKernel kernel;
    Tile& t = kernel.tile;
    t.m = row.m, t.n = row.n, t.k = row.k;
    t.stages = std::min<std::int64_t>(kernels::Gemm::kMostStages, (kSharedMemory - kEpilogueShared) / stage_bytes(t, p.compute));
    t.warps_m = t.warps_n = 1;
    t.unit_m = row.swapped ? 8 : 64, t.unit_n = row.swapped ? 64 : 8, t.unit_k = 32;
    t.feed = Feed::tma;
    t.pingpong = row.pingpong;
    kernel.persistent = row.pingpong || row.cooperative;
    kernel.resources = {kernel.persistent ? 384 : 256, 168, Bytes(t.stages * stage_bytes(t, p.compute) + kEpilogueShared / 2)};
    kernel.name = title("cutlass_3x_gemm_sm90_fp8", t);
    return kernel;
}

/// Multistage cp.async + mma.sync. `warps_k` warps share an output patch and each take a part of k.
struct Sm89 {
    std::int64_t m, n, k, stages, warps_m, warps_n, warps_k, registers;
};

constexpr Sm89 k16x64{16, 64, 128, 5, 1, 1, 2, 96}, k16x128{16, 128, 64, 5, 1, 2, 1, 96}, k32x64{32, 64, 128, 5, 2, 1, 2, 96},
    k32x128{32, 128, 128, 4, 1, 2, 2, 128}, k64x64{64, 64, 128, 5, 2, 1, 2, 128}, k64x128{64, 128, 128, 3, 1, 2, 2, 218},
    k128x64{128, 64, 128, 3, 2, 1, 2, 218}, k128x128{128, 128, 64, 5, 2, 2, 1, 218}, k256x128{256, 128, 64, 3, 4, 2, 1, 218};

Sm89 sm89(const GemmParameters& p) {
    const auto n = static_cast<std::int64_t>(std::bit_ceil(static_cast<std::uint64_t>(p.n)));
    if (p.m <= 16) return n <= 8192 ? k16x64 : n <= 16384 ? k16x128 : k32x64;
    if (p.m <= 32) return n > 8192 && n <= 16384 ? k32x128 : k32x64;
    if (p.m <= 64) return n > 8192 && n <= 16384 ? k64x128 : k64x64;
    if (p.m <= 128) return n <= 8192 ? k64x128 : n <= 16384 ? k128x128 : k128x64;
    if (p.m <= 256) return n <= 4096 ? k64x128 : k128x128;
    return n > 4096 && n <= 8192 ? k256x128 : k128x128;
}

GemmKernel cutlass_sm89(const GemmParameters& p) {
    const Sm89 row = sm89(p);
    GemmKernel kernel;
    Tile& t = kernel.tile;
    t.m = row.m, t.n = row.n, t.k = row.k, t.stages = row.stages;
    t.warps_m = row.warps_m, t.warps_n = row.warps_n;
    t.unit_k = 32;
    t.feed = Feed::cp_async;
    kernel.resources = {t.warps() * row.warps_k * 32, row.registers, Bytes(t.stages * stage_bytes(t, p.compute))};
    kernel.name = title("cutlass_2x_gemm_sm89_fp8", t);
    return kernel;
}

}  // namespace

std::optional<GemmChoice> library_gemm(const GemmParameters& shape, const config::HwConfig& gpu, workload::Library library) {
    const bool fp8 = shape.a == DType::fp8 && shape.b == DType::fp8 && gpu.has_tensor(DType::fp8);
    if (library != workload::Library::vllm || !fp8 || gpu.tensor.generation == TensorGeneration::blackwell) return std::nullopt;
    const bool hopper = gpu.tensor.generation == TensorGeneration::hopper;
    GemmChoice choice{hopper ? cutlass_sm90(shape) : cutlass_sm89(shape), 1, 1, 1};
    const std::int64_t slots = ctas_per_sm(choice.kernel.resources, gpu.sm) * gpu.sm.count;
    if (slots == 0) return std::nullopt;
    GemmParameters p = shape;
    p.tile = choice.kernel.tile;
    choice.cluster = cluster_of(p, choice.kernel);
    choice.grid = choice.kernel.persistent ? std::min(p.units(), slots) : p.units();
    return choice;
}

}  // namespace rafter::lowering
