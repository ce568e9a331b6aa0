// Launches of the matrix product (twin of sim/kernels/gemm.cpp).
#include "validate/twins/kernels/gemm.h"

#include "validate/twins/kernels/sgemm.h"
#include "validate/twins/launch.h"
#include "validate/twins/twins.h"

namespace rafter::validate {

namespace {

struct Sizes {
    int m, n, k;
};

template <class Shape, class T>
void launch_tiles(const GemmPlan& plan, const Sizes& s, const GemmBuffers& buffers, cudaStream_t stream) {
    const RowSource<T> a{static_cast<const T*>(buffers.a), s.k, s.m, s.k, s.k % 8 == 0};
    const RowSource<T> b{static_cast<const T*>(buffers.b), s.k, s.n, s.k, s.k % 8 == 0};
    const GemmOutput<T> out{static_cast<T*>(buffers.c), buffers.workspace, s.m, s.n, s.k, plan.splits,
                            plan.k_per_split,           s.n % 8 == 0};
    launch(gemm_kernel<Shape, T, RowSource<T>>, {plan.grid(s.m, s.n), Shape::kThreads, Shape::kSharedBytes}, stream, a, b, out);
}

void launch_simt(const GemmPlan& plan, const Sizes& s, const GemmBuffers& buffers, cudaStream_t stream) {
    const SgemmArguments arguments{static_cast<const float*>(buffers.a),
                                   static_cast<const float*>(buffers.b),
                                   static_cast<float*>(buffers.c),
                                   s.m,
                                   s.n,
                                   s.k,
                                   s.k % 4 == 0};
    launch(sgemm_kernel, {plan.grid(s.m, s.n), SgemmShape::kThreads, SgemmShape::kSharedBytes}, stream, arguments);
}

}  // namespace

void launch_gemm(const GemmPlan& plan, DType dtype, int m, int n, int k, const GemmBuffers& buffers, cudaStream_t stream) {
    const Sizes sizes{m, n, k};
    if (dtype == DType::fp32) return launch_simt(plan, sizes, buffers, stream);
    with_half(dtype, [&](auto tag) {
        using T = typename decltype(tag)::type;
        if (plan.tile_m == 128) {
            launch_tiles<TileShape<128, 128, 32, 3, 2, 2>, T>(plan, sizes, buffers, stream);
        } else {
            launch_tiles<TileShape<64, 64, 32, 4, 2, 2>, T>(plan, sizes, buffers, stream);
        }
    });
    if (plan.splits > 1) {
        launch_split_k_reduce(dtype, buffers.workspace, buffers.c, static_cast<std::int64_t>(m) * n, plan.splits, stream);
    }
}

}  // namespace rafter::validate
