// What every result must obey, whatever the model does. Checked at the end of each run, in release too.
#pragma once

#include "sim/stats/result.h"

namespace rafter::stats {

/// Errors: InternalError naming the layer and the broken law.
void check_physics(const RunResult& result);

}  // namespace rafter::stats
