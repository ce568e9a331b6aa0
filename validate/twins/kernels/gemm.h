// Twin of sim/kernels/gemm.cpp: C[m,n] = A[m,k] B, B stored [n,k]; a CTA makes one tile over one range of k.
#pragma once

#include "validate/twins/kernels/tensor_tile.h"
#include "validate/twins/parameters.h"

namespace rafter::validate {

/// Where the product goes: rows of C, or (more than one split) fp32 partial sums [split][m][n].
template <class T>
struct GemmOutput {
    T* c;
    float* partials;
    int m, n, k;
    int splits, k_per_split;
    bool packs;
};

template <class Shape, class T>
__device__ void store_partials(const Accumulators<Shape>& acc, const GemmOutput<T>& out, int split, int row, int column) {
    float* base = out.partials + static_cast<long long>(split) * out.m * out.n;
    acc.each_pair([&](int r, int c, float low, float high) {
        if (row + r >= out.m) return;
        float* to = base + static_cast<long long>(row + r) * out.n + column + c;
        if (column + c < out.n) to[0] = low;
        if (column + c + 1 < out.n) to[1] = high;
    });
}

/// A is a RowSource or, for the convolution, a PatchSource. grid = tiles x splits.
template <class Shape, class T, class SourceA>
__global__ void __launch_bounds__(Shape::kThreads) gemm_kernel(SourceA a, RowSource<T> b, GemmOutput<T> out) {
    T* shared = reinterpret_cast<T*>(dynamic_shared());
    const int tiles_m = ceil_of(out.m, Shape::kM), tiles_n = ceil_of(out.n, Shape::kN);
    const int index = static_cast<int>(blockIdx.x), split = index / (tiles_m * tiles_n);
    const TilePlace place = raster(index % (tiles_m * tiles_n), tiles_m, tiles_n);
    const int row = place.row * Shape::kM, column = place.column * Shape::kN;
    const int k = split * out.k_per_split, k_end = least(out.k, k + out.k_per_split);
    a.limit(k_end);
    b.limit(k_end);
    Accumulators<Shape> acc;
    acc.clear();
    multiply_tile<Shape>(acc, a, row, b, column, k, k_end, shared);
    if (out.splits > 1) {
        store_partials(acc, out, split, row, column);
    } else {
        T* corner = out.c + static_cast<long long>(row) * out.n + column;
        store_tile<Shape>(acc, shared, corner, out.n, out.m - row, out.n - column, out.packs);
    }
}

}  // namespace rafter::validate
