#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "sim/engine/run.h"
#include "sim/stats/roofline.h"
#include "sim/validate/outcome.h"
#include "sim/workload/model.h"

namespace rafter::validate {

namespace {

double micro(Femtoseconds t) { return static_cast<double>(t.value) * 1e-9; }

/// Fewest multiplications an algorithm of the libraries needs, of those the definition counts: Winograd F(4x4, 3x3) does 36 for
/// 144, and larger windows by FFT no better; strided and 1x1 windows have no short cut.
double fewest_products(const workload::Layer& layer) {
    const auto* conv = std::get_if<workload::Conv2d>(&layer.operation);
    const bool dense = conv != nullptr && conv->stride_h == 1 && conv->stride_w == 1 && conv->r * conv->s > 1;
    return dense ? 0.25 : 1.0;
}

/// Bytes that must cross the memory bus: what an L2 may have kept from before, or keeps dirty, is left out; so are table rows
/// that may repeat. (V.3)
double fewest_bytes(const workload::Layer& layer, const workload::Counts& counts, const config::HwConfig& gpu, bool cold) {
    const bool gather = std::holds_alternative<workload::EmbeddingBag>(layer.operation);
    const auto bytes = static_cast<double>(gather ? counts.output_bytes.value : counts.total_bytes().value);
    const auto kept = static_cast<double>(gpu.l2.capacity.value) * (cold ? 1 : 2);
    return std::max(0.0, bytes - kept);
}

void add_floor(Outcome& outcome, const workload::Layer& layer, const stats::LayerResult& result, const config::HwConfig& gpu,
               bool cold) {
    const auto counts = workload::count(layer);
    const auto boost = static_cast<double>(gpu.boost.value), tensor = static_cast<double>(gpu.tensor_peak.value);
    const double peak = stats::peak_flops(gpu, result) * std::max(1.0, boost / tensor);
    const double compute = static_cast<double>(counts.macs) * 2 * fewest_products(layer) / peak;
    const double memory = fewest_bytes(layer, counts, gpu, cold) / gpu.dram.peak_bytes_per_s();
    outcome.floor_us += std::max(compute, memory) * 1e6;
    outcome.flops += static_cast<double>(counts.flops);
    outcome.bytes += static_cast<double>(counts.total_bytes().value);
}

void add_causes(Outcome& outcome, const stats::RunResult& result) {
    stats::CauseTimes causes{};
    for (const auto& layer : result.layers)
        for (std::size_t i = 0; i < stats::kCauses; ++i) causes[i] += layer.causes[i];
    for (const auto& [cause, share] : stats::cause_shares(causes)) outcome.causes.emplace_back(stats::name(cause), share);
    outcome.bound = stats::name(stats::classify(causes));
}

void add_kernels(Outcome& outcome, const stats::RunResult& result) {
    for (const auto& layer : result.layers) {
        for (const auto& kernel : layer.kernels) {
            outcome.kernels += fmt::format("{}{} grid {}", outcome.kernels.empty() ? "" : "; ", kernel.name, kernel.grid);
            if (kernel.count > 1) outcome.kernels += fmt::format(" x{}", kernel.count);
        }
    }
}

}  // namespace

Outcome simulate_one(const Simulation& simulation, const config::HwConfig& gpu, bool exact) {
    const auto model = workload::parse(simulation.workload, "row");
    engine::RunOptions options;
    options.protocol = simulation.protocol;
    options.exact = exact;
    const auto result = engine::run(gpu, model, options);
    Outcome outcome;
    outcome.status = Status::scored;
    outcome.sim_us = micro(result.total_time());
    const bool cold = simulation.protocol.caches == engine::Caches::cold;
    const auto& layers = model.phases.front().blocks.front().layers;
    for (std::size_t i = 0; i < layers.size(); ++i) {
        outcome.roofline_us += micro(result.layers[i].compulsory_time);
        add_floor(outcome, layers[i], result.layers[i], gpu, cold);
    }
    add_causes(outcome, result);
    add_kernels(outcome, result);
    return outcome;
}

}  // namespace rafter::validate
