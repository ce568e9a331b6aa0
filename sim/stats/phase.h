// Speeds of the phases of a run. docs/results.md, (R.6)-(R.8).
#pragma once

#include "sim/stats/result.h"

namespace rafter::stats {

/// Fills metrics and block times of every phase from its layers, which must be finished.
void finish_phases(RunResult& result);

}  // namespace rafter::stats
