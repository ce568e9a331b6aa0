// Twin of sim/kernels/direct_window.cpp: depthwise convolution (NHWC, weights [r][s][c]), 8 x 16 output pixels and 128 bytes of
// channels a CTA, on the FMA lanes. Pixels come through the L1, where neighbouring taps meet.
#pragma once

#include "validate/twins/kernels/device.h"
#include "validate/twins/parameters.h"

namespace rafter::validate {

struct DirectWindow {
    static constexpr int kThreads = 256, kRows = 8, kColumns = 16, kChannelBytes = 128;
    template <class T>
    static constexpr int kChannels = kChannelBytes / static_cast<int>(sizeof(T));
};

struct WindowTile {
    int image, row, column, channel;
};

/// Channels fastest, then columns, rows and images. grid = all of them.
template <class T>
RAFTER_BOTH WindowTile window_tile(const Conv& conv, int index) {
    const int channels = ceil_of(conv.c, DirectWindow::kChannels<T>), columns = ceil_of(conv.q(), DirectWindow::kColumns);
    const int rows = ceil_of(conv.p(), DirectWindow::kRows);
    return {index / channels / columns / rows, index / channels / columns % rows * DirectWindow::kRows,
            index / channels % columns * DirectWindow::kColumns, index % channels * DirectWindow::kChannels<T>};
}

/// One output pixel, one pack of channels. `c` is a multiple of the pack.
template <class T>
__device__ void window_pixel(const Conv& conv, const T* image, const T* weights, T* out, const WindowTile& at) {
    float sum[kPack<T>] = {};
    for (int r = 0; r < conv.r; ++r) {
        const int y = at.row * conv.stride_h - conv.pad_h + r;
        if (y < 0 || y >= conv.h) continue;
        for (int s = 0; s < conv.s; ++s) {
            const int x = at.column * conv.stride_w - conv.pad_w + s;
            if (x < 0 || x >= conv.w) continue;
            const long long pixel = (static_cast<long long>(at.image) * conv.h + y) * conv.w + x;
            const Pack<T> data = load_pack(image + pixel * conv.c + at.channel);
            const Pack<T> tap = load_pack(weights + static_cast<long long>(r * conv.s + s) * conv.c + at.channel);
#pragma unroll
            for (int e = 0; e < kPack<T>; ++e) sum[e] = fmaf(to_float(data.values[e]), to_float(tap.values[e]), sum[e]);
        }
    }
    Pack<T> result;
    for (int e = 0; e < kPack<T>; ++e) result.values[e] = from_float<T>(sum[e]);
    const long long pixel = (static_cast<long long>(at.image) * conv.p() + at.row) * conv.q() + at.column;
    store_pack(out + pixel * conv.c + at.channel, result);
}

template <class T>
__global__ void __launch_bounds__(DirectWindow::kThreads)
    direct_window_kernel(Conv conv, const T* image, const T* weights, T* out) {
    const WindowTile tile = window_tile<T>(conv, static_cast<int>(blockIdx.x));
    constexpr int kPacks = DirectWindow::kChannels<T> / kPack<T>;
    constexpr int kItems = DirectWindow::kRows * DirectWindow::kColumns * kPacks;
    for (int i = static_cast<int>(threadIdx.x); i < kItems; i += DirectWindow::kThreads) {
        const int pixel = i / kPacks;
        const WindowTile at{tile.image, tile.row + pixel / DirectWindow::kColumns, tile.column + pixel % DirectWindow::kColumns,
                            tile.channel + i % kPacks * kPack<T>};
        if (at.row < conv.p() && at.column < conv.q() && at.channel < conv.c) window_pixel(conv, image, weights, out, at);
    }
}

}  // namespace rafter::validate
