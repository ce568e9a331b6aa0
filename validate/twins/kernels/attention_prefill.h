// Twin of sim/kernels/attention_prefill.cpp in FlashAttention-2's order. Q, output [batch][seq_q][heads][head_dim]; K, V
// [batch][seq_kv][kv_heads][head_dim]. A CTA owns kRows query rows of a head; blocks above the diagonal are skipped.
#pragma once

#include "validate/twins/kernels/attention_block.h"

namespace rafter::validate {

template <class T>
struct PrefillArguments {
    Attention p;
    const T *q, *k, *v;
    T* out;
};

struct PrefillPlace {
    int sequence, head, row;
};

/// Query blocks with most keys first, so that no long CTA is left for the end.
RAFTER_BOTH inline PrefillPlace prefill_place(const Attention& p, int rows, int index) {
    const int blocks = ceil_of(p.seq_q, rows), pairs = p.batch * p.heads;
    return {index % pairs / p.heads, index % p.heads, (blocks - 1 - index / pairs) * rows};
}

template <class Shape, class T>
__global__ void __launch_bounds__(Shape::kThreads) attention_prefill_kernel(PrefillArguments<T> args, float scale_log2) {
    const Attention& p = args.p;
    T* shared = reinterpret_cast<T*>(dynamic_shared());
    const PrefillPlace at = prefill_place(p, Shape::kRows, static_cast<int>(blockIdx.x));
    const int kv_head = at.head / p.group();
    const auto query = [&](int row) {
        return ((static_cast<long long>(at.sequence) * p.seq_q + at.row + row) * p.heads + at.head) * Shape::kDim;
    };
    const auto cached = [&](int key) {
        return ((static_cast<long long>(at.sequence) * p.seq_kv + key) * p.kv_heads + kv_head) * Shape::kDim;
    };
    fetch_heads<Shape, Shape::kRows>(shared, [&](int row) { return at.row + row < p.seq_q ? args.q + query(row) : nullptr; });
    FlashState<Shape> state(scale_log2);
    const int last = visible_keys(least(at.row + Shape::kRows, p.seq_q) - 1, p.seq_q, p.seq_kv, p.causal);
    flash_walk<Shape>(
        state, shared, 0, last, true, [&](int key) { return args.k + cached(key); },
        [&](int key) { return args.v + cached(key); },
        [&](int row) { return visible_keys(at.row + row, p.seq_q, p.seq_kv, p.causal); });
    state.finish();
    const int thread = static_cast<int>(threadIdx.x);
    for (int half = 0; half < 2; ++half) {
        const int row = thread / 32 * 16 + thread % 32 / 4 + half * 8;
        if (at.row + row >= p.seq_q) continue;
        T* to = args.out + query(row) + thread % 4 * 2;
        for (int d = 0; d < Shape::kDim / 8; ++d) {
            *reinterpret_cast<unsigned*>(to + d * 8) = pack_pair<T>(state.out[d][half * 2], state.out[d][half * 2 + 1]);
        }
    }
}

}  // namespace rafter::validate
