// The roofline a layer is held against, what bounds it, and the sentence that says why. docs/results.md, equations (R.1)-(R.5).
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "sim/stats/result.h"

namespace rafter::stats {

/// Highest FLOP/s the GPU has for a dtype in the layer's kind of work.
double peak_flops(const config::HwConfig& gpu, const LayerResult& layer);
double ridge_point(const config::HwConfig& gpu, const LayerResult& layer);  ///< FLOP / byte (R.2)

/// Fills intensity, ridge, roofline times, bound, reuse and the sentence from times, counts, causes and traffic.
void finish_layer(LayerResult& layer, const config::HwConfig& gpu);

/// The bound a cause counts towards: compute = tensor, fma, sfu, shared_memory; memory_bandwidth = l1, crossbar, l2_bandwidth,
/// hbm_bandwidth; memory_latency = l2_latency, hbm_latency; dependency = dependency, barrier; launch = launch; parallelism =
/// tail, idle. (capacity is for layers whose data lives outside the GPU; no cause counts towards it yet.)
Bound bound_of(Cause cause);
/// The bound with the most SM time; of equal ones the first in the order above. (R.4)
Bound classify(const CauseTimes& causes);

/// Share of SM time by cause, 0..1, largest first, zeros left out.
std::vector<std::pair<Cause, double>> cause_shares(const CauseTimes& causes);
double share(const CauseTimes& causes, Cause cause);

}  // namespace rafter::stats
