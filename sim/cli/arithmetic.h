// The counts of a layer as formulas with their numbers put in: what `rafter explain layer` prints.
#pragma once

#include <string>
#include <vector>

#include "sim/workload/layer.h"

namespace rafter::cli {

std::string exact(Count n);  ///< every digit up to 2^64, seven beyond

/// "MACs = batch x m x n x k = 1 x 4096 x 4096 x 4096 = 68719476736", then the FLOPs. docs/workloads.md, (W.1)-(W.8).
std::vector<std::string> work_formula(const workload::Layer& layer, const workload::Counts& counts);

/// One line per tensor read or written, then the sums.
std::vector<std::string> byte_formula(const workload::Layer& layer, const workload::Counts& counts);

}  // namespace rafter::cli
