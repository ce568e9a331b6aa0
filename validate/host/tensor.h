// Tensors on the host side of a check: random inputs known by their seed, and outputs brought back from the device.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "sim/core/dtype.h"

namespace rafter::validate {

/// An input that no one stores: element i is random_value(seed, i, scale), rounded to `dtype`.
struct RandomTensor {
    DType dtype{DType::fp32};
    std::uint64_t seed{1};
    float scale{1.0F};
    double operator()(std::int64_t index) const;
};

/// `value` rounded to the nearest of the format (fp32, fp16, bf16), ties to even.
double rounded(DType dtype, float value);

/// `count` elements as they lie in memory (fp32, fp16, bf16), and back.
std::vector<float> decode(DType dtype, const void* bytes, std::size_t count);
std::vector<std::byte> encode(DType dtype, const std::vector<float>& values);

}  // namespace rafter::validate
