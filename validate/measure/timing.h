// The clock: how a bench is called and timed under each protocol. docs/measuring.md has the method in words.
#pragma once

#include <vector>

#include "validate/cuda/device.h"
#include "validate/measure/bench.h"

namespace rafter::validate {

/// Samples in microseconds a call, each with what the sensors said right after it. Errors: CudaError.
std::vector<Sample> time_bench(Bench& bench, const Protocol& protocol, const Context& context, const Sensors& sensors);

}  // namespace rafter::validate
