#include "sim/stats/physics.h"

#include <cmath>

#include <fmt/format.h>

#include "sim/core/error.h"

namespace rafter::stats {

namespace {

void must(bool holds, const LayerResult& layer, const std::string& law) {
    if (!holds)
        throw InternalError(fmt::format("internal error: layer {} of phase {} breaks physics: {}", layer.name, layer.phase, law));
}

std::int64_t sum(const CauseTimes& causes) {
    std::int64_t total = 0;
    for (const auto time : causes) total += time.value;
    return total;
}

void check_layer(const LayerResult& layer, const RunResult& result) {
    const auto& t = layer.traffic;
    must(layer.time.value > 0, layer, "it takes no time");
    must(layer.time >= layer.roofline_time, layer,
         fmt::format("{} fs is less than max(flops / peak, bytes / bandwidth) = {} fs", layer.time.value,
                     layer.roofline_time.value));
    must(sum(layer.causes) == layer.time.value * result.gpu.sm.count, layer, "causes do not sum to the elapsed time of all SMs");
    for (const auto time : layer.causes) must(time.value >= 0, layer, "a cause has negative time");
    Femtoseconds kernels{};
    for (const auto& kernel : layer.kernels) kernels += kernel.time;
    must(kernels == layer.time, layer, "its kernels do not sum to its time");
    must(t.l2_read.value >= 0 && t.hbm_read.value >= 0 && t.hbm_write.value >= 0, layer, "negative bytes");
    must(layer.parallelism.occupancy >= 0 && layer.parallelism.occupancy <= 1, layer, "occupancy outside 0..1");
    must(layer.parallelism.busy_sms >= 0 && layer.parallelism.busy_sms <= static_cast<double>(result.gpu.sm.count) + 1e-9, layer,
         "more busy SMs than there are");
    must(std::isfinite(layer.arithmetic_intensity) && std::isfinite(layer.reuse_l1) && std::isfinite(layer.reuse_l2), layer,
         "a derived figure is not finite");
    // A sector asked of the DRAM moves one access granule at most 32 B apart: reads below the L2 are bounded by requests above
    // it, granule by granule (partial writes and atomics fetch what they modify).
    const double granules = static_cast<double>(result.gpu.dram.access_granularity.value) / 32.0;
    must(static_cast<double>(t.hbm_read.value) <= granules * static_cast<double>((t.l2_read + t.l2_write).value) + 1, layer,
         "more bytes come from the DRAM than the SMs asked of the L2");
}

}  // namespace

void check_physics(const RunResult& result) {
    for (const auto& layer : result.layers) check_layer(layer, result);
    Femtoseconds phases{};
    for (const auto& phase : result.phases) phases += phase.time;
    if (phases != result.total_time()) throw InternalError("internal error: phases do not sum to the total time");
}

}  // namespace rafter::stats
