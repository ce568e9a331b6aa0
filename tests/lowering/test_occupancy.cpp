#include <string>

#include "sim/lowering/lower.h"
#include "tests/catch.h"
#include "tests/kernels/gpus.h"

using namespace rafter;
using lowering::ctas_per_sm;

TEST_CASE("CTAs per SM follow the scarcest resource", "[lowering][occupancy]") {
    const auto gpu = test::a100();
    std::string limiter;
    // 256 threads x 118 registers: 118 x 32 = 3,776 -> 3,840 a warp, 17 warps, 8 warps a CTA -> 2.
    CHECK(ctas_per_sm({256, 118, Bytes(0)}, gpu.sm, &limiter) == 2);
    CHECK(limiter == "registers");
    // 48 KiB + 1 KiB reserved = 49 KiB; 164 / 49 = 3.
    CHECK(ctas_per_sm({128, 64, Bytes(48 << 10)}, gpu.sm, &limiter) == 3);
    CHECK(limiter == "shared memory");
    // 1024 threads: 2048 / 1024.
    CHECK(ctas_per_sm({1024, 32, Bytes(0)}, gpu.sm, &limiter) == 2);
    // 32 threads of 16 registers: 32 CTA slots.
    CHECK(ctas_per_sm({32, 16, Bytes(0)}, gpu.sm, &limiter) == 32);
    CHECK(limiter == "CTA slots");
    // More than a CTA may opt in to.
    CHECK(ctas_per_sm({128, 64, Bytes(164 << 10)}, gpu.sm, &limiter) == 0);
    CHECK(limiter == "shared memory");
    CHECK(ctas_per_sm({128, 256, Bytes(0)}, gpu.sm, &limiter) == 0);
    CHECK(limiter == "registers");
}
