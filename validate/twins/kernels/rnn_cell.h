// Twin of sim/kernels/rnn_cell.cpp: the recurrent part of an RNN, GRU or LSTM layer. A CTA owns all gates of its hidden units, so
// the pointwise part needs nothing from other CTAs. A kernel a step, or one cooperative kernel with a grid barrier between steps,
// which keeps its weights in shared memory when they fit.
#pragma once

#include "validate/twins/kernels/tensor_tile.h"
#include "validate/twins/parameters.h"

namespace rafter::validate {

/// inputs [step][batch][gates x hidden] (the input product, biases included), weights [gates x hidden][hidden], states
/// [steps + 1][batch][hidden] with the initial state first, cell fp32 [batch][hidden] (LSTM), zero before the first step.
template <class T>
struct CellArguments {
    Recurrent p;
    const T *inputs, *weights;
    T* states;
    float* cell;
    bool packs;  ///< hidden is a multiple of eight
};

template <class Element, int Gates, int Rows>
struct CellShape {
    using T = Element;
    static constexpr int kGates = Gates, kUnits = Gates == 1 ? 64 : 16;
    using Tile = TileShape<Rows, Gates * kUnits, 64, Rows == 16 ? 4 : 3, Rows == 16 ? 1 : 2, Gates * kUnits / 16>;
    static constexpr int kPitchSums = Tile::kN + 4;
    static constexpr int kSumBytes = Rows * kPitchSums * 4;
    static constexpr int kStreamedBytes = most(Tile::kSharedBytes, kSumBytes);
    static constexpr int kStateStage = Rows * Tile::kPitch;  ///< elements
    static constexpr int kStateBytes = most(Tile::kStages * kStateStage * 2, kSumBytes);

    RAFTER_BOTH static constexpr int resident_pitch(int hidden) { return ceil_of(hidden, Tile::kK) * Tile::kK + 8; }
    RAFTER_BOTH static constexpr int resident_bytes(int hidden) { return kStateBytes + Tile::kN * resident_pitch(hidden) * 2; }
    RAFTER_BOTH static constexpr int unit_blocks(int hidden) { return ceil_of(hidden, kUnits); }
    RAFTER_BOTH static constexpr int grid(const Recurrent& p) { return unit_blocks(p.hidden) * ceil_of(p.batch, Rows); }
};

/// Rows of the recurrent weights that a CTA needs: row j is gate j / Units of unit `first` + j % Units.
template <class T, int Units>
struct GateSource {
    const T* weights;
    int first, hidden;
    bool packs;

    __device__ const T* pack(int row, int column) const {
        const int unit = first + row % Units;
        if (unit >= hidden || column >= hidden) return nullptr;
        return weights + (static_cast<long long>(row / Units) * hidden + unit) * hidden + column;
    }
    __device__ T element(int row, int column) const {
        const T* at = pack(row, column);
        return at == nullptr ? from_float<T>(0.0F) : *at;
    }
};

__device__ inline float sigmoid(float x) { return 1.0F / (1.0F + expf(-x)); }

/// New state of one unit from the recurrent products h[gate] and the inputs x[gate].
template <int Gates>
__device__ float cell_point(const float (&x)[Gates], const float (&h)[Gates], float before, float* cell, bool first_step) {
    if constexpr (Gates == 4) {
        const float old = first_step ? 0.0F : *cell;
        const float now = sigmoid(x[1] + h[1]) * old + sigmoid(x[0] + h[0]) * tanhf(x[2] + h[2]);
        *cell = now;
        return sigmoid(x[3] + h[3]) * tanhf(now);
    } else if constexpr (Gates == 3) {
        const float reset = sigmoid(x[0] + h[0]), keep = sigmoid(x[1] + h[1]);
        return (1.0F - keep) * tanhf(x[2] + reset * h[2]) + keep * before;
    } else {
        return tanhf(x[0] + h[0]);
    }
}

template <class Shape>
__device__ void cell_pointwise(const CellArguments<typename Shape::T>& args, const float* sums, int step, int unit0, int row0) {
    using T = typename Shape::T;
    const Recurrent& p = args.p;
    const T* before = args.states + static_cast<long long>(step) * p.batch * p.hidden;
    for (int i = static_cast<int>(threadIdx.x); i < Shape::Tile::kM * Shape::kUnits; i += Shape::Tile::kThreads) {
        const int row = row0 + i / Shape::kUnits, unit = unit0 + i % Shape::kUnits;
        if (row >= p.batch || unit >= p.hidden) continue;
        const T* input = args.inputs + (static_cast<long long>(step) * p.batch + row) * Shape::kGates * p.hidden + unit;
        float x[Shape::kGates], h[Shape::kGates];
        for (int gate = 0; gate < Shape::kGates; ++gate) {
            x[gate] = to_float(input[static_cast<long long>(gate) * p.hidden]);
            h[gate] = sums[i / Shape::kUnits * Shape::kPitchSums + gate * Shape::kUnits + i % Shape::kUnits];
        }
        const long long at = static_cast<long long>(row) * p.hidden + unit;
        float* cell = Shape::kGates == 4 ? args.cell + at : nullptr;
        const float now = cell_point<Shape::kGates>(x, h, to_float(load_l2(before + at)), cell, step == 0);
        args.states[static_cast<long long>(step + 1) * p.batch * p.hidden + at] = from_float<T>(now);
    }
}

/// As multiply_tile, with all of B in shared memory: only the state is staged.
template <class Shape, class Source>
__device__ void multiply_resident(Accumulators<typename Shape::Tile>& acc, const Source& state, int row, int hidden,
                                  typename Shape::T* stages, const typename Shape::T* weights) {
    using Tile = typename Shape::Tile;
    const int blocks = ceil_of(hidden, Tile::kK);
    const auto fetch = [&](int block) {
        if (block < blocks) {
            fetch_rows<Tile, Tile::kM>(stages + block % Tile::kStages * Shape::kStateStage, state, row, block * Tile::kK);
        }
        cp_async_commit();
    };
    for (int block = 0; block < Tile::kStages - 1; ++block) fetch(block);
    for (int block = 0; block < blocks; ++block) {
        cp_async_wait<Tile::kStages - 2>();
        __syncthreads();
        fetch(block + Tile::kStages - 1);
        multiply_stage<Tile>(acc, stages + block % Tile::kStages * Shape::kStateStage, Tile::kPitch, weights + block * Tile::kK,
                             Shape::resident_pitch(hidden));
    }
    cp_async_wait<0>();
    __syncthreads();
}

/// Step `step` of the units and rows of CTA `index`; `resident` holds its weights, or is null.
template <class Shape>
__device__ void cell_step(const CellArguments<typename Shape::T>& args, int step, int index, typename Shape::T* shared,
                          const typename Shape::T* resident) {
    using Tile = typename Shape::Tile;
    using T = typename Shape::T;
    const Recurrent& p = args.p;
    const int blocks = Shape::unit_blocks(p.hidden);
    const int unit = index % blocks * Shape::kUnits, row = index / blocks * Tile::kM;
    const RowSource<T> state{args.states + static_cast<long long>(step) * p.batch * p.hidden, p.hidden, p.batch, p.hidden,
                             args.packs};
    Accumulators<Tile> acc;
    acc.clear();
    if (resident != nullptr) {
        multiply_resident<Shape>(acc, state, row, p.hidden, shared, resident);
    } else {
        const GateSource<T, Shape::kUnits> gates{args.weights, unit, p.hidden, args.packs};
        multiply_tile<Tile>(acc, state, row, gates, 0, 0, p.hidden, shared);
    }
    float* sums = reinterpret_cast<float*>(shared);
    acc.each_pair([&](int r, int c, float low, float high) {
        sums[r * Shape::kPitchSums + c] = low;
        sums[r * Shape::kPitchSums + c + 1] = high;
    });
    __syncthreads();
    cell_pointwise<Shape>(args, sums, step, unit, row);  // before the next step there is a grid barrier
}

template <class Shape>
__global__ void __launch_bounds__(Shape::Tile::kThreads) rnn_step_kernel(CellArguments<typename Shape::T> args, int step) {
    auto* shared = reinterpret_cast<typename Shape::T*>(dynamic_shared());
    cell_step<Shape>(args, step, static_cast<int>(blockIdx.x), shared, nullptr);
}

/// The weights of a CTA, zeros where units or columns end.
template <class Shape>
__device__ void keep_weights(const CellArguments<typename Shape::T>& args, typename Shape::T* resident) {
    const int hidden = args.p.hidden, pitch = Shape::resident_pitch(hidden);
    const int unit = static_cast<int>(blockIdx.x) % Shape::unit_blocks(hidden) * Shape::kUnits;
    const GateSource<typename Shape::T, Shape::kUnits> gates{args.weights, unit, hidden, args.packs};
    for (int i = static_cast<int>(threadIdx.x); i < Shape::Tile::kN * pitch; i += Shape::Tile::kThreads) {
        resident[i] = gates.element(i / pitch, i % pitch);
    }
    __syncthreads();
}

/// Cooperative launch of Shape::grid CTAs. `resident`: shared memory has Shape::resident_bytes, else kStreamedBytes.
template <class Shape>
__global__ void __launch_bounds__(Shape::Tile::kThreads)
    rnn_persistent_kernel(CellArguments<typename Shape::T> args, bool resident) {
    auto* shared = reinterpret_cast<typename Shape::T*>(dynamic_shared());
    typename Shape::T* weights = nullptr;
    if (resident) {
        weights = shared + Shape::kStateBytes / 2;
        keep_weights<Shape>(args, weights);
    }
    for (int step = 0; step < args.p.steps; ++step) {
        if (step > 0) grid_barrier();
        cell_step<Shape>(args, step, static_cast<int>(blockIdx.x), shared, weights);
    }
}

}  // namespace rafter::validate
