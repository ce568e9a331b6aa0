// Twin of sim/kernels/split_k_reduce.cpp: adds the partial sums of a split-K product.
#pragma once

#include "validate/twins/kernels/device.h"

namespace rafter::validate {

constexpr int kReduceThreads = 128;
constexpr int kReduceElements = kReduceThreads * 8;  ///< of a CTA

/// partials fp32 [split][elements]; a thread adds every kReduceThreads-th element, so that a warp reads whole lines.
template <class T>
__global__ void __launch_bounds__(kReduceThreads)
    split_k_reduce_kernel(const float* partials, T* out, long long elements, int splits) {
    const long long first = static_cast<long long>(blockIdx.x) * kReduceElements + threadIdx.x;
    for (int i = 0; i < 8; ++i) {
        const long long at = first + i * kReduceThreads;
        if (at >= elements) return;
        float sum = 0.0F;
        for (int split = 0; split < splits; ++split) sum += partials[split * elements + at];
        out[at] = from_float<T>(sum);
    }
}

}  // namespace rafter::validate
