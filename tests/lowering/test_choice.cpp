// Choices that libraries make by rules: grids are those of real launches where the comment says so.
#include "sim/lowering/choose_gemm.h"
#include "sim/lowering/library/gemm.h"
#include "tests/kernels/layers.h"

using namespace rafter;
using test::layer_of;

namespace {

kernels::GemmParameters product(std::int64_t batch, std::int64_t m, std::int64_t n, std::int64_t k, DType dtype) {
    kernels::GemmParameters p;
    p.batch = batch, p.m = m, p.n = n, p.k = k, p.a = p.b = p.compute = p.epilogue.out = dtype;
    return p;
}

std::int64_t units(const kernels::GemmParameters& shape, const config::HwConfig& gpu) {
    auto p = shape;
    p.tile = lowering::choose_gemm(p, gpu, "l", false).kernel.tile;
    return p.units();
}

workload::Conv2d conv(workload::ConvPass pass, std::int64_t stride) {
    workload::Conv2d c;
    c.n = 8, c.c = 64, c.h = c.w = 28, c.k = 128, c.r = c.s = 3, c.pad_top = c.pad_left = c.pad_bottom = c.pad_right = 1;
    c.stride_h = c.stride_w = stride, c.p = c.q = 28 / stride, c.pass = pass;
    return c;
}

}  // namespace

TEST_CASE("batched fp32 products take the tile cuBLAS takes", "[lowering][choice]") {
    CHECK(units(product(24, 64, 1024, 1024, DType::fp32), test::a100()) == 8 * 24);      // 8x1x24, 128x128, A100
    CHECK(units(product(2048, 128, 128, 96, DType::fp32), test::v100()) == 4 * 2048);    // 2x2x2048, 64x64, V100
    CHECK(units(product(64, 1024, 96, 1024, DType::fp32), test::v100()) == 3 * 8 * 64);  // 3x8x64, 32x128, V100
}

TEST_CASE("single fp32 products on the A100: sliced tiles while they are few", "[lowering][choice]") {
    CHECK(units(product(1, 1024, 960, 3840, DType::fp32), test::a100()) == 30 * 32);  // 30x32, 32x32_sliced1x4
    CHECK(units(product(1, 4096, 4096, 512, DType::fp32), test::a100()) == 32 * 64);  // 32x64, 128x64
}

TEST_CASE("vLLM's fp8 products follow its table; other dtypes and libraries do not", "[lowering][choice]") {
    const auto tile = [](std::int64_t m, std::int64_t n, std::int64_t k) {
        return lowering::library_gemm(product(1, m, n, k, DType::fp8), test::h100(), workload::Library::vllm)->kernel.tile;
    };
    CHECK(tile(8, 4096, 4096).m == 16);
    CHECK(tile(64, 1024, 4096).m == 16);
    CHECK(tile(64, 4096, 4096).m == 64);
    CHECK(tile(128, 4096, 4096).m == 64);
    CHECK(tile(4096, 4096, 4096).m == 128);
    CHECK(tile(8192, 4096, 8192).m == 256);
    CHECK_FALSE(lowering::library_gemm(product(1, 8, 64, 64, DType::fp8), test::h100(), workload::Library::tuned).has_value());
    CHECK_FALSE(lowering::library_gemm(product(1, 8, 64, 64, DType::bf16), test::h100(), workload::Library::vllm).has_value());
}

TEST_CASE("clusters of two where there are two rows of tiles", "[lowering][choice]") {
    CHECK(lowering::choose_gemm(product(1, 4096, 4096, 4096, DType::bf16), test::h100(), "l").cluster == 2);
    CHECK(lowering::choose_gemm(product(1, 8, 4096, 4096, DType::bf16), test::h100(), "l").cluster == 1);
    CHECK(lowering::choose_gemm(product(1, 4096, 4096, 4096, DType::fp16), test::a100(), "l").cluster == 1);
}

TEST_CASE("backward passes of a convolution write their gradient once", "[lowering][choice]") {
    for (const auto pass : {workload::ConvPass::backward_data, workload::ConvPass::backward_weights}) {
        for (const std::int64_t stride : {1, 2}) {
            const auto launches = lowering::lower(layer_of(conv(pass, stride), DType::fp16), test::a100());
            INFO(launches.front().kernel.name << ", stride " << stride);
            const auto r = test::record(launches.back().kernel, true);
            test::each_byte_once(r.write_count.back());
        }
    }
}

TEST_CASE("vLLM quantises in two kernels, the first with one atomic a row", "[lowering][choice]") {
    workload::Elementwise op;
    op.fn = "quantise", op.rows = 32, op.cols = 512, op.output = DType::fp8, op.flops_per_element = 1;
    auto layer = layer_of(op, DType::bf16);
    layer.library = workload::Library::vllm;
    const auto launches = lowering::lower(layer, test::a100());
    REQUIRE(launches.size() == 2);
    CHECK(launches[0].kernel.grid == 32);
    CHECK(launches[1].kernel.grid == 32);
}
