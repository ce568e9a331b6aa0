// What kernels say of units that are alike is true: a unit and the one a period later ask for the same.
#include "tests/kernels/layers.h"

using namespace rafter;
using test::layer_of;

namespace {

test::Record record_unit(const program::Kernel& kernel, const std::vector<program::Buffer>& buffers, std::int64_t unit) {
    test::Record r;
    r.loaded.resize(buffers.size());
    r.stored.resize(buffers.size());
    test::RecordingCta cta(unit, buffers, r, false);
    program::TileProgram program = kernel.code->run(cta, buffers);
    REQUIRE_FALSE(program.resume());
    return r;
}

/// Returns how many pairs were compared. `exactly`: image borders and the like make units differ.
std::int64_t check(const program::Kernel& kernel, bool exactly = true) {
    const auto buffers = test::buffers_of(kernel);
    std::int64_t pairs = 0;
    for (std::int64_t unit = 0; unit < kernel.grid; ++unit) {
        for (const program::Repeat& repeat : kernel.code->repeats(unit)) {
            if (repeat.period == 0 || repeat.end <= unit) continue;
            CHECK(repeat.first <= unit);
            if (!exactly || unit + repeat.period >= repeat.end) continue;
            const auto a = record_unit(kernel, buffers, unit), b = record_unit(kernel, buffers, unit + repeat.period);
            INFO("unit " << unit << " period " << repeat.period);
            CHECK(a.loaded == b.loaded);
            CHECK(a.stored == b.stored);
            CHECK(a.macs == b.macs);
            CHECK(a.fma == b.fma);
            ++pairs;
        }
    }
    return pairs;
}

std::int64_t check(const workload::Operation& op, DType dtype = DType::fp16, bool exactly = true) {
    std::int64_t pairs = 0;
    for (const auto& launch : lowering::lower(layer_of(op, dtype), test::a100())) pairs += check(launch.kernel, exactly);
    return pairs;
}

}  // namespace

TEST_CASE("units of matrix products a period apart are alike", "[kernels][steady]") {
    workload::Gemm gemm;
    gemm.m = 2500, gemm.n = 1100, gemm.k = 200;  // partial tiles at every side
    CHECK(check(gemm) > 0);
    gemm.batch = 3, gemm.m = 300, gemm.n = 200;
    CHECK(check(gemm) > 0);
    gemm.batch = 1, gemm.m = 64, gemm.n = 512, gemm.k = 65536;  // split along k
    check(gemm);
}

TEST_CASE("units of attention a period apart are alike", "[kernels][steady]") {
    workload::Attention attention;
    attention.batch = 2, attention.heads = 8, attention.kv_heads = 2, attention.head_dim = attention.head_dim_v = 64;
    attention.seq_q = attention.seq_kv = 700;
    attention.causal = true;
    check(attention);
    attention.causal = false;
    CHECK(check(attention) > 0);
    attention.decode = true, attention.seq_q = 1, attention.batch = 64;
    CHECK(check(attention) > 0);
}

TEST_CASE("units of streaming kernels are alike", "[kernels][steady]") {
    CHECK(check(workload::RowReduction{workload::RowOp::layernorm, 1000, 512}) > 0);
    workload::Elementwise copy;
    copy.rows = 100, copy.cols = 40960, copy.fn = "copy";
    CHECK(check(copy) > 0);
}

TEST_CASE("units of convolutions and windows lie inside the stretches they are said to be in", "[kernels][steady]") {
    workload::Conv2d conv;
    conv.n = 4, conv.c = 64, conv.h = conv.w = 30, conv.k = 96, conv.r = conv.s = 3, conv.p = conv.q = 30;
    conv.pad_top = conv.pad_left = 1;
    check(conv, DType::fp16, false);
    conv.groups = conv.k = conv.c;
    check(conv, DType::fp16, false);
}
