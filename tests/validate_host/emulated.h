// Runs a kernel on emulated threads in three orders and compares each result with the reference.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "tests/catch.h"
#include "validate/emulation/device.h"
#include "validate/host/random.h"
#include "validate/host/reference.h"
#include "validate/host/tensor.h"

namespace rafter::validate {

template <class T>
constexpr DType dtype_of() {
    if constexpr (std::is_same_v<T, half_t>) return DType::fp16;
    if constexpr (std::is_same_v<T, bfloat_t>) return DType::bf16;
    return DType::fp32;
}

/// The first `count` elements of the random tensor as they would lie on the device. The buffer is exact, so that
/// AddressSanitizer sees a read beyond it.
template <class T>
std::vector<T> filled(const RandomTensor& tensor, std::int64_t count) {
    std::vector<T> values;
    values.reserve(static_cast<std::size_t>(count));
    for (std::int64_t i = 0; i < count; ++i) values.push_back(T(static_cast<float>(tensor(i))));
    return values;
}

/// An output that starts as NaN: what is not written fails.
template <class T>
std::vector<T> unwritten(std::int64_t count) {
    return std::vector<T>(static_cast<std::size_t>(count), T(std::nanf("")));
}

template <class T>
std::vector<float> as_floats(const std::vector<T>& values) {
    return {values.begin(), values.end()};
}

/// body(order) runs the kernel anew and returns its relative error.
inline void check_orders(DType dtype, const std::function<double(emulation::Order)>& body) {
    for (const auto order : {emulation::Order::ascending, emulation::Order::descending, emulation::Order::lockstep}) {
        const double error = body(order);
        INFO("order " << static_cast<int>(order) << ", error " << error);
        CHECK(acceptable(error, tolerance(dtype)));
    }
}

}  // namespace rafter::validate
