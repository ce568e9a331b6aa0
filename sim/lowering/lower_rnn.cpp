#include <algorithm>
#include <memory>

#include "sim/kernels/rnn_cell.h"
#include "sim/lowering/choose_gemm.h"
#include "sim/lowering/families.h"
#include "sim/lowering/kernel_builder.h"

namespace rafter::lowering {

using kernels::GemmParameters;
using kernels::RnnCell;
using program::Argument;
using program::Use;
using workload::Cell;
using workload::Layer;
using workload::Rnn;
using workload::RnnAlgorithm;
using workload::RnnExecution;

namespace {

constexpr std::int64_t kMostRows = 64;  // of the batch at a time

std::int64_t stage_ring_bytes(const RnnCell::Parameters& p) {
    const std::int64_t state = p.tile.m * p.tile.k * bits(p.state) / 8, weights = p.tile.n * p.tile.k * bits(p.weights) / 8;
    return RnnCell::kStages * (state + (p.resident ? 0 : weights));
}

void tile_for(RnnCell::Parameters& p, const config::HwConfig& gpu) {
    p.tile.m = std::min(kMostRows, kernels::round_up(p.batch, 16));
    p.tile.n = p.gates * p.units;
    p.tile.k = 128 * 8 / bits(p.compute);
    p.tile.stages = RnnCell::kStages;
    p.tile.warps_m = 1, p.tile.warps_n = p.tile.n % 32 == 0 ? 4 : 1;
    p.tile.unit_k = !p.tensor ? 1
                    : p.compute == DType::fp64
                        ? 4
                        : (gpu.tensor.generation == config::TensorGeneration::volta ? 64 : 256) / bits(p.compute);
}

program::Resources resources_of(const RnnCell::Parameters& p) {
    const std::int64_t accumulators = p.tile.m * p.tile.n / 128;
    // Half of resident weights live in registers, as in persistent RNN kernels; the rest in shared memory.
    const std::int64_t registers = std::min<std::int64_t>(255, p.resident ? 255 : 64 + accumulators);
    const std::int64_t kept = p.resident ? std::max<std::int64_t>(0, p.weight_bytes() - 64 * 1024) : 0;
    return {p.resident ? 256 : 128, registers, Bytes(stage_ring_bytes(p) + kept)};
}

/// Units per CTA. Persistent: as few as keep the grid on the machine at once, and the weights on chip when that fits. A step
/// kernel: few enough that every SM has a CTA.
void partition(RnnCell::Parameters& p, const config::HwConfig& gpu) {
    p.units = std::max<std::int64_t>(8, kernels::round_up(ceil_div(p.hidden, gpu.sm.count), 8));
    if (!p.persistent) p.units = std::min<std::int64_t>(p.units, 64);
    p.resident = p.persistent;
    tile_for(p, gpu);
    if (p.resident && ctas_per_sm(resources_of(p), gpu.sm) < 1) p.resident = false;
    while (ctas_per_sm(resources_of(p), gpu.sm) < 1 && p.tile.k > 16) p.tile.k /= 2;
    p.row_groups = p.persistent ? 1 : ceil_div(p.batch, p.tile.m);
}

class RnnLowering {
public:
    RnnLowering(const Layer& layer, const Rnn& op, const config::HwConfig& gpu)
        : layer_(layer), op_(op), gpu_(gpu), gates_(op.gates()), compute_(workload::compute_dtype(layer)) {}

    Launches lower() {
        for (std::int64_t index = 0; index < op_.layers; ++index) {
            if (op_.input_gemm) add_input_product(index);
            add_cells(index);
        }
        return std::move(launches_);
    }

private:
    std::int64_t rows() const { return op_.batch * op_.steps; }

    /// Elements of the weights before layer `index`: per layer the input part, then the recurrent part.
    std::int64_t weights_before(std::int64_t index) const {
        std::int64_t total = 0;
        for (std::int64_t i = 0; i < index; ++i) {
            total += gates_ * op_.hidden * ((op_.input_gemm ? op_.input_of(i) : 0) + op_.hidden);
        }
        return total;
    }
    Argument weights() const {
        return argument_of(layer_.parameters, 0, layer_, "weight", storage(layer_.weights, weights_before(op_.layers)).value,
                           Use::read);
    }
    Argument states(std::int64_t index, Use use) const {
        const std::int64_t size = storage(layer_.activations, rows() * op_.hidden).value;
        if (index + 1 == op_.layers) return argument_of(layer_.outputs, 0, layer_, "out", size, use);
        return {layer_.name + ".state" + std::to_string(index), size, use};
    }
    Argument gates(std::int64_t index, Use use) const {
        const std::int64_t size = storage(layer_.activations, rows() * gates_ * op_.hidden).value;
        if (!op_.input_gemm && index == 0) return argument_of(layer_.inputs, 0, layer_, "gates", size, use);
        return {layer_.name + ".gates", size, use};
    }

    void add_input_product(std::int64_t index) {
        GemmParameters p;
        p.m = rows(), p.n = gates_ * op_.hidden, p.k = op_.input_of(index);
        p.a = layer_.activations, p.b = layer_.weights, p.compute = compute_;
        p.epilogue.out = layer_.activations;
        p.b_offset = weights_before(index) * bits(layer_.weights) / 8;
        GemmOperands operands;
        const std::int64_t size = storage(layer_.activations, rows() * p.k).value;
        operands.a = index == 0 ? argument_of(layer_.inputs, 0, layer_, "in", size, Use::read) : states(index - 1, Use::read);
        operands.b = weights();
        operands.c = gates(index, Use::write);
        operands.workspace = layer_.name + ".workspace";
        append_gemm(launches_, p, operands, gpu_, layer_.name, op_.execution == RnnExecution::graph);
    }

    RnnCell::Parameters cell(std::int64_t index) const {
        RnnCell::Parameters p;
        p.batch = op_.batch, p.hidden = op_.hidden, p.gates = gates_;
        p.persistent = op_.algorithm == RnnAlgorithm::persistent;
        p.steps = p.persistent ? op_.steps : 1;
        p.slots = op_.steps;
        const std::int64_t input_part = op_.input_gemm ? gates_ * op_.hidden * op_.input_of(index) : 0;
        p.weight_offset = (weights_before(index) + input_part) * bits(layer_.weights) / 8;
        p.cell_state = op_.cell == Cell::lstm;
        p.compute = compute_, p.weights = layer_.weights, p.state = layer_.activations;
        p.tensor = gpu_.has_tensor(compute_);
        if (gemm_kernels(gpu_, compute_).empty()) unsupported(layer_.name, compute_, gpu_);
        partition(p, gpu_);
        return p;
    }

    void add_cells(std::int64_t index) {
        const RnnCell::Parameters p = cell(index);
        const char* kind = op_.cell == Cell::lstm ? "LSTM" : op_.cell == Cell::gru ? "GRU" : "RNN";
        KernelBuilder builder(std::string(kind) + (p.persistent ? "_persist_fp_" : "_step_fp_") + std::string(name(compute_)),
                              resources_of(p));
        builder.grid(p.grid()).math(compute_, p.tensor, p.issued_macs());
        builder.graph(op_.execution == RnnExecution::graph).cooperative(p.persistent);
        builder.argument(gates(index, Use::read)).argument(weights()).argument(states(index, Use::read_write));
        if (p.cell_state)
            builder.argument({layer_.name + ".cell" + std::to_string(index), op_.batch * op_.hidden * 4, Use::read_write});
        launches_.push_back({builder.build(std::make_shared<RnnCell>(p), p.text()), p.persistent ? 1 : op_.steps});
    }

    const Layer& layer_;
    const Rnn& op_;
    const config::HwConfig& gpu_;
    std::int64_t gates_;
    DType compute_;
    Launches launches_;
};

}  // namespace

Launches lower_rnn(const Layer& layer, const Rnn& op, const config::HwConfig& gpu) {
    return op.algorithm == RnnAlgorithm::standard ? lower_rnn_steps(layer, op, gpu) : RnnLowering(layer, op, gpu).lower();
}

}  // namespace rafter::lowering
