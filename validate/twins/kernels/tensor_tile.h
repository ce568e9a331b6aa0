// One tile of C = A B on the tensor cores, shared by the matrix product, the convolution and the recurrent cell: a ring of stages
// in shared memory filled by cp.async, ldmatrix, mma.sync.
#pragma once

#include "validate/twins/kernels/device.h"

namespace rafter::validate {

template <int M, int N, int K, int Stages, int WarpsM, int WarpsN>
struct TileShape {
    static constexpr int kM = M, kN = N, kK = K, kStages = Stages, kWarpsM = WarpsM, kWarpsN = WarpsN;
    static constexpr int kThreads = 32 * WarpsM * WarpsN;
    static constexpr int kWarpM = M / WarpsM, kWarpN = N / WarpsN;
    static constexpr int kMmaM = kWarpM / 16, kMmaN = kWarpN / 8;
    static constexpr int kPitch = K + 8;  // 16 bytes aside, so that the eight rows of a matrix lie in different banks
    static constexpr int kPitchC = N + 8;
    static constexpr int kStageElements = (M + N) * kPitch;
    static constexpr int kSharedBytes = most(Stages * kStageElements, M* kPitchC) * 2;
    static_assert(kWarpM % 16 == 0 && kWarpN % 16 == 0 && K % 16 == 0 && Stages >= 2);
};

/// Rows of a row-major matrix, `columns` of them valid; outside are zeros. `packs`: every row starts at 16 bytes and holds whole
/// packs of eight.
template <class T>
struct RowSource {
    const T* base;
    long long pitch;
    int rows, columns;
    bool packs;

    __device__ const T* pack(int row, int column) const {
        return row < rows && column < columns ? base + row * pitch + column : nullptr;
    }
    __device__ T element(int row, int column) const {
        return row < rows && column < columns ? load_l2(base + row * pitch + column) : from_float<T>(0.0F);
    }
    __device__ void limit(int last) { columns = last; }
};

/// Asks for rows [row, row + Rows) of columns [k, k + Shape::kK) of a source.
template <class Shape, int Rows, class T, class Source>
__device__ void fetch_rows(T* tile, const Source& source, int row, int k) {
    constexpr int kPacks = Shape::kK / 8;
    for (int i = static_cast<int>(threadIdx.x); i < Rows * kPacks; i += Shape::kThreads) {
        const int line = i / kPacks, column = i % kPacks * 8;
        T* to = tile + line * Shape::kPitch + column;
        if (source.packs) {
            cp_async_16(to, source.pack(row + line, k + column));
        } else {
            for (int e = 0; e < 8; ++e) to[e] = source.element(row + line, k + column + e);
        }
    }
}

/// The accumulators of a thread, and where they lie in the tile.
template <class Shape>
struct Accumulators {
    float values[Shape::kMmaM][Shape::kMmaN][4];

    __device__ void clear() {
        for (int i = 0; i < Shape::kMmaM; ++i) {
            for (int j = 0; j < Shape::kMmaN; ++j) {
                for (float& value : values[i][j]) value = 0.0F;
            }
        }
    }
    /// visit(row of the tile, column of the tile, value of that column, value of the next)
    template <class Visit>
    __device__ void each_pair(const Visit& visit) const {
        const int thread = static_cast<int>(threadIdx.x), lane = thread % 32, warp = thread / 32;
        const int row = warp / Shape::kWarpsN * Shape::kWarpM + lane / 4;
        const int column = warp % Shape::kWarpsN * Shape::kWarpN + lane % 4 * 2;
#pragma unroll
        for (int i = 0; i < Shape::kMmaM; ++i) {
#pragma unroll
            for (int j = 0; j < Shape::kMmaN; ++j) {
                const float(&v)[4] = values[i][j];
                visit(row + i * 16, column + j * 8, v[0], v[1]);
                visit(row + i * 16 + 8, column + j * 8, v[2], v[3]);
            }
        }
    }
};

/// a: rows of A, b: rows of B (columns of the product), both Shape::kK deep.
template <class Shape, class T>
__device__ void multiply_stage(Accumulators<Shape>& acc, const T* a, int pitch_a, const T* b, int pitch_b) {
    const int thread = static_cast<int>(threadIdx.x), lane = thread % 32, warp = thread / 32;
    a += (warp / Shape::kWarpsN * Shape::kWarpM + lane % 16) * pitch_a + lane / 16 * 8;
    b += (warp % Shape::kWarpsN * Shape::kWarpN + lane % 8 + lane / 16 * 8) * pitch_b + lane / 8 % 2 * 8;
#pragma unroll
    for (int k = 0; k < Shape::kK; k += 16) {
        unsigned left[Shape::kMmaM][4], right[Shape::kMmaN / 2][4];
#pragma unroll
        for (int i = 0; i < Shape::kMmaM; ++i) ldmatrix_x4(left[i], a + i * 16 * pitch_a + k);
#pragma unroll
        for (int j = 0; j < Shape::kMmaN / 2; ++j) ldmatrix_x4(right[j], b + j * 16 * pitch_b + k);
#pragma unroll
        for (int i = 0; i < Shape::kMmaM; ++i) {
#pragma unroll
            for (int j = 0; j < Shape::kMmaN; ++j) {
                mma_16x8x16<T>(acc.values[i][j], left[i], right[j / 2][j % 2 * 2], right[j / 2][j % 2 * 2 + 1]);
            }
        }
    }
}

/// Columns [k, k_end) of A and B. Ends with a barrier: the stages are free.
template <class Shape, class T, class SourceA, class SourceB>
__device__ void multiply_tile(Accumulators<Shape>& acc, const SourceA& a, int row, const SourceB& b, int column, int k, int k_end,
                              T* stages) {
    const int blocks = ceil_of(k_end - k, Shape::kK);
    const auto fetch = [&](int block) {
        T* stage = stages + block % Shape::kStages * Shape::kStageElements;
        fetch_rows<Shape, Shape::kM>(stage, a, row, k + block * Shape::kK);
        fetch_rows<Shape, Shape::kN>(stage + Shape::kM * Shape::kPitch, b, column, k + block * Shape::kK);
    };
    for (int block = 0; block < Shape::kStages - 1; ++block) {
        if (block < blocks) fetch(block);
        cp_async_commit();
    }
    for (int block = 0; block < blocks; ++block) {
        cp_async_wait<Shape::kStages - 2>();
        __syncthreads();  // the block is there for all, and all have left the stage that is filled next
        if (block + Shape::kStages - 1 < blocks) fetch(block + Shape::kStages - 1);
        cp_async_commit();
        const T* stage = stages + block % Shape::kStages * Shape::kStageElements;
        multiply_stage<Shape>(acc, stage, Shape::kPitch, stage + Shape::kM * Shape::kPitch, Shape::kPitch);
    }
    cp_async_wait<0>();
    __syncthreads();
}

/// The tile, by way of shared memory, to rows of `pitch` elements; `packs` as in RowSource.
template <class Shape, class T>
__device__ void store_tile(const Accumulators<Shape>& acc, T* shared, T* out, long long pitch, int rows, int columns,
                           bool packs) {
    acc.each_pair([&](int row, int column, float low, float high) {
        shared[row * Shape::kPitchC + column] = from_float<T>(low);
        shared[row * Shape::kPitchC + column + 1] = from_float<T>(high);
    });
    __syncthreads();
    for (int i = static_cast<int>(threadIdx.x); i < Shape::kM * (Shape::kN / 8); i += Shape::kThreads) {
        const int row = i / (Shape::kN / 8), column = i % (Shape::kN / 8) * 8;
        if (row >= rows || column >= columns) continue;
        const T* from = shared + row * Shape::kPitchC + column;
        T* to = out + row * pitch + column;
        if (packs) {
            store_pack(to, load_pack(from));
        } else {
            for (int e = 0; e < least(8, columns - column); ++e) to[e] = from[e];
        }
    }
}

}  // namespace rafter::validate
