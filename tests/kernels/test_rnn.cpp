#include "tests/kernels/layers.h"

using namespace rafter;
using test::layer_of;
using workload::Cell;
using workload::Rnn;
using workload::RnnAlgorithm;
using workload::RnnExecution;
using workload::RnnPass;

namespace {

Rnn rnn(Cell cell, std::int64_t batch, std::int64_t steps, std::int64_t input, std::int64_t hidden, RnnAlgorithm algorithm) {
    Rnn op;
    op.cell = cell, op.batch = batch, op.steps = steps, op.input = input, op.hidden = hidden, op.algorithm = algorithm;
    return op;
}

}  // namespace

TEST_CASE("The fused algorithm is an input product and a kernel per step", "[kernels][rnn]") {
    const auto launches = lowering::lower(layer_of(rnn(Cell::lstm, 16, 25, 512, 1024, RnnAlgorithm::fused)), test::a100());
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
    for (const auto algorithm : {RnnAlgorithm::standard, RnnAlgorithm::fused}) {
        Rnn op = rnn(Cell::gru, 8, 5, 64, 256, algorithm);
        op.execution = RnnExecution::graph;
        for (const auto& launch : lowering::lower(layer_of(op), test::a100())) CHECK(launch.kernel.graph);
    }
}

namespace {

/// Pointwise kernels of the steps.
std::vector<lowering::Launch> cells(const std::vector<lowering::Launch>& launches) {
    std::vector<lowering::Launch> found;
    for (const auto& launch : launches)
        if (launch.kernel.name.find("elementWise") != std::string::npos) found.push_back(launch);
    return found;
}

Count products(const std::vector<lowering::Launch>& launches) {
    Count macs = 0;
    for (const auto& launch : launches) macs += test::record(launch.kernel).macs;
    return macs;
}

}  // namespace

TEST_CASE("The standard algorithm multiplies and runs the cell step by step, on tensors of that step", "[kernels][rnn]") {
    Rnn op = rnn(Cell::lstm, 256, 5, 512, 512, RnnAlgorithm::standard);
    op.input_gemm = false;
    const auto launches = lowering::lower(layer_of(op), test::a100());
    const auto steps = cells(launches);
    REQUIRE(steps.size() == 5);
    const auto r = test::record(steps[1].kernel);
    CHECK(r.loaded[0] == 256 * 4 * 512 * 2);  // pre-activations of the step
    CHECK(r.loaded[1] == 256 * 4 * 512 * 2);  // its recurrent product
    CHECK(r.loaded[2] == 256 * 512 * 2);      // cell state
    CHECK(r.stored[3] == 256 * 512 * 2);      // state
    CHECK(r.stored[2] == 256 * 512 * 2);      // the cell state, in place
    // The state a step writes is what the next product reads, and nothing else changes from step to step.
    const auto written = steps[0].kernel.arguments[3].tensor;
    const auto next =
        std::find_if(launches.begin(), launches.end(), [&](const auto& l) { return l.kernel.arguments[0].tensor == written; });
    REQUIRE(next != launches.end());
    CHECK(next->kernel.name.find("gemm") != std::string::npos);
    CHECK(steps[0].kernel.signature == steps[4].kernel.signature);
    CHECK(steps[1].kernel.stream_commands > 0);
    CHECK(products(launches) == Count(5) * 256 * 4 * 512 * 512);
}

TEST_CASE("Backward passes: a product a step for the data, products over all steps for the weights", "[kernels][rnn]") {
    for (const Cell cell : {Cell::rnn, Cell::lstm, Cell::gru}) {
        Rnn op = rnn(cell, 256, 4, 512, 512, RnnAlgorithm::standard);
        const Count forward = products(lowering::lower(layer_of(op), test::a100()));
        op.pass = RnnPass::backward_data;
        const auto data = lowering::lower(layer_of(op), test::a100());
        CHECK(cells(data).size() == 4);
        CHECK(products(data) == forward);
        op.pass = RnnPass::backward_weights;
        const auto weights = lowering::lower(layer_of(op), test::a100());
        CHECK(cells(weights).empty());
        CHECK(products(weights) == forward);
        op.pass = RnnPass::backward;
        CHECK(products(lowering::lower(layer_of(op), test::a100())) == 2 * forward);
    }
}

TEST_CASE("A persistent kernel reads resident weights once for all steps", "[kernels][rnn]") {
    const auto launches = lowering::lower(layer_of(rnn(Cell::lstm, 16, 10, 512, 512, RnnAlgorithm::persistent)), test::a100());
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
    const auto launches = lowering::lower(layer_of(rnn(Cell::lstm, 4, 3, 64, 1024, RnnAlgorithm::persistent)), gpu);
    const auto& kernel = launches.back().kernel;
    CHECK(kernel.grid <= lowering::ctas_per_sm(kernel.resources, gpu.sm) * 4);
    CHECK(test::record(kernel).loaded[1] == 3 * 4 * 1024 * 1024 * 2);
}

TEST_CASE("Stacked layers, all cells and fp32 stay inside their tensors", "[kernels][rnn]") {
    for (const Cell cell : {Cell::rnn, Cell::lstm, Cell::gru}) {
        for (const auto algorithm : {RnnAlgorithm::standard, RnnAlgorithm::fused, RnnAlgorithm::persistent}) {
            for (const DType dtype : {DType::fp16, DType::fp32}) {
                Rnn op = rnn(cell, 33, 4, 70, 130, algorithm);
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
