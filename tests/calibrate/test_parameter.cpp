// Leaves of a GPU file as free values, and the file that comes out.
#include "sim/calibrate/parameter.h"

#include "sim/config/loader.h"
#include "sim/core/error.h"
#include "tests/catch.h"

using namespace rafter;
using namespace rafter::calibrate;
using Catch::Matchers::Contains;

TEST_CASE("a free value is a number of the effective config, half to twice", "[parameter]") {
    const auto gpu = config::load_gpu("a100-sxm4-80gb", {});
    const auto found = find_parameters(gpu, {"l2.bytes_per_clk", "launch.graph_gap"}, {"l2.bytes_per_clk=3000..4000"});
    REQUIRE(found.size() == 2);
    CHECK(found[0].start == 3850);
    CHECK(found[0].lower == 3000);
    CHECK(found[0].upper == 4000);
    CHECK(found[1].unit == "fs");
    CHECK(found[1].lower == 0.67e9);
    CHECK(found[1].upper == 2.68e9);
    CHECK(found[1].text(1.5e9) == "1500000000 fs");
}

TEST_CASE("what cannot be free is refused with the nearest name", "[parameter]") {
    const auto gpu = config::load_gpu("a100-sxm4-80gb", {});
    const auto refused = [&](const std::vector<std::string>& free, const std::vector<std::string>& bounds,
                             const std::string& text) { CHECK_THROWS_WITH(find_parameters(gpu, free, bounds), Contains(text)); };
    refused({"l2.bytes_per_clok"}, {}, "has no such value (did you mean 'l2.bytes_per_clk'?)");
    refused({"dram.type"}, {}, "'HBM2e' is no positive number");
    refused({}, {}, "names no value");
    refused({"l2.slices", "l2.slices"}, {}, "given twice");
    refused({"l2.slices"}, {"l2.ways=1..2"}, "this value is not free");
    refused({"l2.slices"}, {"l2.slices=1-2"}, "expected PATH=LOW..HIGH");
    refused({"l2.slices"}, {"l2.slices=100..200"}, "must hold the present value, 80");
    refused({"launch.graph_gap"}, {"launch.graph_gap=1 us..2 us"}, "expected 'fs'");
}

TEST_CASE("the file that comes out loads, with standing and the command as source", "[parameter]") {
    const auto gpu = config::load_gpu("a100-sxm4-80gb", {});
    const auto found = find_parameters(gpu, {"tensor.flop_per_clk.fp16", "l2.latency_far", "l2.latency_near"}, {});
    const std::string yaml =
        to_yaml("a100-sxm4-80gb", gpu.title, gpu.compute_capability, found, {2000, 350, 205}, "rafter calibrate --x");
    CHECK(yaml ==
          "schema: rafter.gpu/1\nbase: a100-sxm4-80gb\ntitle: NVIDIA A100-SXM4-80GB, calibrated\ncompute_capability: '8.0'\nl2:\n"
          "  latency_far: {value: 350 clk, source: \"rafter calibrate --x\", standing: measured}\n"
          "  latency_near: {value: 205 clk, source: \"rafter calibrate --x\", standing: measured}\n"
          "tensor:\n  flop_per_clk:\n    fp16: {value: 2000, source: \"rafter calibrate --x\", standing: measured}\n");
}
