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

/// Share of SM time by cause, 0..1, largest first, zeros left out.
std::vector<std::pair<Cause, double>> cause_shares(const CauseTimes& causes);
double share(const CauseTimes& causes, Cause cause);

}  // namespace rafter::stats
