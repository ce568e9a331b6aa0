// One block of flash attention: S = Q K^T, online softmax, O += P V. A warp owns sixteen query rows. Twin of
// sim/kernels/attention_block.h; shared by prefill and decode.
#pragma once

#include "validate/twins/kernels/device.h"
#include "validate/twins/parameters.h"

namespace rafter::validate {

template <class Element, int HeadDim, int Warps>
struct FlashShape {
    using T = Element;
    static constexpr int kDim = HeadDim, kWarps = Warps, kKeys = 64;
    static constexpr int kRows = 16 * Warps, kThreads = 32 * Warps;
    static constexpr int kPitch = HeadDim + 8;
    static constexpr int kQueryElements = kRows * kPitch, kKeyElements = kKeys * kPitch;
    static constexpr int kSharedBytes = (kQueryElements + 2 * kKeyElements) * 2;
};

/// Asks for `Rows` rows of head_dim elements; address(row) is null for a row of zeros.
template <class Shape, int Rows, class Address>
__device__ void fetch_heads(typename Shape::T* tile, const Address& address) {
    constexpr int kPacks = Shape::kDim / 8;
    for (int i = static_cast<int>(threadIdx.x); i < Rows * kPacks; i += Shape::kThreads) {
        const int row = i / kPacks, column = i % kPacks * 8;
        const typename Shape::T* from = address(row);
        cp_async_16(tile + row * Shape::kPitch + column, from == nullptr ? nullptr : from + column);
    }
}

/// State of a thread: rows lane / 4 and lane / 4 + 8 of its warp. Maxima are of raw scores; sums are of the columns this thread
/// holds until finish().
template <class Shape>
struct FlashState {
    float out[Shape::kDim / 8][4];
    float maximum[2], sum[2];
    float scale_log2;  ///< scale / ln 2: exponentials are powers of two

    __device__ explicit FlashState(float scale) : maximum{-INFINITY, -INFINITY}, sum{0.0F, 0.0F}, scale_log2(scale) {
        for (auto& tile : out) {
            for (float& value : tile) value = 0.0F;
        }
    }
    /// Adds the columns that other lanes of the quad hold, and divides by the sum.
    __device__ void finish() {
        for (int half = 0; half < 2; ++half) {
            sum[half] += shuffle_xor(sum[half], 1);
            sum[half] += shuffle_xor(sum[half], 2);
            const float inverse = sum[half] > 0.0F ? 1.0F / sum[half] : 0.0F;
            for (auto& tile : out) tile[half * 2] *= inverse, tile[half * 2 + 1] *= inverse;
        }
    }
    /// log2 of the sum of exponentials; -inf for a row that saw no key. After finish().
    __device__ float log_sum(int half) const {
        return sum[half] > 0.0F ? maximum[half] * scale_log2 + log2f(sum[half]) : -INFINITY;
    }
};

template <class Shape>
using Scores = float[Shape::kKeys / 8][4];

template <class Shape>
__device__ void flash_scores(Scores<Shape>& scores, const typename Shape::T* q, const typename Shape::T* k) {
    const int lane = static_cast<int>(threadIdx.x) % 32, warp = static_cast<int>(threadIdx.x) / 32;
    q += (warp * 16 + lane % 16) * Shape::kPitch + lane / 16 * 8;
    k += (lane % 8 + lane / 16 * 8) * Shape::kPitch + lane / 8 % 2 * 8;
    for (auto& tile : scores) {
        for (float& value : tile) value = 0.0F;
    }
#pragma unroll
    for (int d = 0; d < Shape::kDim; d += 16) {
        unsigned left[4];
        ldmatrix_x4(left, q + d);
#pragma unroll
        for (int j = 0; j < Shape::kKeys / 16; ++j) {
            unsigned right[4];
            ldmatrix_x4(right, k + j * 16 * Shape::kPitch + d);
            mma_16x8x16<typename Shape::T>(scores[2 * j], left, right[0], right[1]);
            mma_16x8x16<typename Shape::T>(scores[2 * j + 1], left, right[2], right[3]);
        }
    }
}

/// Scores become probabilities relative to the maximum so far; keys from `seen[half]` on (counted in the block) are not seen.
template <class Shape>
__device__ void flash_softmax(FlashState<Shape>& state, Scores<Shape>& scores, const int (&seen)[2]) {
    const int lane = static_cast<int>(threadIdx.x) % 32;
#pragma unroll
    for (int half = 0; half < 2; ++half) {
        float top = state.maximum[half];
#pragma unroll
        for (int j = 0; j < Shape::kKeys / 8; ++j) {
            for (int e = half * 2; e < half * 2 + 2; ++e) {
                if (j * 8 + lane % 4 * 2 + e % 2 >= seen[half]) scores[j][e] = -INFINITY;
                top = fmaxf(top, scores[j][e]);
            }
        }
        top = fmaxf(top, shuffle_xor(top, 1));
        top = fmaxf(top, shuffle_xor(top, 2));
        const float base = top == -INFINITY ? 0.0F : top * state.scale_log2;  // -inf minus -inf would be NaN
        const float correction = exp2f(state.maximum[half] * state.scale_log2 - base);
        state.maximum[half] = top;
        state.sum[half] *= correction;
        for (auto& tile : state.out) tile[half * 2] *= correction, tile[half * 2 + 1] *= correction;
#pragma unroll
        for (int j = 0; j < Shape::kKeys / 8; ++j) {
            for (int e = half * 2; e < half * 2 + 2; ++e) {
                scores[j][e] = exp2f(scores[j][e] * state.scale_log2 - base);
                state.sum[half] += scores[j][e];
            }
        }
    }
}

/// P goes from accumulators to operands without leaving the thread; V is read transposed.
template <class Shape>
__device__ void flash_values(FlashState<Shape>& state, const Scores<Shape>& p, const typename Shape::T* v) {
    using T = typename Shape::T;
    const int lane = static_cast<int>(threadIdx.x) % 32;
    v += lane % 16 * Shape::kPitch + lane / 16 * 8;
#pragma unroll
    for (int j = 0; j < Shape::kKeys / 16; ++j) {
        const unsigned left[4] = {pack_pair<T>(p[2 * j][0], p[2 * j][1]), pack_pair<T>(p[2 * j][2], p[2 * j][3]),
                                  pack_pair<T>(p[2 * j + 1][0], p[2 * j + 1][1]), pack_pair<T>(p[2 * j + 1][2], p[2 * j + 1][3])};
#pragma unroll
        for (int d = 0; d < Shape::kDim / 16; ++d) {
            unsigned right[4];
            ldmatrix_x4_trans(right, v + j * 16 * Shape::kPitch + d * 16);
            mma_16x8x16<T>(state.out[2 * d], left, right[0], right[1]);
            mma_16x8x16<T>(state.out[2 * d + 1], left, right[2], right[3]);
        }
    }
}

/// Keys [first, last) in blocks, Q already asked for but not waited for. K of the next block loads under P V, V under S.
/// key(i), value(i): address of row i, for i in [first, last). seen(row): one past the last key a row of the CTA sees.
template <class Shape, class Key, class Value, class Seen>
__device__ void flash_walk(FlashState<Shape>& state, typename Shape::T* shared, int first, int last, bool works, const Key& key,
                           const Value& value, const Seen& seen) {
    using T = typename Shape::T;
    T *q = shared, *k = shared + Shape::kQueryElements, *v = k + Shape::kKeyElements;
    const int thread = static_cast<int>(threadIdx.x), row = thread / 32 * 16 + thread % 32 / 4;
    const auto fetch = [&](T* tile, int block, const auto& address) {
        fetch_heads<Shape, Shape::kKeys>(tile, [&](int i) { return block + i < last ? address(block + i) : nullptr; });
        cp_async_commit();
    };
    fetch(k, first, key);
    for (int block = first; block < last; block += Shape::kKeys) {
        cp_async_wait<0>();
        __syncthreads();  // K (and Q) are there; all have left V
        fetch(v, block, value);
        Scores<Shape> scores;
        if (works) {
            flash_scores<Shape>(scores, q, k);
            const int here[2] = {least(last, seen(row)) - block, least(last, seen(row + 8)) - block};
            flash_softmax<Shape>(state, scores, here);
        }
        cp_async_wait<0>();
        __syncthreads();  // V is there; all have left K
        if (block + Shape::kKeys < last) fetch(k, block + Shape::kKeys, key);
        if (works) flash_values<Shape>(state, scores, v);
    }
    cp_async_wait<0>();
}

}  // namespace rafter::validate
