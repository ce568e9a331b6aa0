// Upper bounds of a GPU from its architecture and clocks, and the least time a case can take by them. A sample below that is
// wrong.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "validate/host/case.h"

namespace rafter::validate {

/// What the device says of itself, as a plain value.
struct Device {
    std::string name;
    int major{}, minor{};
    int sms{};
    double clock_hz{};         ///< highest SM clock
    double memory_clock_hz{};  ///< 0: not known
    int bus_bits{};
    std::int64_t l2_bytes{}, memory_bytes{};
    int max_threads_per_sm{}, max_ctas_per_sm{}, registers_per_sm{};
    std::int64_t shared_per_sm{}, shared_per_cta{}, shared_reserved{};
    double memory_bytes_per_s() const { return 2.0 * memory_clock_hz * bus_bits / 8.0; }
};

/// Dense FLOP per clock per SM of the tensor cores, the most that any part of the architecture has; 0: none.
std::int64_t tensor_flop_per_clk(int major, int minor, DType dtype);
/// FMA per clock per SM on the vector lanes; 0 when not known.
std::int64_t fma_per_clk(int major, int minor, DType dtype);

/// "NVIDIA A100-SXM4-80GB" -> "a100-sxm4-80gb": the file in hw_configs/ where there is one.
std::string gpu_file_name(const std::string& device_name);

/// Work of a case that no kernel can avoid.
struct Work {
    double flops{};
    DType unit{DType::fp16};
    bool tensor{true};
    std::int64_t cold_bytes{};   ///< must come from memory under the protocol
    std::int64_t total_bytes{};  ///< touched at all: what exceeds the L2 must move
};
Work work_of(const Case& c);

/// Seconds; 0 when nothing is known.
double least_seconds(const Device& device, const Work& work);
/// How many samples (microseconds a call) are faster than physics.
int above_peak(const Device& device, const Work& work, const std::vector<double>& samples_us);

}  // namespace rafter::validate
