// Peaks recomputed from parts.
#pragma once

#include "sim/config/hw_config.h"
#include "sim/config/reader.h"

namespace rafter::config {

/// A stated peak more than 2 % off what the parts give is an error at its line. Keys: <dtype>_tensor,
/// fp64_vector, fp32_vector, fp16_vector, dram_bandwidth.
void check_peaks(const Value& peaks, HwConfig& gpu);

/// FNV-1a over the effective leaves, names and sources left out.
std::string content_hash(const HwConfig& gpu);

/// 0 for a dtype without lanes of its own.
double vector_flops(const HwConfig& gpu, DType t);
double tensor_flops(const HwConfig& gpu, DType t);

}  // namespace rafter::config
