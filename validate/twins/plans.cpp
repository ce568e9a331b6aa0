#include "validate/twins/plans.h"

#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>

#include "sim/core/quantity.h"

namespace rafter::validate {

namespace {

constexpr std::int64_t kLeastBlocksPerSplit = 8;

std::int64_t round_up(std::int64_t value, std::int64_t multiple) { return ceil_div(value, multiple) * multiple; }

void split(GemmPlan& plan, std::int64_t tiles, std::int64_t k, int sms) {
    const std::int64_t blocks = ceil_div(k, plan.tile_k);
    const std::int64_t wanted =
        std::clamp<std::int64_t>(sms / tiles, 1, std::max<std::int64_t>(1, blocks / kLeastBlocksPerSplit));
    plan.k_per_split = static_cast<int>(ceil_div(blocks, wanted) * plan.tile_k);
    plan.splits = static_cast<int>(ceil_div(k, plan.k_per_split));
}

}  // namespace

std::int64_t GemmPlan::grid(std::int64_t m, std::int64_t n) const { return ceil_div(m, tile_m) * ceil_div(n, tile_n) * splits; }

GemmPlan plan_gemm(DType dtype, std::int64_t m, std::int64_t n, std::int64_t k, int sms) {
    if (dtype == DType::fp32) return {128, 128, 8, 1, static_cast<int>(k), "twin_sgemm_128x128x8x2"};
    GemmPlan plan{128, 128, 32, 1, static_cast<int>(k), "twin_mma_128x128x32x3"};
    if (plan.grid(m, n) >= sms) return plan;
    plan = {64, 64, 32, 1, static_cast<int>(k), "twin_mma_64x64x32x4"};
    split(plan, plan.grid(m, n), k, sms);
    if (plan.splits > 1) plan.variant += fmt::format("_splitk{}", plan.splits);
    return plan;
}

int plan_splits(std::int64_t work, std::int64_t slots, std::int64_t kv_blocks) {
    if (static_cast<double>(work) >= 0.8 * static_cast<double>(slots)) return 1;
    const std::int64_t limit = std::min({std::int64_t{128}, slots, kv_blocks});
    std::array<double, 129> fill{};  // 0: this count leaves the blocks per split as one less does
    for (std::int64_t s = 1; s <= limit; ++s) {
        if (s > 1 && ceil_div(kv_blocks, s) == ceil_div(kv_blocks, s - 1)) continue;
        const double waves = static_cast<double>(work * s) / static_cast<double>(slots);
        fill[static_cast<std::size_t>(s)] = waves / std::ceil(waves);
    }
    const double best = *std::max_element(fill.begin(), fill.end());
    const auto first = std::find_if(fill.begin() + 1, fill.end(), [&](double f) { return f > 0 && f >= 0.85 * best; });
    return first == fill.end() ? 1 : static_cast<int>(first - fill.begin());
}

RowPlan plan_rows(DType dtype, std::int64_t cols) {
    constexpr std::int64_t kThreads = 1024, kHeld = 4;
    const std::int64_t width = 128 / bits(dtype);
    if (cols % width != 0) return {static_cast<int>(std::clamp<std::int64_t>(round_up(cols, 32), 32, kThreads)), 0, false};
    const std::int64_t packs = cols / width;
    if (packs <= kThreads) return {static_cast<int>(round_up(packs, 32)), 1, true};
    if (packs <= kHeld * kThreads) return {static_cast<int>(round_up(ceil_div(packs, kHeld), 32)), static_cast<int>(kHeld), true};
    return {static_cast<int>(kThreads), 0, true};
}

}  // namespace rafter::validate
