// The recurrent part of an RNN, LSTM or GRU layer. Models cuDNN: a fused step kernel per time step, or one persistent cooperative
// kernel that keeps its slice of the recurrent weights on chip. The input product of all steps is a GEMM before it.
// CUDA twin: validate/twins/rnn_cell.cu.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sim/core/dtype.h"
#include "sim/kernels/layout.h"
#include "sim/kernels/tile.h"
#include "sim/program/kernel.h"

namespace rafter::kernels {

/// Buffers in order: pre-activations [step][batch][gates x hidden], weights (recurrent part at `weight_offset`: [gates x hidden,
/// hidden]), hidden states [step][batch][hidden], cell state fp32 [batch][hidden] (LSTM only).
/// A CTA owns `units` hidden units, all gates of them, so that the pointwise part needs nothing from other CTAs.
class RnnCell : public program::Code {
public:
    static constexpr std::int64_t kStages = 4;

    struct Parameters {
        std::int64_t batch{1}, hidden{1}, gates{4};
        std::int64_t steps{1};  ///< done by this launch: 1, or all when persistent
        std::int64_t slots{1};  ///< time steps the state tensor holds
        std::int64_t units{16};
        std::int64_t row_groups{1};  ///< CTAs that share the rows of a batch
        std::int64_t weight_offset{0};
        bool cell_state{true};
        bool persistent{false};
        bool resident{false};  ///< the weights of a CTA stay in shared memory and registers
        bool tensor{true};
        DType compute{DType::fp16}, weights{DType::fp16}, state{DType::fp16};
        Tile tile;  ///< m: batch rows at a time, n: gates x units, k: block of the hidden size

        std::int64_t unit_blocks() const { return ceil_div(hidden, units); }
        std::int64_t grid() const { return unit_blocks() * row_groups; }
        std::int64_t weight_bytes() const { return gates * units * hidden * bits(weights) / 8; }  ///< of a CTA
        Count issued_macs() const;
        std::string text() const;
    };

    explicit RnnCell(const Parameters& p);
    program::TileProgram run(program::Cta& cta, const std::vector<program::Buffer>& buffers) const override;

private:
    struct Work {
        std::int64_t unit, units, row, rows;
    };
    program::Ticket load_weights(program::Cta& cta, const program::Buffer& weights, const Work& w, std::int64_t k,
                                 std::int64_t depth) const;
    program::Ticket load_block(program::Cta& cta, const std::vector<program::Buffer>& buffers, const Work& w, std::int64_t step,
                               std::int64_t k) const;
    program::Ticket load_gates(program::Cta& cta, const std::vector<program::Buffer>& buffers, const Work& w,
                               std::int64_t step) const;
    program::Mma product(const Work& w, std::int64_t k) const;
    program::Vector pointwise(const Work& w) const;
    void store(program::Cta& cta, const std::vector<program::Buffer>& buffers, const Work& w, std::int64_t step) const;
    std::int64_t depth(std::int64_t k) const { return std::min(p_.tile.k, p_.hidden - k); }
    std::int64_t slot(std::int64_t step) const { return std::min(p_.persistent ? step : 1, p_.slots - 1); }

    Parameters p_;
    Matrix gates_, weights_, state_, cell_;
};

}  // namespace rafter::kernels
