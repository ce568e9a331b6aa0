#include "sim/config/peaks.h"

#include <cmath>
#include <optional>

#include <fmt/format.h>

namespace rafter::config {

namespace {

constexpr double kTolerance = 0.02;

std::int64_t vector_lanes(const Sm& sm, DType t) {
    if (t == DType::fp32) return sm.fp32_fma_per_clk;
    if (t == DType::fp64) return sm.fp64_fma_per_clk;
    if (t == DType::fp16) return sm.fp16_fma_per_clk;
    return 0;
}

struct Parts {
    Unit unit;
    double peak;       ///< base units
    std::string text;  ///< "108 SMs x 2048 FLOP/clk x 1.41 GHz"
};

double gigahertz(Hertz f) { return static_cast<double>(f.value) / 1e9; }

Parts compute_parts(const HwConfig& gpu, double peak, std::int64_t flop_per_clk, Hertz clock) {
    return {Unit::flops_per_s, peak, fmt::format("{} SMs x {} FLOP/clk x {} GHz", gpu.sm.count, flop_per_clk, gigahertz(clock))};
}

/// From which parts the stated peak `key` follows; none for a key that is no peak of this GPU.
std::optional<Parts> parts_of(const HwConfig& gpu, const std::string& key) {
    if (key == "dram_bandwidth") {
        return Parts{Unit::bytes_per_s, gpu.dram.peak_bytes_per_s(),
                     fmt::format("{} channels x {} bit x {} Gbit/s", gpu.dram.channels, gpu.dram.channel_bits,
                                 static_cast<double>(gpu.dram.data_rate_bps) / 1e9)};
    }
    const auto underscore = key.rfind('_');
    if (underscore == std::string::npos) return std::nullopt;
    const auto dtype = parse_dtype(key.substr(0, underscore));
    if (!dtype) return std::nullopt;
    const std::string kind = key.substr(underscore + 1);
    if (kind == "tensor" && gpu.has_tensor(*dtype))
        return compute_parts(gpu, tensor_flops(gpu, *dtype), gpu.tensor.flop_per_clk.at(*dtype), gpu.tensor_peak);
    if (kind == "vector" && vector_flops(gpu, *dtype) > 0)
        return compute_parts(gpu, vector_flops(gpu, *dtype), 2 * vector_lanes(gpu.sm, *dtype), gpu.boost);
    return std::nullopt;
}

std::vector<std::string> peak_names(const HwConfig& gpu) {
    std::vector<std::string> names{"dram_bandwidth"};
    for (const auto& [dtype, rate] : gpu.tensor.flop_per_clk) names.push_back(fmt::format("{}_tensor", name(dtype)));
    for (const DType dtype : {DType::fp64, DType::fp32, DType::fp16}) {
        if (vector_flops(gpu, dtype) > 0) names.push_back(fmt::format("{}_vector", name(dtype)));
    }
    return names;
}

void check_peak(const Value& stated, const Parts& parts, HwConfig& gpu) {
    const double value = stated.quantity(parts.unit, 1, 1e20);
    gpu.stated_peaks.push_back({stated.path(), fmt::format("{} {}", value, base_unit(parts.unit)), stated.standing(),
                                stated.source(), stated.standing_given()});
    if (std::abs(value / parts.peak - 1) <= kTolerance) return;
    const bool compute = parts.unit == Unit::flops_per_s;
    const double scale = compute ? 1e12 : 1e9;
    stated.error(fmt::format("{}: stated {:.1f} {}, but the parts give {:.1f} ({}): {:+.1f} %; more than 2 % is refused",
                             stated.path(), value / scale, compute ? "TFLOP/s" : "GB/s", parts.peak / scale, parts.text,
                             100 * (value / parts.peak - 1)));
}

}  // namespace

double tensor_flops(const HwConfig& gpu, DType t) {
    const auto rate = gpu.tensor.flop_per_clk.find(t);
    if (rate == gpu.tensor.flop_per_clk.end()) return 0;
    return static_cast<double>(gpu.sm.count) * static_cast<double>(rate->second) * static_cast<double>(gpu.tensor_peak.value);
}

double vector_flops(const HwConfig& gpu, DType t) {
    return 2.0 * static_cast<double>(vector_lanes(gpu.sm, t)) * static_cast<double>(gpu.sm.count) *
           static_cast<double>(gpu.boost.value);
}

double HwConfig::peak_flops(DType t) const { return has_tensor(t) ? tensor_flops(*this, t) : vector_flops(*this, t); }

void check_peaks(const Value& peaks, HwConfig& gpu) {
    if (!peaks.defined()) return;
    for (const auto& [key, stated] : peaks.entries()) {
        if (const auto parts = parts_of(gpu, key)) {
            check_peak(stated, *parts, gpu);
            continue;
        }
        const auto names = peak_names(gpu);
        peaks.report(peaks.tree()->find(key)->place,
                     fmt::format("unknown peak '{}' in peaks; this GPU has: {}", key, fmt::join(names, ", ")));
    }
}

std::string content_hash(const HwConfig& gpu) {
    std::uint64_t hash = 0xcbf29ce484222325ULL;
    for (const Leaf& leaf : gpu.effective) {
        for (const char c : fmt::format("{}={}\n", leaf.path, leaf.value)) {
            hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3ULL;
        }
    }
    return fmt::format("{:016x}", hash);
}

}  // namespace rafter::config
