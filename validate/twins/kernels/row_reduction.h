// Twin of sim/kernels/row_reduction.cpp: softmax, layer norm, RMS norm. A CTA owns a row and keeps it in registers; a row that
// does not fit is read again for each pass (three).
#pragma once

#include "validate/twins/kernels/device.h"
#include "validate/twins/parameters.h"

namespace rafter::validate {

constexpr float kNormEpsilon = 1e-5F;

template <class T>
struct RowArguments {
    const T *in, *scale, *shift;  ///< scale and shift have `cols` elements; the softmax has none, the RMS norm no shift
    T* out;
    int rows, cols;
};

/// Two sums over a CTA at once; `shared` holds two floats a warp.
struct Pair {
    float first, second;
};

template <bool Maximum>
__device__ Pair reduce_cta(Pair value, float* shared) {
    const int lane = static_cast<int>(threadIdx.x) % 32, warp = static_cast<int>(threadIdx.x) / 32;
    const int warps = static_cast<int>(blockDim.x) / 32;
    value.first = Maximum ? warp_max(value.first) : warp_sum(value.first);
    value.second = warp_sum(value.second);
    __syncthreads();  // the last reduction has been read
    if (lane == 0) shared[warp] = value.first, shared[32 + warp] = value.second;
    __syncthreads();
    Pair all{shared[0], shared[32]};
    for (int w = 1; w < warps; ++w) {
        all.first = Maximum ? fmaxf(all.first, shared[w]) : all.first + shared[w];
        all.second += shared[32 + w];
    }
    return all;
}

/// visit(value, column) for the columns of this thread: Width at a time, `Packs` of them held in `row` (0: read again each time).
template <int Width, int Packs, class T>
struct RowView {
    const T* in;
    int cols;
    float held[most(Packs, 1)][Width];

    __device__ RowView(const T* row, int columns) : in(row), cols(columns) {
        if constexpr (Packs > 0) {
#pragma unroll
            for (int i = 0; i < Packs; ++i) read(column_of(i), held[i]);
        }
    }
    __device__ static int column_of(int i) { return (i * static_cast<int>(blockDim.x) + static_cast<int>(threadIdx.x)) * Width; }
    __device__ void read(int column, float (&to)[Width]) const {
        if (column >= cols) return;
        if constexpr (Width == 1) {
            to[0] = to_float(in[column]);
        } else {
            const Pack<T> pack = load_pack(in + column);
            for (int e = 0; e < Width; ++e) to[e] = to_float(pack.values[e]);
        }
    }
    template <class Visit>
    __device__ void each(const Visit& visit) {
        if constexpr (Packs > 0) {
#pragma unroll
            for (int i = 0; i < Packs; ++i) {
                if (column_of(i) < cols) visit(held[i], column_of(i));
            }
        } else {
            for (int i = 0; column_of(i) < cols; ++i) {
                read(column_of(i), held[0]);
                visit(held[0], column_of(i));
            }
        }
    }
};

/// What a row is scaled by: softmax exp(x - first) * second, norms (x - first) * second.
template <RowOp Op, int Width, class View>
__device__ Pair statistics(View& view, float* shared) {
    if constexpr (Op == RowOp::softmax) {
        float top = -INFINITY, sum = 0.0F;
        view.each([&](const float(&x)[Width], int) {
            for (const float value : x) top = fmaxf(top, value);
        });
        top = reduce_cta<true>({top, 0.0F}, shared).first;
        view.each([&](const float(&x)[Width], int) {
            for (const float value : x) sum += expf(value - top);
        });
        return {top, 1.0F / reduce_cta<false>({sum, 0.0F}, shared).first};
    } else {
        const float inverse = 1.0F / static_cast<float>(view.cols);
        Pair sums{0.0F, 0.0F};
        if constexpr (Op == RowOp::layernorm) {
            view.each([&](const float(&x)[Width], int) {
                for (const float value : x) sums.first += value;
            });
            sums.first = reduce_cta<false>(sums, shared).first * inverse;
        }
        float squares = 0.0F;
        view.each([&](const float(&x)[Width], int) {
            for (const float value : x) squares += (value - sums.first) * (value - sums.first);
        });
        const float variance = reduce_cta<false>({squares, 0.0F}, shared).first * inverse;
        return {sums.first, rsqrtf(variance + kNormEpsilon)};
    }
}

template <RowOp Op, class T>
__device__ float normalise(float x, const Pair& s, const RowArguments<T>& args, int column) {
    if constexpr (Op == RowOp::softmax) {
        return expf(x - s.first) * s.second;
    } else if constexpr (Op == RowOp::layernorm) {
        return (x - s.first) * s.second * to_float(args.scale[column]) + to_float(args.shift[column]);
    } else {
        return x * s.second * to_float(args.scale[column]);
    }
}

/// Width: kPack<T> where cols is a multiple of it, else 1. Packs x threads x Width >= cols, or Packs = 0. grid = rows.
template <RowOp Op, int Width, int Packs, class T>
__global__ void __launch_bounds__(1024) row_reduction_kernel(RowArguments<T> args) {
    float* shared = reinterpret_cast<float*>(dynamic_shared());
    const long long start = static_cast<long long>(blockIdx.x) * args.cols;
    RowView<Width, Packs, T> view(args.in + start, args.cols);
    const Pair s = statistics<Op, Width>(view, shared);
    T* out = args.out + start;
    view.each([&](const float(&x)[Width], int column) {
        if constexpr (Width == 1) {
            out[column] = from_float<T>(normalise<Op>(x[0], s, args, column));
        } else {
            Pack<T> pack;
            for (int e = 0; e < Width; ++e) pack.values[e] = from_float<T>(normalise<Op>(x[e], s, args, column + e));
            store_pack(out + column, pack);
        }
    });
}

}  // namespace rafter::validate
