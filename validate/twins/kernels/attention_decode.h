// Twin of sim/kernels/attention_decode.cpp: a few new tokens over a growing cache, the keys split over CTAs (flash_fwd_splitkv)
// and a combine kernel. A CTA takes one split of one KV head with all query heads of its group.
#pragma once

#include "validate/twins/kernels/attention_block.h"

namespace rafter::validate {

/// p.seq_kv is the number of keys held, the p.seq_q new ones included; `capacity` >= p.seq_kv rows are allocated a sequence.
/// Cache [batch][capacity][kv_heads][dim]. One split writes the output, more write fp32 partials [split][row of the output][dim]
/// and log-sums [split][row of the output].
template <class T>
struct DecodeArguments {
    Attention p;
    int capacity, splits;
    const T *q, *cache_k, *cache_v;
    T* out;
    float *partials, *log_sums;
};

struct DecodePlace {
    int sequence, kv_head, row, split;
};

/// Splits outermost of all, then sequences and heads, query blocks innermost.
RAFTER_BOTH inline DecodePlace decode_place(const Attention& p, int rows, int index) {
    const int blocks = ceil_of(p.rows(), rows), heads = index / blocks;
    const int pairs = p.batch * p.kv_heads;
    return {heads % pairs / p.kv_heads, heads % p.kv_heads, index % blocks * rows, heads / pairs};
}

constexpr int kAppendThreads = 128;

/// New rows [batch][seq_q][kv_heads][dim], a pack of K and of V a thread.
template <class T>
struct AppendArguments {
    Attention p;
    int capacity;
    const T *new_k, *new_v;
    T *cache_k, *cache_v;
};

RAFTER_BOTH inline long long append_packs(const Attention& p) {
    return static_cast<long long>(p.batch) * p.seq_q * p.kv_heads * (p.head_dim / 8);
}

template <class T>
__global__ void __launch_bounds__(kAppendThreads) append_kernel(AppendArguments<T> args) {
    const Attention& p = args.p;
    const long long pack = static_cast<long long>(blockIdx.x) * kAppendThreads + threadIdx.x;
    if (pack >= append_packs(p)) return;
    const long long width = static_cast<long long>(p.kv_heads) * (p.head_dim / 8), row = pack / width;
    const long long key = row / p.seq_q * args.capacity + p.seq_kv - p.seq_q + row % p.seq_q;
    const long long to = (key * width + pack % width) * 8;
    store_pack(args.cache_k + to, load_pack(args.new_k + pack * 8));
    store_pack(args.cache_v + to, load_pack(args.new_v + pack * 8));
}

/// Row `row` of the KV head is token row / group of query head kv_head * group + row % group.
RAFTER_BOTH inline long long query_row(const Attention& p, int sequence, int kv_head, int row) {
    return (static_cast<long long>(sequence) * p.seq_q + row / p.group()) * p.heads + kv_head * p.group() + row % p.group();
}

template <class Shape, class T>
__device__ void decode_store(const FlashState<Shape>& state, const DecodeArguments<T>& args, const DecodePlace& at) {
    const Attention& p = args.p;
    const int thread = static_cast<int>(threadIdx.x);
    for (int half = 0; half < 2; ++half) {
        const int row = at.row + thread / 32 * 16 + thread % 32 / 4 + half * 8;
        if (row >= p.rows()) continue;
        const long long query = query_row(p, at.sequence, at.kv_head, row);
        const long long rows = static_cast<long long>(p.batch) * p.heads * p.seq_q;  // of the output
        const long long partial = at.split * rows + query;
        if (args.splits > 1 && thread % 4 == 0) args.log_sums[partial] = state.log_sum(half);
        for (int d = 0; d < Shape::kDim / 8; ++d) {
            const float low = state.out[d][half * 2], high = state.out[d][half * 2 + 1];
            const int column = d * 8 + thread % 4 * 2;
            if (args.splits > 1) {
                args.partials[partial * Shape::kDim + column] = low;
                args.partials[partial * Shape::kDim + column + 1] = high;
            } else {
                *reinterpret_cast<unsigned*>(args.out + query * Shape::kDim + column) = pack_pair<T>(low, high);
            }
        }
    }
}

template <class Shape, class T>
__global__ void __launch_bounds__(Shape::kThreads) attention_decode_kernel(DecodeArguments<T> args, float scale_log2) {
    const Attention& p = args.p;
    T* shared = reinterpret_cast<T*>(dynamic_shared());
    const DecodePlace at = decode_place(p, Shape::kRows, static_cast<int>(blockIdx.x));
    const KeyRange keys = split_keys(p.seq_kv, Shape::kKeys, args.splits, at.split);
    fetch_heads<Shape, Shape::kRows>(shared, [&](int row) {
        const bool valid = at.row + row < p.rows();
        return valid ? args.q + query_row(p, at.sequence, at.kv_head, at.row + row) * Shape::kDim : nullptr;
    });
    const auto cached = [&](int key) {
        return ((static_cast<long long>(at.sequence) * args.capacity + key) * p.kv_heads + at.kv_head) * Shape::kDim;
    };
    FlashState<Shape> state(scale_log2);
    const bool works = at.row + static_cast<int>(threadIdx.x) / 32 * 16 < p.rows();  // of this warp
    flash_walk<Shape>(
        state, shared, keys.first, keys.last, works, [&](int key) { return args.cache_k + cached(key); },
        [&](int key) { return args.cache_v + cached(key); },
        [&](int row) { return visible_keys((at.row + row) / p.group(), p.seq_q, p.seq_kv, p.causal); });
    state.finish();
    decode_store(state, args, at);
}

constexpr int kCombineThreads = 128, kCombineRows = 4;  ///< a warp a row

/// Adds the splits of `rows` output rows, weighted by their log-sums.
template <int HeadDim, class T>
__global__ void __launch_bounds__(kCombineThreads)
    attention_combine_kernel(const float* partials, const float* log_sums, T* out, long long rows, int splits) {
    const int lane = static_cast<int>(threadIdx.x) % 32;
    const long long row = static_cast<long long>(blockIdx.x) * kCombineRows + static_cast<int>(threadIdx.x) / 32;
    if (row >= rows) return;
    float top = -INFINITY;
    for (int split = 0; split < splits; ++split) top = fmaxf(top, log_sums[split * rows + row]);
    float sum[HeadDim / 32] = {}, weights = 0.0F;
    for (int split = 0; split < splits; ++split) {
        const float log_sum = log_sums[split * rows + row];
        const float weight = log_sum == -INFINITY ? 0.0F : exp2f(log_sum - top);
        weights += weight;
        for (int i = 0; i < HeadDim / 32; ++i) sum[i] += weight * partials[(split * rows + row) * HeadDim + i * 32 + lane];
    }
    const float inverse = weights > 0.0F ? 1.0F / weights : 0.0F;
    for (int i = 0; i < HeadDim / 32; ++i) out[row * HeadDim + i * 32 + lane] = from_float<T>(sum[i] * inverse);
}

}  // namespace rafter::validate
