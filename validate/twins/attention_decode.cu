// Launches of decode attention: append, attend, combine (twins of sim/kernels/attention_decode.cpp).
#include "validate/twins/kernels/attention_decode.h"

#include <cmath>

#include "validate/twins/launch.h"
#include "validate/twins/twins.h"

namespace rafter::validate {

namespace {

constexpr double kLog2E = 1.4426950408889634;
constexpr int kWarps = 4;
constexpr int kRows = 16 * kWarps;

template <class T, int Dim>
void launch_dim(const Attention& p, int splits, const DecodeBuffers& b, cudaStream_t stream) {
    using Shape = FlashShape<T, Dim, kWarps>;
    const AppendArguments<T> fresh{p,
                                   b.capacity,
                                   static_cast<const T*>(b.new_k),
                                   static_cast<const T*>(b.new_v),
                                   static_cast<T*>(b.cache_k),
                                   static_cast<T*>(b.cache_v)};
    launch(append_kernel<T>, {ceil_of(append_packs(p), static_cast<long long>(kAppendThreads)), kAppendThreads}, stream, fresh);
    const DecodeArguments<T> arguments{p,
                                       b.capacity,
                                       splits,
                                       static_cast<const T*>(b.q),
                                       static_cast<const T*>(b.cache_k),
                                       static_cast<const T*>(b.cache_v),
                                       static_cast<T*>(b.out),
                                       b.partials,
                                       b.log_sums};
    const auto scale = static_cast<float>(kLog2E / std::sqrt(static_cast<double>(Dim)));
    launch(attention_decode_kernel<Shape, T>, {decode_work(p) * splits, Shape::kThreads, Shape::kSharedBytes}, stream, arguments,
           scale);
    if (splits == 1) return;
    const long long rows = static_cast<long long>(p.batch) * p.seq_q * p.heads;
    launch(attention_combine_kernel<Dim, T>, {ceil_of(rows, static_cast<long long>(kCombineRows)), kCombineThreads}, stream,
           static_cast<const float*>(b.partials), static_cast<const float*>(b.log_sums), static_cast<T*>(b.out), rows, splits);
}

}  // namespace

std::int64_t decode_work(const Attention& p) {
    return static_cast<std::int64_t>(p.batch) * p.kv_heads * ceil_of(p.rows(), kRows);
}

int decode_splits(const Attention& p, int sms) {
    constexpr int kKeys = FlashShape<half_t, 64, kWarps>::kKeys;
    return plan_splits(decode_work(p), 2LL * sms, ceil_of(p.seq_kv, kKeys));
}

void launch_attention_decode(DType dtype, const Attention& p, int splits, const DecodeBuffers& buffers, cudaStream_t stream) {
    RAFTER_CHECK(p.head_dim == 64 || p.head_dim == 128, "attention twins have head_dim 64 and 128");
    RAFTER_CHECK(buffers.capacity >= p.seq_kv && p.seq_kv >= p.seq_q, "a cache too small for the keys");
    with_half(dtype, [&](auto tag) {
        using T = typename decltype(tag)::type;
        if (p.head_dim == 64) {
            launch_dim<T, 64>(p, splits, buffers, stream);
        } else {
            launch_dim<T, 128>(p, splits, buffers, stream);
        }
    });
}

}  // namespace rafter::validate
