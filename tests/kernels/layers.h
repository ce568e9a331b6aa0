// Layers as values for tests of kernels and lowering.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "sim/lowering/lower.h"
#include "sim/workload/layer.h"
#include "tests/catch.h"
#include "tests/kernels/gpus.h"
#include "tests/kernels/recording_cta.h"

namespace rafter::test {

inline workload::Layer layer_of(workload::Operation op, DType dtype = DType::fp16) {
    workload::Layer layer;
    layer.name = "l";
    layer.operation = std::move(op);
    layer.weights = layer.activations = dtype;
    return layer;
}

inline void each_byte_once(const std::vector<std::uint16_t>& counts) {
    REQUIRE(std::all_of(counts.begin(), counts.end(), [](auto times) { return times == 1; }));
}

inline void each_byte_touched(const std::vector<std::uint16_t>& counts) {
    REQUIRE(std::all_of(counts.begin(), counts.end(), [](auto times) { return times > 0; }));
}

/// Buffer of the first argument with this tensor id.
inline std::size_t argument_index(const program::Kernel& kernel, const std::string& tensor) {
    for (std::size_t i = 0; i < kernel.arguments.size(); ++i) {
        if (kernel.arguments[i].tensor == tensor) return i;
    }
    throw std::logic_error("no argument " + tensor);
}

}  // namespace rafter::test
