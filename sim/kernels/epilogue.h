// What a matrix kernel does with its accumulators before the store: scale, bias, activation, residual, gating.
#pragma once

#include <cstdint>
#include <string>

#include "sim/core/dtype.h"
#include "sim/program/cta.h"

namespace rafter::kernels {

/// Cost of one function on one element, in lane operations.
struct FunctionCost {
    std::int64_t fma{1}, sfu{0}, chain{1};
};

/// silu and sigmoid: exp, add, reciprocal, multiply; tanh: tanh.approx or exp and reciprocal; gelu (tanh form) adds a cubic.
inline FunctionCost function_cost(const std::string& fn) {
    if (fn == "silu" || fn == "sigmoid" || fn == "swish") return {3, 2, 4};
    if (fn == "gelu") return {8, 2, 8};
    if (fn == "tanh") return {3, 2, 4};
    if (fn == "exp") return {1, 1, 2};
    if (fn == "rope") return {4, 0, 2};
    return fn.empty() || fn == "copy" ? FunctionCost{0, 0, 0} : FunctionCost{1, 0, 1};
}

struct Epilogue {
    bool bias{false}, residual{false}, gated{false};
    FunctionCost activation{0, 0, 0};
    DType out{DType::fp16};
    DType bias_type{DType::fp16};
    std::int64_t bias_offset{0};  ///< byte in its buffer where the bias starts (it may follow the weights)
    bool partial{false};          ///< split-K: fp32 partial sums go to the workspace, the rest waits for the reduction

    std::string text() const {
        return std::string(bias ? "b" : "") + (residual ? "r" : "") + (gated ? "g" : "") + (partial ? "p" : "") +
               std::to_string(activation.fma) + "." + std::to_string(activation.sfu) + "." + std::string(name(bias_type)) +
               std::to_string(bias_offset);
    }

    /// Work on `elements` accumulators; `staged` bytes cross shared memory to make the stores coalesced.
    program::Vector work(std::int64_t elements, std::int64_t staged) const {
        const std::int64_t plain = partial ? 0 : elements;
        const std::int64_t activated = gated ? elements / 2 : elements;
        program::Vector v;
        v.fma = plain * (bias ? 2 : 1) + (residual && !partial ? activated : 0) + (partial ? 0 : activated * activation.fma) +
                (gated && !partial ? activated : 0);
        v.sfu = partial ? 0 : activated * activation.sfu;
        v.integer = plain / 2;  // two fp32 -> one packed pair
        v.shared_bytes = 2 * staged;
        v.chain = 4 + (partial ? 0 : activation.chain);
        return v;
    }
};

}  // namespace rafter::kernels
