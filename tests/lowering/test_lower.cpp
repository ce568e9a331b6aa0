#include <algorithm>

#include "sim/core/error.h"
#include "sim/lowering/catalogue.h"
#include "sim/lowering/choose_gemm.h"
#include "tests/kernels/layers.h"

using namespace rafter;
using test::layer_of;

namespace {

workload::Gemm gemm(std::int64_t m, std::int64_t n, std::int64_t k) {
    workload::Gemm op;
    op.m = m, op.n = n, op.k = k;
    return op;
}

lowering::GemmChoice choice(std::int64_t m, std::int64_t n, std::int64_t k, const config::HwConfig& gpu,
                            DType dtype = DType::fp16) {
    kernels::GemmParameters p;
    p.m = m, p.n = n, p.k = k, p.a = p.b = p.compute = p.epilogue.out = dtype;
    return lowering::choose_gemm(p, gpu, "l");
}

}  // namespace

TEST_CASE("Large products take large tiles", "[lowering]") {
    for (const auto& gpu : {test::a100(), test::v100(), test::h100()}) {
        const auto c = choice(8192, 8192, 8192, gpu);
        CHECK(c.kernel.tile.m * c.kernel.tile.n >= 128 * 128);
        CHECK(c.splits == 1);
    }
}

TEST_CASE("Small m takes small tiles; a long k with a tiny output is split", "[lowering]") {
    CHECK(choice(1, 4096, 4096, test::a100()).kernel.tile.m <= 32);
    CHECK(choice(8, 4096, 4096, test::h100()).kernel.tile.m == 8);
    CHECK(choice(64, 10, 57608, test::a100()).splits > 8);
}

TEST_CASE("Hopper stages follow from the tile", "[lowering]") {
    // nvjet_tst_128x256_64x4, 192x144_64x5, 128x128_64x6, 64x8_64x16: names seen in traces.
    const auto gpu = test::h100();
    const auto stages = [&](std::int64_t m, std::int64_t n) {
        for (const auto& kernel : lowering::gemm_kernels(gpu, DType::bf16)) {
            if (kernel.tile.m == m && kernel.tile.n == n) return kernel.tile.stages;
        }
        return std::int64_t{0};
    };
    CHECK(stages(128, 256) == 4);
    CHECK(stages(128, 128) == 6);
    CHECK(stages(64, 8) == 16);
    CHECK(stages(128, 80) == 8);
}

TEST_CASE("Every kernel of every catalogue fits its GPU", "[lowering]") {
    for (const auto& gpu : {test::a100(), test::v100(), test::h100()}) {
        for (const DType dtype : {DType::fp16, DType::bf16, DType::tf32, DType::fp8, DType::int8, DType::fp64, DType::fp32}) {
            for (const auto& kernel : lowering::gemm_kernels(gpu, dtype)) {
                CHECK(lowering::ctas_per_sm(kernel.resources, gpu.sm) >= 1);
                CHECK(kernel.tile.m % kernel.tile.warps_m == 0);
                CHECK(kernel.tile.n % kernel.tile.warps_n == 0);
            }
        }
    }
}

TEST_CASE("A dtype without units is an error that names what there is", "[lowering]") {
    try {
        lowering::lower(layer_of(gemm(64, 64, 64), DType::fp8), test::a100());
        FAIL("fp8 on A100");
    } catch (const Error& e) {
        CHECK(std::string(e.what()) ==
              "error: layer 'l' multiplies in fp8, which NVIDIA A100-SXM4-80GB has no units for (it has bf16, fp16, fp32, fp64, "
              "int8, tf32)");
    }
    CHECK_THROWS_AS(lowering::lower(layer_of(gemm(64, 64, 64), DType::bf16), test::v100()), Error);
}

TEST_CASE("fp32 runs on the lanes, tf32 and fp64 on tensor cores where there are some", "[lowering]") {
    CHECK_FALSE(lowering::lower(layer_of(gemm(512, 512, 512), DType::fp32), test::a100()).at(0).kernel.tensor);
    CHECK(lowering::lower(layer_of(gemm(512, 512, 512), DType::tf32), test::a100()).at(0).kernel.tensor);
    CHECK(lowering::lower(layer_of(gemm(512, 512, 512), DType::fp64), test::a100()).at(0).kernel.tensor);
    CHECK_FALSE(lowering::lower(layer_of(gemm(512, 512, 512), DType::fp64), test::v100()).at(0).kernel.tensor);
}

TEST_CASE("Equal layers have equal signatures whatever their names", "[lowering]") {
    auto a = layer_of(gemm(129, 512, 512)), b = a;
    a.name = "fc1", b.name = "ADPT_DP_fc1";
    const auto x = lowering::lower(a, test::a100()), y = lowering::lower(b, test::a100());
    REQUIRE(x.size() == y.size());
    for (std::size_t i = 0; i < x.size(); ++i) CHECK(x[i].kernel.signature == y[i].kernel.signature);
    auto c = a;
    c.operation = gemm(130, 512, 512);
    CHECK(lowering::lower(c, test::a100()).at(0).kernel.signature != x.at(0).kernel.signature);
    auto d = a;
    std::get<workload::Gemm>(d.operation).activation = "gelu";
    CHECK(lowering::lower(d, test::a100()).back().kernel.signature != x.back().kernel.signature);
}

TEST_CASE("All layers of a product store the output exactly once, split or not", "[lowering]") {
    for (const auto& gpu : {test::a100(), test::v100(), test::h100()}) {
        for (const std::int64_t m : {1, 3, 17, 129, 300}) {
            for (const DType dtype : {DType::fp16, DType::fp32}) {
                auto op = gemm(m, 264, 1500);
                op.bias = true, op.activation = "gelu", op.residual = true, op.gated = m == 17;
                const auto launches = lowering::lower(layer_of(op, dtype), gpu);
                for (const auto& launch : launches) {
                    const auto r = test::record(launch.kernel, true);
                    test::each_byte_once(r.write_count.back());
                    CHECK(r.macs == launch.kernel.issued_macs);
                    CHECK(launch.kernel.lane_macs <= Count(r.fma));
                }
            }
        }
    }
}

TEST_CASE("Narrow weights are read at their own size", "[lowering]") {
    auto layer = layer_of(gemm(16, 512, 1024));
    layer.weights = DType::int4;
    layer.parameters = {{"w", Bytes(512 * 1024 / 2)}};
    const auto kernel = lowering::lower(layer, test::a100()).at(0).kernel;
    CHECK(kernel.dtype == DType::fp16);
    const auto r = test::record(kernel);
    CHECK(r.loaded[1] == 512 * 1024 / 2);
    CHECK(r.integer >= 512 * 1024);
}

TEST_CASE("A GPU of one SM lowers everything", "[lowering]") {
    auto gpu = test::a100();
    gpu.sm.count = 1;
    CHECK_FALSE(lowering::lower(layer_of(gemm(256, 256, 256)), gpu).empty());
    workload::Rnn rnn;
    rnn.batch = 2, rnn.steps = 3, rnn.input = 16, rnn.hidden = 64, rnn.algorithm = workload::RnnAlgorithm::persistent;
    CHECK(lowering::lower(layer_of(rnn), gpu).back().kernel.grid == 1);
}
