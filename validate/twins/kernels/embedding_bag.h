// Twin of sim/kernels/embedding_bag.cpp: a warp a bag, the indices first, then up to eight rows in flight, added in fp32. Indices
// int64 [table][sample][pooling], tables [table][rows][dim], output [sample][table][dim].
#pragma once

#include "validate/twins/kernels/device.h"
#include "validate/twins/parameters.h"

namespace rafter::validate {

struct EmbeddingBag {
    static constexpr int kWarps = 8, kThreads = kWarps * 32, kBagsPerCta = 32, kRowsInFlight = 8;
};

template <class T>
struct BagArguments {
    Embedding p;
    const long long* indices;
    const T* tables;
    T* out;
};

/// Width elements, in one load when they fill a pack.
template <int Width, class T>
__device__ void add_row(float (&sum)[Width], const T* row) {
    if constexpr (Width == 1) {
        sum[0] += to_float(*row);
    } else {
        const Pack<T> pack = load_pack(row);
#pragma unroll
        for (int e = 0; e < Width; ++e) sum[e] += to_float(pack.values[e]);
    }
}

template <int Width, class T>
__device__ void store_row(T* to, const float (&sum)[Width]) {
    if constexpr (Width == 1) {
        *to = from_float<T>(sum[0]);
    } else {
        Pack<T> pack;
        for (int e = 0; e < Width; ++e) pack.values[e] = from_float<T>(sum[e]);
        store_pack(to, pack);
    }
}

/// Width: elements a lane takes at once: kPack<T> where dim is a multiple of it, else 1.
template <int Width, class T>
__global__ void __launch_bounds__(EmbeddingBag::kThreads) embedding_bag_kernel(BagArguments<T> args) {
    const Embedding& p = args.p;
    const int lane = static_cast<int>(threadIdx.x) % 32, warp = static_cast<int>(threadIdx.x) / 32;
    const long long first = static_cast<long long>(blockIdx.x) * EmbeddingBag::kBagsPerCta;
    const long long last = least(first + EmbeddingBag::kBagsPerCta, p.bags());
    for (long long bag = first + warp; bag < last; bag += EmbeddingBag::kWarps) {
        const long long table = bag / p.batch, sample = bag % p.batch;
        const long long* indices = args.indices + bag * p.pooling;
        const T* base = args.tables + table * p.rows * p.dim;
        for (int column = lane * Width; column < p.dim; column += 32 * Width) {
            float sum[Width] = {};
#pragma unroll 8
            for (int i = 0; i < p.pooling; ++i) add_row<Width>(sum, base + indices[i] * p.dim + column);
            store_row<Width>(args.out + (sample * p.tables + table) * p.dim + column, sum);
        }
    }
}

}  // namespace rafter::validate
