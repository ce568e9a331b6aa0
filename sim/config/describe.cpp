#include <array>
#include <cmath>

#include <fmt/format.h>

#include "sim/config/loader.h"
#include "sim/config/peaks.h"

namespace rafter::config {

namespace {

constexpr double kGiB = 1073741824.0, kMiB = 1048576.0;

double as_double(std::int64_t n) { return static_cast<double>(n); }

std::string describe_compute(const HwConfig& gpu) {
    const double bandwidth = gpu.dram.peak_bytes_per_s();
    std::string text;
    const auto row = [&](DType dtype, const char* unit, double peak, std::int64_t per_clk, Hertz clock) {
        text += fmt::format("  {:5} {:6} {:8.1f} TFLOP/s = {} SMs x {} FLOP/clk x {} GHz; ridge {:.1f} FLOP/byte\n", name(dtype),
                            unit, peak / 1e12, gpu.sm.count, per_clk, as_double(clock.value) / 1e9, peak / bandwidth);
    };
    for (const auto& [dtype, rate] : gpu.tensor.flop_per_clk)
        row(dtype, "tensor", tensor_flops(gpu, dtype), rate, gpu.tensor_peak);
    for (const DType dtype : {DType::fp64, DType::fp32, DType::fp16}) {
        const double peak = vector_flops(gpu, dtype);
        const std::int64_t per_clk = std::llround(peak / as_double(gpu.sm.count) / as_double(gpu.boost.value));
        if (peak > 0) row(dtype, "vector", peak, per_clk, gpu.boost);
    }
    return text;
}

std::string describe_memory(const HwConfig& gpu) {
    const auto& d = gpu.dram;
    std::string text = fmt::format("DRAM {}: {:.2f} GB = {:.2f} GiB, {:.1f} GB/s = {} channels x {} bit x {} Gbit/s\n", d.type,
                                   as_double(d.capacity.value) / 1e9, as_double(d.capacity.value) / kGiB,
                                   d.peak_bytes_per_s() / 1e9, d.channels, d.channel_bits, as_double(d.data_rate_bps) / 1e9);
    text += fmt::format("L2: {:.2f} MB = {:.2f} MiB in {} slices and {} partition{}, {} B/clk = {:.1f} GB/s at boost\n",
                        as_double(gpu.l2.capacity.value) / 1e6, as_double(gpu.l2.capacity.value) / kMiB, gpu.l2.slices,
                        gpu.l2.partitions, gpu.l2.partitions == 1 ? "" : "s", gpu.l2.bytes_per_clk,
                        as_double(gpu.l2.bytes_per_clk) * as_double(gpu.boost.value) / 1e9);
    return text;
}

}  // namespace

std::vector<std::string> lint_gpu(const HwConfig& gpu) {
    std::vector<std::string> missing;
    for (const auto* leaves : {&gpu.effective, &gpu.stated_peaks}) {
        for (const Leaf& leaf : *leaves) {
            if (leaf.source.empty() || !leaf.standing_given) missing.push_back(leaf.path);
        }
    }
    return missing;
}

std::string describe(const HwConfig& gpu) {
    std::string text =
        fmt::format("{}  {} (compute capability {})\nconfig hash {}\n", gpu.name, gpu.title, gpu.compute_capability, gpu.hash);
    text += describe_memory(gpu);
    text += fmt::format("{} SMs, boost {} MHz, tensor peak at {} MHz\n", gpu.sm.count, as_double(gpu.boost.value) / 1e6,
                        as_double(gpu.tensor_peak.value) / 1e6);
    text += describe_compute(gpu);
    std::array<int, 4> standings{};
    for (const Leaf& leaf : gpu.effective) ++standings[static_cast<std::size_t>(leaf.standing)];
    return text +
           fmt::format("values: {} datasheet, {} measured, {} derived, {} estimate; {} stated peaks within 2 % of the parts\n",
                       standings[0], standings[1], standings[2], standings[3], gpu.stated_peaks.size());
}

}  // namespace rafter::config
