// Twin of sim/kernels/gemm.cpp with Feed::simt: fp32 on the FMA lanes, 128 x 128 x 8 tiles, an 8 x 8 patch a thread, two buffers
// in shared memory filled through registers.
#pragma once

#include "validate/twins/kernels/device.h"
#include "validate/twins/parameters.h"

namespace rafter::validate {

struct SgemmShape {
    static constexpr int kM = 128, kN = 128, kK = 8, kThreads = 256;
    static constexpr int kPitch = kM + 4;
    static constexpr int kBufferFloats = 2 * kK * kPitch;  // A, then B, both [k][row]
    static constexpr int kSharedBytes = 2 * kBufferFloats * 4;
};

struct SgemmArguments {
    const float *a, *b;
    float* c;
    int m, n, k;
    bool packs;  ///< k is a multiple of four: rows start at 16 bytes
};

struct SgemmFetch {
    float a[4], b[4];
};

__device__ inline void fetch_quad(float (&to)[4], const float* from, int row, int rows, int k, int columns, bool packs) {
    const float* line = from + static_cast<long long>(row) * columns + k;
    if (packs && row < rows && k < columns) {
        const Pack<float> pack = load_pack(line);
        for (int e = 0; e < 4; ++e) to[e] = pack.values[e];
    } else {
        for (int e = 0; e < 4; ++e) to[e] = row < rows && k + e < columns ? line[e] : 0.0F;
    }
}

/// A thread holds row thread / 2 of both operands, four columns of it.
__device__ inline void sgemm_fetch(SgemmFetch& fetch, const SgemmArguments& p, int row, int column, int k) {
    const int line = static_cast<int>(threadIdx.x) / 2, depth = k + static_cast<int>(threadIdx.x) % 2 * 4;
    fetch_quad(fetch.a, p.a, row + line, p.m, depth, p.k, p.packs);
    fetch_quad(fetch.b, p.b, column + line, p.n, depth, p.k, p.packs);
}

__device__ inline void sgemm_keep(float* buffer, const SgemmFetch& fetch) {
    const int line = static_cast<int>(threadIdx.x) / 2, depth = static_cast<int>(threadIdx.x) % 2 * 4;
    for (int e = 0; e < 4; ++e) {
        buffer[(depth + e) * SgemmShape::kPitch + line] = fetch.a[e];
        buffer[(SgemmShape::kK + depth + e) * SgemmShape::kPitch + line] = fetch.b[e];
    }
}

/// Place of patch element i: four rows here, four 64 further, so that neighbouring threads read neighbouring banks.
__device__ inline int patch(int thread, int i) { return thread * 4 + i % 4 + i / 4 * 64; }

__device__ inline void sgemm_multiply(float (&acc)[8][8], const float* buffer) {
    const int y = static_cast<int>(threadIdx.x) / 16, x = static_cast<int>(threadIdx.x) % 16;
#pragma unroll
    for (int k = 0; k < SgemmShape::kK; ++k) {
        const float* a = buffer + k * SgemmShape::kPitch;
        const float* b = buffer + (SgemmShape::kK + k) * SgemmShape::kPitch;
        float left[8], right[8];
#pragma unroll
        for (int i = 0; i < 8; ++i) left[i] = a[patch(y, i)], right[i] = b[patch(x, i)];
#pragma unroll
        for (int i = 0; i < 8; ++i) {
#pragma unroll
            for (int j = 0; j < 8; ++j) acc[i][j] = fmaf(left[i], right[j], acc[i][j]);
        }
    }
}

__device__ inline void sgemm_store(const float (&acc)[8][8], const SgemmArguments& p, int row, int column) {
    const int y = static_cast<int>(threadIdx.x) / 16, x = static_cast<int>(threadIdx.x) % 16;
#pragma unroll
    for (int i = 0; i < 8; ++i) {
        const int r = row + patch(y, i);
        if (r >= p.m) continue;
#pragma unroll
        for (int j = 0; j < 8; ++j) {
            const int c = column + patch(x, j);
            if (c < p.n) p.c[static_cast<long long>(r) * p.n + c] = acc[i][j];
        }
    }
}

__global__ void __launch_bounds__(SgemmShape::kThreads) sgemm_kernel(SgemmArguments p) {
    float* shared = reinterpret_cast<float*>(dynamic_shared());
    const TilePlace place = raster(static_cast<int>(blockIdx.x), ceil_of(p.m, SgemmShape::kM), ceil_of(p.n, SgemmShape::kN));
    const int row = place.row * SgemmShape::kM, column = place.column * SgemmShape::kN;
    float acc[8][8] = {};
    SgemmFetch fetch;
    sgemm_fetch(fetch, p, row, column, 0);
    sgemm_keep(shared, fetch);
    __syncthreads();
    const int blocks = ceil_of(p.k, SgemmShape::kK);
    for (int block = 0; block < blocks; ++block) {
        const bool more = block + 1 < blocks;
        if (more) sgemm_fetch(fetch, p, row, column, (block + 1) * SgemmShape::kK);
        sgemm_multiply(acc, shared + block % 2 * SgemmShape::kBufferFloats);
        if (more) sgemm_keep(shared + (block + 1) % 2 * SgemmShape::kBufferFloats, fetch);
        __syncthreads();
    }
    sgemm_store(acc, p, row, column);
}

}  // namespace rafter::validate
