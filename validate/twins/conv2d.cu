// Launch of the convolution (twin of sim/kernels/conv2d.cpp).
#include "validate/twins/kernels/conv2d.h"

#include "validate/twins/launch.h"
#include "validate/twins/twins.h"

namespace rafter::validate {

void launch_conv2d(DType dtype, const Conv& conv, const void* image, const void* weights, void* out, cudaStream_t stream) {
    using Shape = TileShape<64, 64, 32, 4, 2, 2>;
    const int m = conv.n * conv.p() * conv.q(), depth = conv.r * conv.s * conv.c;
    with_half(dtype, [&](auto tag) {
        using T = typename decltype(tag)::type;
        const PatchSource<T> patches{static_cast<const T*>(image), conv, depth, conv.c % 8 == 0};
        const RowSource<T> filters{static_cast<const T*>(weights), depth, conv.k, depth, depth % 8 == 0};
        const GemmOutput<T> output{static_cast<T*>(out), nullptr, m, conv.k, depth, 1, depth, conv.k % 8 == 0};
        const long long grid = static_cast<long long>(ceil_of(m, Shape::kM)) * ceil_of(conv.k, Shape::kN);
        launch(gemm_kernel<Shape, T, PatchSource<T>>, {grid, Shape::kThreads, Shape::kSharedBytes}, stream, patches, filters,
               output);
    });
}

}  // namespace rafter::validate
