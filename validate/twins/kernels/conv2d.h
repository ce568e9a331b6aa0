// Twin of sim/kernels/conv2d.cpp: convolution as implicit GEMM. Image NHWC, weights KRSC; rows are output pixels, k runs over (r,
// s, channel). Only the operand A differs from gemm.h.
#pragma once

#include "validate/twins/kernels/gemm.h"

namespace rafter::validate {

/// Patches of the image as rows of a matrix. `packs`: channels are a multiple of eight, so a pack is one tap of one pixel.
template <class T>
struct PatchSource {
    const T* image;
    Conv conv;
    int k_end;
    bool packs;

    /// Where element `k` of output pixel `row` lies; null in the padding and outside the matrix.
    __device__ const T* pack(int row, int k) const {
        if (k >= k_end) return nullptr;
        const int p = conv.p(), q = conv.q();
        const int image_index = row / (p * q), pixel = row % (p * q);
        const int tap = k / conv.c, channel = k % conv.c;
        const int y = pixel / q * conv.stride_h - conv.pad_h + tap / conv.s;
        const int x = pixel % q * conv.stride_w - conv.pad_w + tap % conv.s;
        if (image_index >= conv.n || y < 0 || y >= conv.h || x < 0 || x >= conv.w) return nullptr;
        return image + ((static_cast<long long>(image_index) * conv.h + y) * conv.w + x) * conv.c + channel;
    }
    __device__ T element(int row, int k) const {
        const T* at = pack(row, k);
        return at == nullptr ? from_float<T>(0.0F) : *at;
    }
    __device__ void limit(int last) { k_end = last; }
};

}  // namespace rafter::validate
