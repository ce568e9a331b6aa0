#include "sim/stats/phase.h"

#include "sim/stats/roofline.h"

namespace rafter::stats {

namespace {

/// Time the FLOPs of the phase take at the peaks of their dtypes, and the bytes of its weights, tables and caches.
struct Ideal {
    double flops_s{0}, bytes{0};
};

Ideal ideal(const RunResult& result, const PhaseResult& phase) {
    Ideal sum;
    for (const auto& layer : result.layers) {
        if (layer.phase != phase.name) continue;
        if (layer.flops > 0) sum.flops_s += static_cast<double>(layer.flops) / peak_flops(result.gpu, layer);
        sum.bytes += static_cast<double>(layer.parameters.value);
    }
    return sum;
}

PhaseMetrics metrics(const RunResult& result, const PhaseResult& phase, Femtoseconds end) {
    PhaseMetrics m;
    const double time = seconds(phase.time), steps = static_cast<double>(phase.steps);
    if (phase.time.value == 0) return m;
    const Ideal best = ideal(result, phase);
    m.mfu = best.flops_s / time;                                     // (R.6)
    m.mbu = best.bytes / result.gpu.dram.peak_bytes_per_s() / time;  // (R.7)
    if (phase.prompt) m.ttft_s = seconds(end);                       // (R.8)
    if (phase.tokens > 0) m.tokens_per_s = static_cast<double>(phase.tokens) * steps / time;
    if (phase.generates) {
        m.tpot_s = time * static_cast<double>(phase.sequences) / (steps * static_cast<double>(phase.tokens));
    } else if (phase.sequences > 0) {
        m.samples_per_s = static_cast<double>(phase.sequences) * steps / time;
    }
    return m;
}

}  // namespace

void finish_phases(RunResult& result) {
    Femtoseconds end{};
    for (auto& phase : result.phases) {
        end += phase.time;
        phase.metrics = metrics(result, phase, end);
        for (auto& block : phase.blocks) {
            block.time = Femtoseconds{};
            for (std::size_t i = 0; i < block.layers; ++i) block.time += result.layers.at(block.first + i).time;
        }
    }
}

}  // namespace rafter::stats
