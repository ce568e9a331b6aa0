// What the twins are asked to do, and the arithmetic of their grids. No CUDA here: the host tests hold it against the
// simulator's.
#pragma once

#include <cstdint>

#if defined(__CUDACC__)
#define RAFTER_HOST_DEVICE __host__ __device__
#else
#define RAFTER_HOST_DEVICE
#endif

namespace rafter::validate {

struct TilePlace {
    int row, column;  ///< in tiles
};

/// (K.3) Groups of eight rows of tiles, walked column by column.
RAFTER_HOST_DEVICE constexpr TilePlace raster(int index, int tiles_m, int tiles_n) {
    constexpr int kGroup = 8;
    const int in_group = kGroup * tiles_n, first = index / in_group * kGroup;
    const int height = tiles_m - first < kGroup ? tiles_m - first : kGroup;
    return {first + index % in_group % height, index % in_group / height};
}

/// Keys of one split: whole blocks, the last ones may have none.
struct KeyRange {
    int first, last;
};
RAFTER_HOST_DEVICE constexpr KeyRange split_keys(int held, int block, int splits, int split) {
    const int blocks = (held + block - 1) / block, per_split = (blocks + splits - 1) / splits * block;
    const int first = split * per_split < held ? split * per_split : held;
    return {first, first + per_split < held ? first + per_split : held};
}

/// One past the last key that query row `row` sees; queries are the last of the sequence.
RAFTER_HOST_DEVICE constexpr int visible_keys(int row, int seq_q, int seq_kv, bool causal) {
    const int last = seq_kv - seq_q + row + 1;
    return !causal || last > seq_kv ? seq_kv : last < 0 ? 0 : last;
}

struct Conv {
    int n{1}, c{1}, h{1}, w{1}, k{1}, r{1}, s{1}, stride_h{1}, stride_w{1}, pad_h{0}, pad_w{0};
    RAFTER_HOST_DEVICE constexpr int p() const { return (h + 2 * pad_h - r) / stride_h + 1; }
    RAFTER_HOST_DEVICE constexpr int q() const { return (w + 2 * pad_w - s) / stride_w + 1; }
};

struct Attention {
    int batch{1}, heads{1}, kv_heads{1}, head_dim{128}, seq_q{1}, seq_kv{1};
    bool causal{true};
    RAFTER_HOST_DEVICE constexpr int group() const { return heads / kv_heads; }
    RAFTER_HOST_DEVICE constexpr int rows() const { return group() * seq_q; }  ///< of one KV head, in decode
};

struct Embedding {
    int tables{1}, dim{64}, batch{1}, pooling{1};
    long long rows{1};
    RAFTER_HOST_DEVICE constexpr long long bags() const { return static_cast<long long>(tables) * batch; }
};

/// gates: 1 tanh, 3 GRU (r, z, n), 4 LSTM (i, f, g, o), in the order of cuDNN and PyTorch.
struct Recurrent {
    int batch{1}, hidden{1}, steps{1}, gates{4};
};

enum class RowOp : std::uint8_t { softmax, layernorm, rmsnorm };
enum class PointOp : std::uint8_t { copy, relu, gelu, add };
constexpr int inputs_of(PointOp op) { return op == PointOp::add ? 2 : 1; }

}  // namespace rafter::validate
