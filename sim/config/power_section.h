// The `power` section of a GPU file.
#pragma once

#include "sim/config/hw_config.h"
#include "sim/config/reader.h"

namespace rafter::config {

/// Reads `power` into gpu.tdp_w and, when the section gives more than a TDP, gpu.power: then every key is required, and an energy
/// for each dtype of the tensor cores (read before).
void read_power(const Value& value, HwConfig& gpu);

}  // namespace rafter::config
