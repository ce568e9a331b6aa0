#include "sim/config/peaks.h"

#include <array>
#include <cmath>

#include <fmt/format.h>

#include "sim/config/loader.h"

namespace rafter::config {

namespace {

constexpr double kTolerance = 0.02;

void check_peak(const Value& stated, Unit unit, double computed, const std::string& parts, HwConfig& gpu) {
    const double value = stated.quantity(unit, 1, 1e20);
    gpu.stated_peaks[stated.path()] = value;
    if (std::abs(value / computed - 1) <= kTolerance) return;
    const double scale = unit == Unit::flops_per_s ? 1e12 : 1e9;
    stated.error(fmt::format("{}: stated {:.1f} {}, but the parts give {:.1f} ({}): {:+.1f} %; more than 2 % is refused",
                             stated.path(), value / scale, unit == Unit::flops_per_s ? "TFLOP/s" : "GB/s", computed / scale,
                             parts, 100 * (value / computed - 1)));
}

double gigahertz(Hertz f) { return static_cast<double>(f.value) / 1e9; }

}  // namespace

double tensor_flops(const HwConfig& gpu, DType t) {
    const auto rate = gpu.tensor.flop_per_clk.find(t);
    if (rate == gpu.tensor.flop_per_clk.end()) return 0;
    return static_cast<double>(gpu.sm.count) * static_cast<double>(rate->second) * static_cast<double>(gpu.tensor_peak.value);
}

double vector_flops(const HwConfig& gpu, DType t) {
    std::int64_t lanes = 0;
    if (t == DType::fp32 || t == DType::tf32) lanes = gpu.sm.fp32_fma_per_clk;
    if (t == DType::fp64) lanes = gpu.sm.fp64_fma_per_clk;
    if (t == DType::fp16 || t == DType::bf16) lanes = gpu.sm.fp16_fma_per_clk;
    return 2.0 * static_cast<double>(lanes) * static_cast<double>(gpu.sm.count) * static_cast<double>(gpu.boost.value);
}

double HwConfig::peak_flops(DType t) const { return has_tensor(t) ? tensor_flops(*this, t) : vector_flops(*this, t); }

void check_peaks(const Value& peaks, HwConfig& gpu) {
    if (!peaks.defined()) return;
    for (const auto& [key, stated] : peaks.entries()) {
        if (key == "dram_bandwidth") {
            check_peak(stated, Unit::bytes_per_s, gpu.dram.peak_bytes_per_s(),
                       fmt::format("{} channels x {} bit x {} Gbit/s", gpu.dram.channels, gpu.dram.channel_bits,
                                   static_cast<double>(gpu.dram.data_rate_bps) / 1e9),
                       gpu);
        } else if (key == "fp32_vector") {
            check_peak(
                stated, Unit::flops_per_s, vector_flops(gpu, DType::fp32),
                fmt::format("{} SMs x {} FLOP/clk x {} GHz", gpu.sm.count, 2 * gpu.sm.fp32_fma_per_clk, gigahertz(gpu.boost)),
                gpu);
        } else {
            const auto dash = key.rfind("_tensor");
            const auto dtype = dash == std::string::npos ? std::nullopt : parse_dtype(key.substr(0, dash));
            if (!dtype || !gpu.has_tensor(*dtype)) {
                stated.error(fmt::format("unknown peak '{}'; allowed: dram_bandwidth, fp32_vector, <dtype>_tensor", key));
                continue;
            }
            check_peak(stated, Unit::flops_per_s, tensor_flops(gpu, *dtype),
                       fmt::format("{} SMs x {} FLOP/clk x {} GHz", gpu.sm.count, gpu.tensor.flop_per_clk.at(*dtype),
                                   gigahertz(gpu.tensor_peak)),
                       gpu);
        }
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

std::vector<std::string> lint_gpu(const HwConfig& gpu) {
    std::vector<std::string> missing;
    for (const Leaf& leaf : gpu.effective) {
        if (leaf.source.empty()) missing.push_back(leaf.path);
    }
    return missing;
}

std::string describe(const HwConfig& gpu) {
    std::string text =
        fmt::format("{}  {} (compute capability {})\nconfig hash {}\n", gpu.name, gpu.title, gpu.compute_capability, gpu.hash);
    const double bandwidth = gpu.dram.peak_bytes_per_s();
    text += fmt::format("DRAM {}: {:.2f} GB = {:.2f} GiB, {:.1f} GB/s = {} channels x {} bit x {} Gbit/s\n", gpu.dram.type,
                        static_cast<double>(gpu.dram.capacity.value) / 1e9,
                        static_cast<double>(gpu.dram.capacity.value) / 1073741824.0, bandwidth / 1e9, gpu.dram.channels,
                        gpu.dram.channel_bits, static_cast<double>(gpu.dram.data_rate_bps) / 1e9);
    text += fmt::format("L2: {:.2f} MB = {:.2f} MiB in {} slices, {} B/clk\n", static_cast<double>(gpu.l2.capacity.value) / 1e6,
                        static_cast<double>(gpu.l2.capacity.value) / 1048576.0, gpu.l2.slices, gpu.l2.bytes_per_clk);
    text += fmt::format("{} SMs, boost {:.3f} GHz, tensor peak at {:.3f} GHz\n", gpu.sm.count, gigahertz(gpu.boost),
                        gigahertz(gpu.tensor_peak));
    for (const auto& [dtype, rate] : gpu.tensor.flop_per_clk) {
        text += fmt::format("  {:5} tensor {:9.1f} TFLOP/s = {} SMs x {} FLOP/clk; ridge {:.1f} FLOP/byte\n", name(dtype),
                            tensor_flops(gpu, dtype) / 1e12, gpu.sm.count, rate, tensor_flops(gpu, dtype) / bandwidth);
    }
    for (const DType dtype : {DType::fp64, DType::fp32, DType::fp16}) {
        const double peak = vector_flops(gpu, dtype);
        if (peak > 0)
            text += fmt::format("  {:5} vector {:9.1f} TFLOP/s; ridge {:.1f} FLOP/byte\n", name(dtype), peak / 1e12,
                                peak / bandwidth);
    }
    std::array<int, 4> standings{};
    for (const Leaf& leaf : gpu.effective) ++standings[static_cast<std::size_t>(leaf.standing)];
    return text + fmt::format("values: {} datasheet, {} measured, {} derived, {} estimate\n", standings[0], standings[1],
                              standings[2], standings[3]);
}

}  // namespace rafter::config
