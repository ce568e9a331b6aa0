// The kernels of PyTorch and vLLM: grids as their launches compute them, and how often a row is read.
#include "tests/kernels/layers.h"

using namespace rafter;
using test::each_byte_once;
using test::layer_of;
using workload::Library;
using workload::RowOp;

namespace {

lowering::Launch only(workload::Operation op, Library library, DType dtype) {
    auto layer = layer_of(std::move(op), dtype);
    layer.library = library;
    return lowering::lower(layer, test::a100()).at(0);
}

workload::RowReduction rows_of(RowOp op, std::int64_t rows, std::int64_t cols) { return {op, rows, cols}; }

}  // namespace

TEST_CASE("eager elementwise kernels have a CTA for every 512 elements", "[kernels][library]") {
    workload::Elementwise op;
    op.rows = 11917, op.cols = 946, op.fn = "mul";
    const auto kernel = only(op, Library::pytorch, DType::fp32).kernel;
    CHECK(kernel.grid == 22019);  // of the real launch: 11917 x 946 / 512, rounded up
    CHECK(kernel.resources.threads == 128);
    const auto r = test::record(kernel, true);
    each_byte_once(r.read_count[0]);
    each_byte_once(r.write_count.back());
}

TEST_CASE("eager softmax: a warp a row up to 1024 columns, then a CTA whose size follows the row", "[kernels][library]") {
    const auto kernel = [](std::int64_t rows, std::int64_t cols) {
        return only(rows_of(RowOp::softmax, rows, cols), Library::pytorch, DType::fp32).kernel;
    };
    CHECK(kernel(11202, 592).grid == 2801);  // grids and blocks of real launches (PyTorch 2.1)
    CHECK(kernel(9654, 1170).grid == 9654);
    CHECK(kernel(9654, 1170).resources.threads == 256);
    CHECK(kernel(13896, 2908).resources.threads == 512);
    CHECK(kernel(786432, 2048).resources.threads == 256);
    CHECK(kernel(32768, 16384).resources.threads == 512);
}

TEST_CASE("eager softmax reads a row once when it vectorises and fits shared memory, else three times", "[kernels][library]") {
    for (const auto& [cols, times] : {std::pair{1000, 1}, {2048, 1}, {2043, 3}, {16384, 3}}) {
        const auto r = test::record(only(rows_of(RowOp::softmax, 8, cols), Library::pytorch, DType::fp32).kernel, true);
        INFO(cols << " columns");
        CHECK(r.loaded[0] == 8 * cols * 4 * times);
        each_byte_once(r.write_count.back());
    }
}

TEST_CASE("eager layer norm reads its row twice, vLLM's RMS norm too", "[kernels][library]") {
    const auto ln = test::record(only(rows_of(RowOp::layernorm, 16, 768), Library::pytorch, DType::fp32).kernel, true);
    CHECK(ln.loaded[0] == 2 * 16 * 768 * 4);
    each_byte_once(ln.write_count.back());
    auto layer = layer_of(rows_of(RowOp::rmsnorm, 16, 4096));
    layer.library = Library::vllm;
    layer.parameters = {{"l.weight", Bytes(8192)}};
    const auto rms = test::record(lowering::lower(layer, test::a100()).at(0).kernel, true);
    CHECK(rms.loaded[0] == 2 * 16 * 4096 * 2);
    each_byte_once(rms.write_count.back());
}

TEST_CASE("eager RMS norm is six kernels, seven with the residual", "[kernels][library]") {
    auto layer = layer_of(rows_of(RowOp::rmsnorm, 64, 4096));
    layer.library = Library::pytorch;
    layer.parameters = {{"l.weight", Bytes(8192)}};
    CHECK(lowering::lower(layer, test::a100()).size() == 6);
    std::get<workload::RowReduction>(layer.operation).residual = true;
    CHECK(lowering::lower(layer, test::a100()).size() == 7);
}

TEST_CASE("a gather of eager PyTorch has eight CTAs of 128 an SM at most", "[kernels][library]") {
    workload::EmbeddingBag op;
    op.rows = 32000, op.dim = 4096, op.batch = 512;
    const auto kernel = only(op, Library::pytorch, DType::fp16).kernel;
    CHECK(kernel.grid == 8 * 108);
    CHECK(test::record(kernel, false).stored[2] == 512 * 4096 * 2);
    op.batch = 1, op.dim = 100;
    CHECK(only(op, Library::pytorch, DType::fp16).kernel.grid == 1);
}

TEST_CASE("the host makes more calls for a module than for a function", "[kernels][library]") {
    workload::Elementwise op;
    op.rows = 1, op.cols = 512, op.fn = "add";
    CHECK(only(op, Library::tuned, DType::fp32).kernel.host_calls == 0);
    const auto add = only(op, Library::pytorch, DType::fp32).kernel.host_calls;
    const auto norm = only(rows_of(RowOp::layernorm, 1, 512), Library::pytorch, DType::fp32).kernel.host_calls;
    CHECK(add > 0);
    CHECK(norm > add);
}
