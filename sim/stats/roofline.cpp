#include "sim/stats/roofline.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

namespace rafter::stats {

namespace {

constexpr double kSector = 32;

Femtoseconds femtoseconds(double s) { return Femtoseconds(static_cast<std::int64_t>(s * 1e15)); }

/// max(flops / peak, bytes / bandwidth), rounded down so that a run at its bound does not fall below it. (R.3)
Femtoseconds bound_time(double flops, double bytes, double peak, double bandwidth) {
    return femtoseconds(std::max(flops > 0 ? flops / peak : 0.0, bytes / bandwidth));
}

std::string words(Bound bound) {
    switch (bound) {
        case Bound::compute:
            return "compute-bound";
        case Bound::memory_bandwidth:
            return "memory-bound";
        case Bound::memory_latency:
            return "latency-bound";
        case Bound::dependency:
            return "dependency-bound";
        case Bound::launch:
            return "launch-bound";
        case Bound::parallelism:
            return "short of parallel work";
        case Bound::capacity:
            return "short of memory";
    }
    return "";
}

std::string number(double x) {
    return x >= 100 ? fmt::format("{:.0f}", x) : x >= 1 ? fmt::format("{:.1f}", x) : fmt::format("{:.2g}", x);
}

std::string percent(double share) { return fmt::format("{:.0f} % of SM time", 100 * share); }

/// "0.5 FLOP/byte is left of the ridge at 153", or what there is to say without any FLOPs.
std::string position(const LayerResult& layer) {
    if (layer.flops == 0) return "it moves bytes and computes nothing";
    return fmt::format("{} FLOP/byte is {} of the ridge at {}", number(layer.arithmetic_intensity),
                       layer.arithmetic_intensity < layer.ridge_point ? "left" : "right", number(layer.ridge_point));
}

/// The intensity's verdict is the measured bound: nothing to be surprised about.
bool as_expected(const LayerResult& layer) {
    const bool left = layer.arithmetic_intensity < layer.ridge_point;
    return layer.bound == (left ? Bound::memory_bandwidth : Bound::compute);
}

/// "memory-bound: 0.5 FLOP/byte is left of the ridge at 153; 91 % of SM time waits on HBM bandwidth". The causes named belong to
/// the bound first, so that the sentence gives the reason for its own first word.
std::string sentence(const LayerResult& layer) {
    auto shares = cause_shares(layer.causes);
    std::stable_partition(shares.begin(), shares.end(), [&](const auto& s) { return bound_of(s.first) == layer.bound; });
    std::string text = fmt::format("{}: {}", words(layer.bound), position(layer));
    if (!shares.empty()) {
        text +=
            fmt::format("{} {} {}", as_expected(layer) ? ";" : ", yet", percent(shares[0].second), description(shares[0].first));
        if (shares.size() > 1 && shares[1].second > 0.15)
            text += fmt::format(", {:.0f} % {}", 100 * shares[1].second, description(shares[1].first));
    }
    if (layer.parallelism.chain_length > 1) text += fmt::format("; {} dependent steps", layer.parallelism.chain_length);
    return text;
}

double reuse(Bytes above, Bytes below) {
    return static_cast<double>(above.value) / std::max(kSector, static_cast<double>(below.value));
}

bool uses_tensor(const LayerResult& layer) {
    return std::any_of(layer.kernels.begin(), layer.kernels.end(), [](const KernelResult& k) { return k.tensor; });
}

}  // namespace

Bound bound_of(Cause cause) {
    switch (cause) {
        case Cause::tensor:
        case Cause::fma:
        case Cause::sfu:
        case Cause::shared_memory:
            return Bound::compute;
        case Cause::l1:
        case Cause::crossbar:
        case Cause::l2_bandwidth:
        case Cause::hbm_bandwidth:
        case Cause::link:
            return Bound::memory_bandwidth;
        case Cause::l2_latency:
        case Cause::hbm_latency:
            return Bound::memory_latency;
        case Cause::dependency:
        case Cause::barrier:
            return Bound::dependency;
        case Cause::launch:
            return Bound::launch;
        case Cause::tail:
        case Cause::idle:
            return Bound::parallelism;
    }
    return Bound::compute;
}

/// (R.4)
Bound classify(const CauseTimes& causes) {
    std::array<std::int64_t, 7> time{};
    for (std::size_t i = 0; i < kCauses; ++i) time[static_cast<std::size_t>(bound_of(static_cast<Cause>(i)))] += causes[i].value;
    return static_cast<Bound>(std::max_element(time.begin(), time.end()) - time.begin());
}

double peak_flops(const config::HwConfig& gpu, const LayerResult& layer) {
    if (uses_tensor(layer)) return gpu.peak_flops(layer.dtype);
    const double lanes =
        2.0 * static_cast<double>(layer.dtype == DType::fp64 ? gpu.sm.fp64_fma_per_clk : gpu.sm.fp32_fma_per_clk);
    const double vector = lanes * static_cast<double>(gpu.sm.count) * static_cast<double>(gpu.boost.value);
    return std::max(vector, gpu.peak_flops(layer.dtype));
}

double ridge_point(const config::HwConfig& gpu, const LayerResult& layer) {
    return peak_flops(gpu, layer) / gpu.dram.peak_bytes_per_s();
}

std::vector<std::pair<Cause, double>> cause_shares(const CauseTimes& causes) {
    std::vector<std::pair<Cause, double>> shares;
    for (std::size_t i = 0; i < kCauses; ++i) {
        const double s = share(causes, static_cast<Cause>(i));
        if (s > 0) shares.emplace_back(static_cast<Cause>(i), s);
    }
    std::stable_sort(shares.begin(), shares.end(), [](const auto& a, const auto& b) { return a.second > b.second; });
    return shares;
}

double share(const CauseTimes& causes, Cause cause) {
    std::int64_t total = 0;
    for (const auto time : causes) total += time.value;
    return total == 0 ? 0.0 : static_cast<double>(causes[static_cast<std::size_t>(cause)].value) / static_cast<double>(total);
}

void finish_layer(LayerResult& layer, const config::HwConfig& gpu) {
    const auto flops = static_cast<double>(layer.flops);
    const double bytes = static_cast<double>((layer.algorithmic_read + layer.algorithmic_write).value);
    const double moved = static_cast<double>((layer.traffic.hbm_read + layer.traffic.hbm_write).value);
    const double peak = peak_flops(gpu, layer), bandwidth = gpu.dram.peak_bytes_per_s();
    layer.arithmetic_intensity = bytes > 0 ? flops / bytes : 0;  // (R.1)
    layer.ridge_point = peak / bandwidth;
    layer.roofline_time = bound_time(flops, moved, peak, bandwidth);
    layer.compulsory_time = bound_time(flops, bytes, peak, bandwidth);
    layer.bound = classify(layer.causes);
    layer.reuse_l1 =
        reuse(layer.traffic.l1_read + layer.traffic.l1_write, layer.traffic.l2_read + layer.traffic.l2_write);  // (R.5)
    layer.reuse_l2 = reuse(layer.traffic.l2_read + layer.traffic.l2_write, layer.traffic.hbm_read + layer.traffic.hbm_write);
    layer.sentence = sentence(layer);
}

}  // namespace rafter::stats
