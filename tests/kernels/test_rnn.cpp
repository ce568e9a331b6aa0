#include "tests/kernels/layers.h"

using namespace rafter;
using test::layer_of;
using workload::Cell;
using workload::Rnn;
using workload::RnnExecution;

namespace {

Rnn rnn(Cell cell, std::int64_t batch, std::int64_t steps, std::int64_t input, std::int64_t hidden, RnnExecution execution) {
    Rnn op;
    op.cell = cell, op.batch = batch, op.steps = steps, op.input = input, op.hidden = hidden, op.execution = execution;
    return op;
}

}  // namespace

TEST_CASE("A recurrent layer is an input product and a kernel per step", "[kernels][rnn]") {
    const auto launches = lowering::lower(layer_of(rnn(Cell::lstm, 16, 25, 512, 1024, RnnExecution::stream)), test::a100());
    REQUIRE(launches.size() >= 2);
    const auto& step = launches.back();
    CHECK(step.repeat == 25);
    CHECK_FALSE(step.kernel.graph);
    const auto r = test::record(step.kernel);
    CHECK(r.loaded[0] == 16 * 4 * 1024 * 2);                 // pre-activations of one step
    CHECK(r.loaded[1] == 4 * 1024 * 1024 * 2);               // recurrent weights, once
    CHECK(r.loaded[2] == step.kernel.grid * 16 * 1024 * 2);  // every CTA needs the whole state
    CHECK(r.stored[2] == 16 * 1024 * 2);
    CHECK(r.loaded[3] == 16 * 1024 * 4);
    CHECK(r.stored[3] == 16 * 1024 * 4);
    CHECK(r.macs == step.kernel.issued_macs);
}

TEST_CASE("A captured graph runs the same kernels", "[kernels][rnn]") {
    const auto launches = lowering::lower(layer_of(rnn(Cell::gru, 8, 5, 64, 256, RnnExecution::graph)), test::a100());
    for (const auto& launch : launches) CHECK(launch.kernel.graph);
    CHECK(launches.back().repeat == 5);
}

TEST_CASE("A persistent kernel reads resident weights once for all steps", "[kernels][rnn]") {
    const auto launches = lowering::lower(layer_of(rnn(Cell::lstm, 16, 10, 512, 512, RnnExecution::persistent)), test::a100());
    const auto& kernel = launches.back().kernel;
    CHECK(launches.back().repeat == 1);
    CHECK(kernel.cooperative);
    CHECK(kernel.grid <= lowering::ctas_per_sm(kernel.resources, test::a100().sm) * 108);
    const auto r = test::record(kernel, true);
    CHECK(r.loaded[1] == 4 * 512 * 512 * 2);
    CHECK(r.grid_syncs == 9 * kernel.grid);
    test::each_byte_once(r.write_count[2]);
    CHECK(r.stored[3] == 16 * 512 * 4);
    CHECK(r.macs == kernel.issued_macs);
}

TEST_CASE("Weights that do not fit the chip are read at every step", "[kernels][rnn]") {
    auto gpu = test::a100();
    gpu.sm.count = 4;
    const auto launches = lowering::lower(layer_of(rnn(Cell::lstm, 4, 3, 64, 1024, RnnExecution::persistent)), gpu);
    const auto& kernel = launches.back().kernel;
    CHECK(kernel.grid <= lowering::ctas_per_sm(kernel.resources, gpu.sm) * 4);
    CHECK(test::record(kernel).loaded[1] == 3 * 4 * 1024 * 1024 * 2);
}

TEST_CASE("Stacked layers, all cells and fp32 stay inside their tensors", "[kernels][rnn]") {
    for (const Cell cell : {Cell::rnn, Cell::lstm, Cell::gru}) {
        for (const auto execution : {RnnExecution::stream, RnnExecution::persistent}) {
            for (const DType dtype : {DType::fp16, DType::fp32}) {
                Rnn op = rnn(cell, 33, 4, 70, 130, execution);
                op.layers = 2;
                for (const bool input : {true, false}) {
                    op.input_gemm = input;
                    for (const auto& launch : lowering::lower(layer_of(op, dtype), test::v100())) {
                        const auto r = test::record(launch.kernel);
                        CHECK(r.macs == launch.kernel.issued_macs);
                    }
                }
            }
        }
    }
}
