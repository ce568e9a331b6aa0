// What a phase is, seen from its layers: sequences and tokens of a step, steps at which something changes.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "sim/config/hw_config.h"
#include "sim/stats/result.h"
#include "sim/workload/model.h"

namespace rafter::engine {

/// The phase before it is run; its layers are those from `first_layer` of the result. Sequences are the batch of its first
/// attention, else the dim `batch`.
stats::PhaseResult open_phase(const workload::Phase& phase, const std::map<std::string, std::int64_t>& dims,
                              std::size_t first_layer);

/// Appends a step that was run, and the steps on the line from the one before.
void add_step(stats::PhaseResult& phase, const stats::StepResult& step);

/// Kernels, grids and launches of the layers whose sizes follow the cache.
std::string step_structure(const workload::Phase& phase, std::int64_t step, const config::HwConfig& gpu);

/// The steps around the ones at which a cache fills its window.
std::vector<std::int64_t> window_steps(const workload::Phase& phase);

/// Whether the size of a layer is an expression of `step`, of which nothing is known.
bool written_with_step(const workload::Phase& phase);

}  // namespace rafter::engine
