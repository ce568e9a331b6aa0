#include <memory>

#include "sim/kernels/gemm.h"
#include "sim/kernels/split_k_reduce.h"
#include "sim/lowering/choose_gemm.h"
#include "sim/lowering/families.h"
#include "tests/catch.h"
#include "tests/kernels/layers.h"

using namespace rafter;
using kernels::GemmParameters;
using kernels::Tile;

namespace {

Tile ampere_tile(std::int64_t m, std::int64_t n, std::int64_t k) {
    Tile t;
    t.m = m, t.n = n, t.k = k, t.stages = 3, t.warps_m = 2, t.warps_n = 2;
    return t;
}

GemmParameters shape(std::int64_t m, std::int64_t n, std::int64_t k, const Tile& tile) {
    GemmParameters p;
    p.m = m, p.n = n, p.k = k, p.tile = tile;
    p.grid = p.units();
    return p;
}

program::Kernel kernel_of(const GemmParameters& p) {
    program::Kernel kernel;
    const std::int64_t out = p.epilogue.partial ? 4 * p.splits : bits(p.epilogue.out) / 8;
    kernel.arguments.push_back({"a", storage(p.a, p.batch * p.m * p.k).value, program::Use::read});
    kernel.arguments.push_back({"b", storage(p.b, p.batch * p.n * p.k).value, program::Use::read});
    if (p.epilogue.bias) kernel.arguments.push_back({"bias", p.n * 2, program::Use::read});
    if (p.epilogue.residual) kernel.arguments.push_back({"residual", p.batch * p.m * p.n * 2, program::Use::read});
    kernel.arguments.push_back({"c", p.batch * p.m * p.n * out / (p.epilogue.gated ? 2 : 1), program::Use::write});
    kernel.grid = p.grid;
    kernel.code = std::make_shared<kernels::Gemm>(p);
    return kernel;
}

}  // namespace

TEST_CASE("An aligned GEMM reads A once per tile column and B once per tile row", "[kernels][gemm]") {
    // 512 x 384 x 256 in 128 x 128 tiles: 4 rows and 3 columns of tiles.
    const auto p = shape(512, 384, 256, ampere_tile(128, 128, 64));
    const auto r = test::record(kernel_of(p));
    CHECK(r.loaded[0] == 3 * 512 * 256 * 2);
    CHECK(r.loaded[1] == 4 * 384 * 256 * 2);
    CHECK(r.stored[2] == 512 * 384 * 2);
    CHECK(r.macs == Count(512) * 384 * 256);
    CHECK(r.macs == p.issued_macs());
    CHECK(r.products == 12 * 4);
}

TEST_CASE("A partial tile loads its own rows and columns only", "[kernels][gemm]") {
    // 129 x 130 x 72: 2 x 2 tiles, k blocks of 64 and 8. Each operand is still read once per tile of the other side.
    const auto p = shape(129, 130, 72, ampere_tile(128, 128, 64));
    const auto r = test::record(kernel_of(p));
    CHECK(r.loaded[0] == 2 * 129 * 72 * 2);
    CHECK(r.loaded[1] == 2 * 130 * 72 * 2);
    CHECK(r.stored[2] == 129 * 130 * 2);
    // One extra row: the warp that has it issues 16 rows, the other warp row keeps step: 128 + 2 x 16. Two extra columns: 2 x 8.
    // k: 64 + 8 rounded up to 16.
    CHECK(r.macs == Count(128 + 32) * (128 + 16) * (64 + 16));
    CHECK(r.macs == p.issued_macs());
}

TEST_CASE("M=129 issues more than M=128 and less than M=256", "[kernels][gemm]") {
    const Tile t = ampere_tile(128, 128, 64);
    const auto issued = [&](std::int64_t m) { return shape(m, 4096, 4096, t).issued_macs(); };
    CHECK(issued(127) == issued(128));
    CHECK(issued(128) < issued(129));
    CHECK(issued(129) < issued(256));
}

TEST_CASE("Every byte of the output is stored once", "[kernels][gemm]") {
    for (const bool gated : {false, true}) {
        auto p = shape(70, 136, 40, ampere_tile(64, 64, 32));
        p.epilogue.gated = gated;
        const auto r = test::record(kernel_of(p), true);
        test::each_byte_once(r.write_count.back());
    }
}

TEST_CASE("A persistent GEMM does the work of all tiles with fewer CTAs", "[kernels][gemm]") {
    auto p = shape(1000, 700, 200, ampere_tile(128, 128, 64));
    const auto all = test::record(kernel_of(p));
    for (const std::int64_t grid : {1, 5, 47}) {
        for (const bool pingpong : {false, true}) {
            p.grid = grid, p.tile.pingpong = pingpong, p.tile.feed = kernels::Feed::tma;
            const auto r = test::record(kernel_of(p));
            CHECK(r.loaded == all.loaded);
            CHECK(r.stored == all.stored);
            CHECK(r.macs == all.macs);
            CHECK(r.fma == all.fma);
        }
    }
}

TEST_CASE("Split-K writes fp32 partial sums and the reduction reads them once", "[kernels][gemm]") {
    auto p = shape(64, 96, 1000, ampere_tile(64, 64, 64));  // 16 k blocks
    p.splits = kernels::even_splits(16, 5);                 // 4 blocks each: 4 splits
    REQUIRE(p.splits == 4);
    p.epilogue.partial = true;
    p.grid = p.units();
    const auto r = test::record(kernel_of(p), true);
    CHECK(r.loaded[0] == 2 * 64 * 1000 * 2);
    CHECK(r.stored[2] == 4 * 64 * 96 * 4);
    test::each_byte_once(r.write_count.back());

    kernels::Epilogue epilogue;
    epilogue.bias = epilogue.residual = true;
    program::Kernel reduce;
    reduce.arguments = {{"workspace", 4 * 64 * 96 * 4, program::Use::read},
                        {"bias", 96 * 2, program::Use::read},
                        {"residual", 64 * 96 * 2, program::Use::read},
                        {"c", 64 * 96 * 2, program::Use::write}};
    reduce.grid = kernels::SplitKReduce::grid(64, 96);
    reduce.code = std::make_shared<kernels::SplitKReduce>(64, 96, 4, epilogue);
    const auto s = test::record(reduce, true);
    CHECK(s.loaded[0] == 4 * 64 * 96 * 4);
    CHECK(s.loaded[2] == 64 * 96 * 2);
    test::each_byte_once(s.write_count.back());
}

TEST_CASE("Batched, [k,n] and sub-byte operands stay inside their buffers", "[kernels][gemm]") {
    auto p = shape(27, 27, 64, ampere_tile(64, 64, 32));
    p.batch = 3, p.b_transposed = false, p.a_stride = p.b_stride = 27 * 64 * 2;
    p.grid = p.units();
    auto r = test::record(kernel_of(p), true);
    test::each_byte_once(r.read_count[1]);
    CHECK(r.stored[2] == 3 * 27 * 27 * 2);

    auto q = shape(16, 64, 255, ampere_tile(64, 64, 64));
    q.b = DType::int4;
    r = test::record(kernel_of(q));
    CHECK(r.integer > 64 * 255);  // unpacking
    CHECK(r.loaded[1] <= 64 * 128);
}

TEST_CASE("SIMT products count their multiply-adds on the vector lanes", "[kernels][gemm]") {
    Tile t;
    t.m = 128, t.n = 128, t.k = 8, t.stages = 2, t.warps_m = 4, t.warps_n = 2, t.unit_m = t.unit_n = 8, t.unit_k = 1;
    t.feed = kernels::Feed::simt;
    auto p = shape(256, 256, 64, t);
    p.a = p.b = p.compute = p.epilogue.out = DType::fp32;
    const auto r = test::record(kernel_of(p));
    CHECK(r.macs == 0);
    CHECK(r.fma == 256 * 256 * 64 + 256 * 256);  // and the epilogue's scale
    CHECK(r.loaded[0] == 2 * 256 * 64 * 4);
}
