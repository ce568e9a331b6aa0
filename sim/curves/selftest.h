// What a GPU file's memory system does, held against what the file itself says. docs/model/curves.md.
#pragma once

#include <string>
#include <vector>

#include "sim/config/hw_config.h"
#include "sim/curves/curves.h"

namespace rafter::curves {

struct Check {
    std::string name, unit;
    double simulated{0}, low{0}, high{0};
    bool holds() const { return simulated >= low && simulated <= high; }
};

/// Latencies of L1, L2 and DRAM, bandwidth of L2 and DRAM, random rows. Once per process, inside sc_main.
std::vector<Check> self_test(const config::HwConfig& gpu);

}  // namespace rafter::curves
