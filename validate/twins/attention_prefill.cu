// Launch of prefill attention (twin of sim/kernels/attention_prefill.cpp).
#include "validate/twins/kernels/attention_prefill.h"

#include <cmath>

#include "validate/twins/launch.h"
#include "validate/twins/twins.h"

namespace rafter::validate {

namespace {

constexpr double kLog2E = 1.4426950408889634;

template <class T, int Dim, int Warps>
void launch_rows(const Attention& p, const PrefillBuffers& buffers, cudaStream_t stream) {
    using Shape = FlashShape<T, Dim, Warps>;
    const PrefillArguments<T> arguments{p, static_cast<const T*>(buffers.q), static_cast<const T*>(buffers.k),
                                        static_cast<const T*>(buffers.v), static_cast<T*>(buffers.out)};
    const long long grid = static_cast<long long>(p.batch) * p.heads * ceil_of(p.seq_q, Shape::kRows);
    const auto scale = static_cast<float>(kLog2E / std::sqrt(static_cast<double>(Dim)));
    launch(attention_prefill_kernel<Shape, T>, {grid, Shape::kThreads, Shape::kSharedBytes}, stream, arguments, scale);
}

template <class T, int Dim>
void launch_dim(const Attention& p, int shared_limit, const PrefillBuffers& buffers, cudaStream_t stream) {
    if (FlashShape<T, Dim, 8>::kSharedBytes <= shared_limit) {
        launch_rows<T, Dim, 8>(p, buffers, stream);
    } else {
        launch_rows<T, Dim, 4>(p, buffers, stream);
    }
}

}  // namespace

void launch_attention_prefill(DType dtype, const Attention& p, int shared_limit, const PrefillBuffers& buffers,
                              cudaStream_t stream) {
    RAFTER_CHECK(p.head_dim == 64 || p.head_dim == 128, "attention twins have head_dim 64 and 128");
    with_half(dtype, [&](auto tag) {
        using T = typename decltype(tag)::type;
        if (p.head_dim == 64) {
            launch_dim<T, 64>(p, shared_limit, buffers, stream);
        } else {
            launch_dim<T, 128>(p, shared_limit, buffers, stream);
        }
    });
}

}  // namespace rafter::validate
