// Twin of sim/kernels/elementwise.cpp: 128 threads, each with four 16-byte loads in flight.
#pragma once

#include "validate/twins/kernels/device.h"
#include "validate/twins/parameters.h"

namespace rafter::validate {

struct Elementwise {
    static constexpr int kThreads = 128, kUnroll = 4;
    static constexpr int kPacksPerCta = kThreads * kUnroll;
};

template <PointOp Op>
__device__ float apply(float x, float y) {
    if constexpr (Op == PointOp::relu) return fmaxf(x, 0.0F);
    if constexpr (Op == PointOp::add) return x + y;
    if constexpr (Op == PointOp::gelu) {  // the tanh form
        return 0.5F * x * (1.0F + tanhf(0.7978845608F * (x + 0.044715F * x * x * x)));
    }
    return x;
}

/// The elements after the last whole pack, one a thread of the last CTA.
template <PointOp Op, class T>
__device__ void elementwise_tail(const T* a, const T* b, T* out, long long elements) {
    const long long at = elements / kPack<T> * kPack<T> + threadIdx.x;
    if (at >= elements) return;
    out[at] = from_float<T>(apply<Op>(to_float(a[at]), Op == PointOp::add ? to_float(b[at]) : 0.0F));
}

/// b is read by `add` only. grid = packs / kPacksPerCta, rounded up, at least 1.
template <PointOp Op, class T>
__global__ void __launch_bounds__(Elementwise::kThreads) elementwise_kernel(const T* a, const T* b, T* out, long long elements) {
    const long long packs = elements / kPack<T>;
    const long long first = static_cast<long long>(blockIdx.x) * Elementwise::kPacksPerCta + threadIdx.x;
    Pack<T> left[Elementwise::kUnroll], right[Elementwise::kUnroll];
#pragma unroll
    for (int i = 0; i < Elementwise::kUnroll; ++i) {
        const long long pack = first + i * Elementwise::kThreads;
        if (pack >= packs) continue;
        left[i] = load_pack(a + pack * kPack<T>);
        if constexpr (Op == PointOp::add) right[i] = load_pack(b + pack * kPack<T>);
    }
#pragma unroll
    for (int i = 0; i < Elementwise::kUnroll; ++i) {
        const long long pack = first + i * Elementwise::kThreads;
        if (pack >= packs) continue;
        Pack<T> result;
        for (int e = 0; e < kPack<T>; ++e) {
            result.values[e] = from_float<T>(apply<Op>(to_float(left[i].values[e]), to_float(right[i].values[e])));
        }
        store_pack(out + pack * kPack<T>, result);
    }
    if (blockIdx.x == gridDim.x - 1) elementwise_tail<Op>(a, b, out, elements);
}

}  // namespace rafter::validate
