#include "tests/kernels/layers.h"

using namespace rafter;
using test::each_byte_once;
using test::layer_of;

TEST_CASE("An elementwise layer reads and writes every byte once", "[kernels][elementwise]") {
    for (const std::int64_t cols : {1, 7, 4096, 100003}) {
        workload::Elementwise op;
        op.rows = 1, op.cols = cols, op.fn = "relu";
        const auto launches = lowering::lower(layer_of(op, DType::fp32), test::a100());
        const auto r = test::record(launches.at(0).kernel, true);
        CHECK(r.loaded[0] == cols * 4);
        CHECK(r.stored[1] == cols * 4);
        CHECK(r.fma == cols);
        each_byte_once(r.read_count[0]);
        each_byte_once(r.write_count[1]);
    }
}

TEST_CASE("Operands of an elementwise layer keep their own sizes", "[kernels][elementwise]") {
    workload::Elementwise op;  // silu(gate) * up: two halves in, one out; written as one [rows, 2 cols] operand
    op.rows = 64, op.cols = 1000, op.reads = 2, op.writes = 0.5, op.fn = "silu";
    auto layer = layer_of(op);
    layer.inputs = {{"x", Bytes(64 * 1000 * 2)}, {"y", Bytes(64 * 1000 * 2)}};
    layer.outputs = {{"z", Bytes(64 * 500 * 2)}};
    const auto r = test::record(lowering::lower(layer, test::a100()).at(0).kernel, true);
    for (int i : {0, 1}) each_byte_once(r.read_count[static_cast<std::size_t>(i)]);
    each_byte_once(r.write_count[2]);
}

TEST_CASE("Row reductions read a short row once and a long one twice", "[kernels][rows]") {
    for (const auto op : {workload::RowOp::softmax, workload::RowOp::layernorm, workload::RowOp::rmsnorm}) {
        auto layer = layer_of(workload::RowReduction{op, 37, 1000});
        auto r = test::record(lowering::lower(layer, test::a100()).at(0).kernel, true);
        each_byte_once(r.read_count[0]);
        each_byte_once(r.write_count.back());
        layer.operation = workload::RowReduction{op, 3, 40000};  // 80,000 B a row > 64 KiB
        r = test::record(lowering::lower(layer, test::a100()).at(0).kernel, true);
        CHECK(r.loaded[0] == 2 * 3 * 80000);
        each_byte_once(r.write_count.back());
    }
}

TEST_CASE("A reduction writes one value a row", "[kernels][rows]") {
    const auto layer = layer_of(workload::RowReduction{workload::RowOp::reduce, 100, 512});
    const auto r = test::record(lowering::lower(layer, test::a100()).at(0).kernel, true);
    CHECK(r.stored.back() == 100 * 2);
    each_byte_once(r.read_count[0]);
}

TEST_CASE("Norm parameters are read by every CTA", "[kernels][rows]") {
    auto layer = layer_of(workload::RowReduction{workload::RowOp::layernorm, 432, 768});
    layer.parameters = {{"gamma", Bytes(1536)}, {"beta", Bytes(1536)}};
    const auto kernel = lowering::lower(layer, test::a100()).at(0).kernel;
    const auto r = test::record(kernel);
    CHECK(r.loaded[1] == kernel.grid * 1536);
    CHECK(r.loaded[2] == kernel.grid * 1536);
}
