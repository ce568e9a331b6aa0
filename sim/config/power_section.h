// The `power` section of a GPU file.
#pragma once

#include "sim/config/hw_config.h"
#include "sim/config/reader.h"

namespace rafter::config {

/// Reads `power` into gpu.tdp_w and, when the section gives more than a TDP, gpu.power: then every key but the
/// limit (the TDP) is required. The rates of the tensor cores have been read.
void read_power(const Value& value, HwConfig& gpu);

}  // namespace rafter::config
