// Launch of the elementwise operations (twin of sim/kernels/elementwise.cpp), and of the fill with random values.
#include "validate/twins/kernels/elementwise.h"

#include "validate/host/random.h"
#include "validate/twins/launch.h"
#include "validate/twins/twins.h"

namespace rafter::validate {

namespace {

template <PointOp Op>
void launch_op(DType dtype, std::int64_t elements, const void* a, const void* b, void* out, cudaStream_t stream) {
    with_float(dtype, [&](auto tag) {
        using T = typename decltype(tag)::type;
        const auto count = static_cast<long long>(elements);
        const long long ctas = ceil_of(count / kPack<T>, static_cast<long long>(Elementwise::kPacksPerCta));
        launch(elementwise_kernel<Op, T>, {ctas > 0 ? ctas : 1, Elementwise::kThreads}, stream, static_cast<const T*>(a),
               static_cast<const T*>(b), static_cast<T*>(out), count);
    });
}

template <class T>
__global__ void fill_kernel(T* to, long long elements, std::uint64_t seed, float scale) {
    const long long step = static_cast<long long>(gridDim.x) * blockDim.x;
    for (long long i = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x; i < elements; i += step) {
        to[i] = from_float<T>(random_value(seed, static_cast<std::uint64_t>(i), scale));
    }
}

}  // namespace

void launch_elementwise(PointOp op, DType dtype, std::int64_t elements, const void* a, const void* b, void* out,
                        cudaStream_t stream) {
    switch (op) {
        case PointOp::copy:
            return launch_op<PointOp::copy>(dtype, elements, a, b, out, stream);
        case PointOp::relu:
            return launch_op<PointOp::relu>(dtype, elements, a, b, out, stream);
        case PointOp::gelu:
            return launch_op<PointOp::gelu>(dtype, elements, a, b, out, stream);
        case PointOp::add:
            return launch_op<PointOp::add>(dtype, elements, a, b, out, stream);
    }
}

void launch_fill(DType dtype, void* to, std::int64_t elements, std::uint64_t seed, float scale, cudaStream_t stream) {
    constexpr long long kMostCtas = 4096;
    constexpr int kThreads = 256;
    with_float(dtype, [&](auto tag) {
        using T = typename decltype(tag)::type;
        const auto count = static_cast<long long>(elements);
        launch(fill_kernel<T>, {least(kMostCtas, ceil_of(count, static_cast<long long>(kThreads))), kThreads}, stream,
               static_cast<T*>(to), count, seed, scale);
    });
}

}  // namespace rafter::validate
