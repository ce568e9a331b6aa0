// Layer -> kernels, as the vendor's libraries would choose them.
#pragma once

#include <vector>

#include "sim/config/hw_config.h"
#include "sim/program/kernel.h"
#include "sim/workload/layer.h"

namespace rafter::lowering {

/// The kernels of one execution of a layer, in launch order. A kernel with `repeat` > 1 stands for that many equal dependent
/// launches.
struct Launch {
    program::Kernel kernel;
    std::int64_t repeat{1};
};

/// Errors: Error naming the layer when the GPU cannot run it (a dtype without units, a tile larger than shared memory).
std::vector<Launch> lower(const workload::Layer& layer, const config::HwConfig& gpu);

/// CTAs of a kernel resident on one SM at a time; 0 when it does not fit. `limiter` (may be null) names the resource.
std::int64_t ctas_per_sm(const program::Resources& resources, const config::Sm& sm, std::string* limiter = nullptr);

}  // namespace rafter::lowering
