#include "sim/stats/physics.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "sim/core/error.h"

namespace rafter::stats {

namespace {

__extension__ using Wide = __int128;

constexpr double kSector = 32;

/// Holds the laws for one subject, "layer fc1 of phase prefill".
struct Law {
    std::string subject;
    void must(bool holds, const std::string& broken) const {
        if (!holds) throw InternalError(fmt::format("internal error: {} breaks physics: {}", subject, broken));
    }
};

void check_causes(const Law& law, const CauseTimes& causes, Femtoseconds time, std::int64_t sms) {
    Wide total = 0;
    for (const auto share : causes) {
        law.must(share.value >= 0, "a cause has negative time");
        total += share.value;
    }
    law.must(total == Wide{time.value} * sms, "its causes do not sum to the elapsed time of all SMs");
}

void check_parallelism(const Law& law, const Parallelism& p, std::int64_t sms) {
    law.must(p.occupancy >= 0 && p.occupancy <= 1, fmt::format("occupancy {} is outside 0..1", p.occupancy));
    law.must(p.busy_sms >= 0 && p.busy_sms <= static_cast<double>(sms) + 1e-9, fmt::format("{} busy SMs of {}", p.busy_sms, sms));
    law.must(p.ctas >= 0 && p.waves >= 0 && p.chain_length >= 1, "negative parallelism");
}

/// A sector asked of the DRAM moves one access granule: reads below the L2 are bounded by requests above it, granule by granule
/// (partial writes and atomics fetch what they modify).
void check_traffic(const Law& law, const Traffic& t, const config::HwConfig& gpu) {
    for (const Bytes b : {t.l1_read, t.l1_write, t.l2_read, t.l2_write, t.hbm_read, t.hbm_write, t.link_read, t.link_write})
        law.must(b.value >= 0, "negative bytes");
    const double granule = std::max(1.0, static_cast<double>(gpu.dram.access_granularity.value) / kSector);
    law.must(static_cast<double>(t.hbm_read.value) <= granule * static_cast<double>((t.l2_read + t.l2_write).value) + 1,
             fmt::format("{} B come from the DRAM, {} B were asked of the L2", t.hbm_read.value, (t.l2_read + t.l2_write).value));
}

void check_kernel(const LayerResult& layer, const KernelResult& kernel, const config::HwConfig& gpu) {
    const Law law{fmt::format("kernel {} of layer {}", kernel.name, layer.name)};
    check_causes(law, kernel.causes, kernel.time, gpu.sm.count);
    check_parallelism(law, kernel.parallelism, gpu.sm.count);
    check_traffic(law, kernel.traffic, gpu);
    law.must(kernel.launch.value >= 0 && kernel.launch <= kernel.time, "the launch takes longer than the kernel");
}

void check_layer(const LayerResult& layer, const config::HwConfig& gpu) {
    const Law law{fmt::format("layer {} of phase {}", layer.name, layer.phase)};
    law.must(layer.time.value > 0, "it takes no time");
    law.must(layer.time >= layer.roofline_time, fmt::format("{} fs is less than max(flops / peak, bytes / bandwidth) = {} fs",
                                                            layer.time.value, layer.roofline_time.value));
    check_causes(law, layer.causes, layer.time, gpu.sm.count);
    check_parallelism(law, layer.parallelism, gpu.sm.count);
    check_traffic(law, layer.traffic, gpu);
    Femtoseconds kernels{};
    for (const auto& kernel : layer.kernels) {
        check_kernel(layer, kernel, gpu);
        kernels += kernel.time;
    }
    law.must(kernels == layer.time, "its kernels do not sum to its time");
    for (const double derived : {layer.arithmetic_intensity, layer.ridge_point, layer.reuse_l1, layer.reuse_l2})
        law.must(std::isfinite(derived) && derived >= 0, "a derived figure is negative or not finite");
}

}  // namespace

void check_physics(const RunResult& result) {
    for (const auto& layer : result.layers) check_layer(layer, result.gpu);
    Femtoseconds phases{};
    for (const auto& phase : result.phases) phases += phase.time;
    Law{"the run"}.must(phases == result.total_time(), "its phases do not sum to the total time");
}

}  // namespace rafter::stats
