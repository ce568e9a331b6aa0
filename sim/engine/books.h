// Launches into kernels, kernels into layers.
#pragma once

#include "sim/config/hw_config.h"
#include "sim/engine/protocol.h"
#include "sim/machine/machine.h"
#include "sim/stats/result.h"

namespace rafter::engine {

/// Adds a launch to the books of its kernel, so many times.
void add(stats::KernelResult& result, const machine::KernelMeasurement& measured, std::int64_t times, Femtoseconds gap);

/// Sums a layer's kernels.
void close_layer(stats::LayerResult& row, const config::HwConfig& gpu, const Protocol& protocol);

}  // namespace rafter::engine
