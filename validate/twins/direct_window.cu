// Launch of the depthwise convolution (twin of sim/kernels/direct_window.cpp).
#include "validate/twins/kernels/direct_window.h"

#include "validate/twins/launch.h"
#include "validate/twins/twins.h"

namespace rafter::validate {

void launch_direct_window(DType dtype, const Conv& conv, const void* image, const void* weights, void* out, cudaStream_t stream) {
    with_float(dtype, [&](auto tag) {
        using T = typename decltype(tag)::type;
        RAFTER_CHECK(conv.c % kPack<T> == 0, "depthwise channels that are no multiple of sixteen bytes");
        const long long grid = static_cast<long long>(conv.n) * ceil_of(conv.p(), DirectWindow::kRows) *
                               ceil_of(conv.q(), DirectWindow::kColumns) * ceil_of(conv.c, DirectWindow::kChannels<T>);
        launch(direct_window_kernel<T>, {grid, DirectWindow::kThreads}, stream, conv, static_cast<const T*>(image),
               static_cast<const T*>(weights), static_cast<T*>(out));
    });
}

}  // namespace rafter::validate
