#include "sim/lowering/catalogue.h"

#include <algorithm>
#include <initializer_list>

#include "sim/lowering/lower.h"

namespace rafter::lowering {

using config::TensorGeneration;
using kernels::Feed;
using kernels::Tile;

namespace {

/// m, n, k of the CTA (k for 16-bit operands: bytes of k stay the same for other dtypes), stages, warps, registers a thread.
struct Row {
    std::int64_t m, n, k, stages, warps_m, warps_n, registers;
};

// Volta: volta_fp16_s884gemm_fp16_{256x128,128x256,128x128,64x64}_ldg8 in profiler traces; the rest from the CUTLASS list for
// sm70 (generator.py: cutlass_70_tensorop_s884gemm_*_32x2). Registers: accumulators a thread + about 90 for addresses and
// fragments.
constexpr Row kVolta[] = {
    {256, 128, 32, 2, 4, 2, 224}, {128, 256, 32, 2, 2, 4, 224}, {128, 128, 32, 2, 2, 2, 234}, {256, 64, 32, 2, 4, 1, 234},
    {64, 256, 32, 2, 1, 4, 234},  {128, 64, 32, 2, 2, 2, 152},  {64, 128, 32, 2, 2, 2, 152},  {64, 64, 32, 2, 2, 2, 104},
    {32, 128, 32, 2, 1, 4, 104},  {32, 64, 32, 2, 1, 2, 104},
};

// Turing: turing_fp16_s1688gemm_fp16_{256x128,128x128,128x64}_ldg8 in traces (128x128: 254 registers); the rest cutlass_75.
constexpr Row kTuring[] = {
    {256, 128, 32, 2, 4, 2, 224}, {128, 256, 32, 2, 2, 4, 224}, {128, 128, 32, 2, 2, 2, 254}, {256, 64, 32, 2, 4, 1, 234},
    {64, 256, 32, 2, 1, 4, 234},  {128, 64, 32, 2, 2, 2, 152},  {64, 128, 32, 2, 2, 2, 152},  {64, 64, 32, 2, 2, 2, 104},
    {32, 128, 32, 2, 1, 4, 104},  {16, 128, 32, 2, 1, 4, 88},
};

// Ampere: ampere_{fp16,bf16}_s16816gemm_*_stages_KxS in traces and cutlass_80_tensorop_s16816gemm_* (generator.py). CUTLASS
// 128x128_32x3 takes 236 registers. The 16- and 32-row tiles stand for the TensorRT-LLM / gemv-like kernels of small m.
constexpr Row kAmpere[] = {
    {128, 256, 64, 3, 2, 4, 234}, {256, 128, 64, 3, 4, 2, 234}, {128, 256, 32, 3, 2, 4, 234}, {256, 128, 32, 3, 4, 2, 234},
    {256, 64, 64, 3, 4, 1, 234},  {64, 256, 64, 3, 1, 4, 234},  {128, 128, 64, 3, 2, 2, 236}, {128, 128, 64, 4, 2, 2, 236},
    {128, 128, 32, 4, 2, 2, 236}, {128, 64, 64, 3, 2, 2, 154},  {64, 128, 64, 3, 2, 2, 154},  {128, 64, 32, 6, 2, 2, 154},
    {64, 128, 32, 6, 2, 2, 154},  {64, 64, 64, 5, 2, 2, 112},   {64, 64, 32, 6, 2, 2, 112},   {64, 32, 64, 5, 2, 2, 96},
    {32, 128, 64, 4, 1, 4, 112},  {32, 64, 64, 6, 1, 4, 96},    {16, 128, 64, 4, 1, 4, 96},   {16, 64, 64, 6, 1, 4, 80},
    {16, 32, 64, 6, 1, 4, 72},
};

// AMD CDNA: macro tiles of hipBLASLt / Tensile (MT256x256x32 and smaller): two buffers in the 64 KiB of LDS, loaded through
// registers; 256 threads are four wavefronts; accumulators take a register of the unified file each.
constexpr Row kCdna[] = {
    {256, 256, 32, 2, 4, 2, 360}, {256, 128, 32, 2, 4, 2, 230}, {128, 256, 32, 2, 2, 4, 230}, {128, 128, 32, 2, 4, 2, 166},
    {128, 64, 32, 2, 4, 2, 130},  {64, 128, 32, 2, 2, 4, 130},  {64, 64, 64, 2, 4, 2, 112},   {32, 128, 32, 2, 2, 4, 104},
    {32, 64, 64, 2, 2, 4, 96},    {16, 64, 64, 2, 1, 4, 88},
};

// Hopper: nvjet_*: MMA-M side (64, 128, 192, 256) x any multiple of 8, either side of the output (the TNN kernels swap). Stages
// follow from the tile (kernel catalogue, 89 of 89 names); 384 threads, 168 registers, one CTA an SM, persistent.
struct Wgmma {
    std::int64_t m, n;
};
constexpr Wgmma kHopper[] = {
    {256, 160}, {256, 128}, {256, 96},  {192, 208}, {192, 192}, {192, 160}, {192, 128}, {128, 304}, {128, 256},
    {128, 224}, {128, 192}, {128, 160}, {128, 144}, {128, 128}, {128, 112}, {128, 96},  {128, 80},  {128, 64},
    {128, 48},  {128, 32},  {128, 16},  {128, 8},   {64, 256},  {64, 192},  {64, 128},  {64, 96},   {64, 80},
    {64, 64},   {64, 56},   {64, 48},   {64, 40},   {64, 32},   {64, 24},   {64, 16},   {64, 8},
};

// fp32 on the FMA lanes: {maxwell,volta,ampere}_sgemm_AxB: 128x128 takes 118 registers and 256 threads; tiles, thread counts and
// the share of peak reached (p95 on A100) from NeuSight rows. Double-buffered, k step 16: the library's kernels use 8 or 16, and
// 16 asks for 64-byte pieces.
struct SimtRow {
    Row row;
    double efficiency;
};
constexpr SimtRow kSimt[] = {
    {{128, 128, 16, 2, 4, 2, 118}, 0.94}, {{128, 64, 16, 2, 2, 2, 122}, 0.94}, {{64, 128, 16, 2, 2, 2, 122}, 0.94},
    {{64, 64, 16, 2, 2, 1, 122}, 0.91},   {{32, 128, 16, 2, 1, 8, 62}, 0.88},  {{128, 32, 16, 2, 8, 1, 62}, 0.86},
    {{32, 32, 16, 2, 2, 2, 86}, 0.68},
};

constexpr std::int64_t kNvjetStagingBytes = 16 * 1024, kNvjetBarrierBytes = 108, kNvjetShared = 232448, kNvjetReserve = 16768;

std::string title(const std::string& family, DType compute, const Tile& t) {
    return family + "_" + std::string(name(compute)) + "_" + std::to_string(t.m) + "x" + std::to_string(t.n) + "_" +
           std::to_string(t.k) + "x" + std::to_string(t.stages);
}

/// k step of `row_k` 16-bit elements in elements of `compute`.
std::int64_t scaled_k(std::int64_t row_k, DType compute) { return std::max<std::int64_t>(row_k * 16 / bits(compute), 1); }

/// k of one instruction: 32 bytes of each operand row; 8 bytes (4 values of 16 bits) on Volta, 16 on Turing; 4 for fp64.
std::int64_t instruction_k(TensorGeneration generation, DType compute) {
    if (compute == DType::fp64) return 4;
    const std::int64_t bytes = generation == TensorGeneration::volta ? 8 : generation == TensorGeneration::turing ? 16 : 32;
    return std::max<std::int64_t>(bytes * 8 / bits(compute), 1);
}

GemmKernel from_row(const Row& row, const std::string& family, TensorGeneration generation, DType compute) {
    GemmKernel kernel;
    Tile& t = kernel.tile;
    t.m = row.m, t.n = row.n, t.k = scaled_k(row.k, compute), t.stages = row.stages;
    t.warps_m = row.warps_m, t.warps_n = row.warps_n;
    t.unit_k = instruction_k(generation, compute);
    const bool early =
        generation == TensorGeneration::volta || generation == TensorGeneration::turing || generation == TensorGeneration::cdna;
    if (generation == TensorGeneration::cdna && compute != DType::fp64) t.unit_m = t.unit_n = 16;
    t.feed = early ? Feed::register_staged : Feed::cp_async;
    if (generation == TensorGeneration::volta) t.unit_m = 16, t.unit_n = 16, t.duplication = 2;
    if (compute == DType::fp64) t.unit_m = 8;
    kernel.resources = {t.warps() * 32, row.registers, Bytes(t.stages * stage_bytes(t, compute))};
    kernel.name = title(family, compute, t);
    return kernel;
}

GemmKernel from_wgmma(const Wgmma& shape, bool swapped, DType compute) {
    GemmKernel kernel;
    Tile& t = kernel.tile;
    t.m = swapped ? shape.n : shape.m, t.n = swapped ? shape.m : shape.n, t.k = scaled_k(64, compute);
    t.stages = std::min<std::int64_t>(16, (kNvjetShared - kNvjetReserve) / stage_bytes(t, compute));
    t.warps_m = t.warps_n = 1;
    t.unit_m = swapped ? 8 : 64, t.unit_n = swapped ? 64 : 8, t.unit_k = instruction_k(TensorGeneration::hopper, compute);
    t.feed = Feed::tma;
    t.pingpong = shape.m * shape.n / 128 <= 176;
    kernel.persistent = true;
    kernel.resources = {384, 168,
                        Bytes(t.stages * stage_bytes(t, compute) + kNvjetStagingBytes + kNvjetBarrierBytes + 24 * t.stages)};
    kernel.name = title("hopper_gemm", compute, t);
    return kernel;
}

GemmKernel from_simt(const SimtRow& entry, DType compute) {
    const Row& row = entry.row;
    GemmKernel kernel;
    kernel.efficiency = entry.efficiency;
    Tile& t = kernel.tile;
    t.m = row.m, t.n = row.n, t.k = row.k, t.stages = row.stages;
    t.warps_m = row.warps_m, t.warps_n = row.warps_n;
    t.unit_m = t.unit_n = 8, t.unit_k = 1;
    t.feed = Feed::simt;
    const std::int64_t wide = compute == DType::fp64 ? row.m * row.n / (t.warps() * 32) : 0;  // two registers an accumulator
    kernel.resources = {t.warps() * 32, std::min<std::int64_t>(255, row.registers + wide),
                        Bytes(t.stages * stage_bytes(t, compute))};
    kernel.name = title("simt_gemm", compute, t);
    return kernel;
}

/// fp64 accumulators take two registers: tiles with more than 64 a thread do not exist.
bool too_many_accumulators(const Row& row, DType compute) {
    return compute == DType::fp64 && row.m * row.n / (row.warps_m * row.warps_n * 32) > 64;
}

void add_tensor_kernels(const config::HwConfig& gpu, DType compute, std::vector<GemmKernel>& out) {
    const TensorGeneration generation = gpu.tensor.generation;
    const auto add = [&](const auto& rows, const char* family) {
        for (const Row& row : rows) {
            if (!too_many_accumulators(row, compute)) out.push_back(from_row(row, family, generation, compute));
        }
    };
    const bool wgmma = generation >= TensorGeneration::hopper && compute != DType::fp64;
    if (generation == TensorGeneration::volta) return add(kVolta, "volta_gemm");
    if (generation == TensorGeneration::turing) return add(kTuring, "turing_gemm");
    if (generation == TensorGeneration::cdna) return add(kCdna, "cdna_gemm");
    if (!wgmma) return add(kAmpere, "ampere_gemm");
    for (const Wgmma& shape : kHopper) {
        out.push_back(from_wgmma(shape, false, compute));
        if (shape.m != shape.n) out.push_back(from_wgmma(shape, true, compute));
    }
}

bool has_lanes(const config::HwConfig& gpu, DType compute) {
    if (compute == DType::fp32) return gpu.sm.fp32_fma_per_clk > 0;
    if (compute == DType::fp64) return gpu.sm.fp64_fma_per_clk > 0;
    return compute == DType::fp16 && gpu.sm.fp16_fma_per_clk > 0;
}

}  // namespace

std::int64_t stage_bytes(const Tile& tile, DType compute) { return (tile.m + tile.n) * tile.k * bits(compute) / 8; }

std::vector<GemmKernel> gemm_kernels(const config::HwConfig& gpu, DType compute) {
    std::vector<GemmKernel> all;
    if (gpu.has_tensor(compute)) {
        add_tensor_kernels(gpu, compute, all);
    } else if (has_lanes(gpu, compute)) {
        for (const SimtRow& row : kSimt) all.push_back(from_simt(row, compute));
    }
    std::erase_if(all, [&](const GemmKernel& k) { return k.tile.stages < 2 || ctas_per_sm(k.resources, gpu.sm) < 1; });
    return all;
}

}  // namespace rafter::lowering
