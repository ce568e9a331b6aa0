#include <string>

#include "sim/config/loader.h"
#include "tests/catch.h"
#include "tests/config/support.h"

using namespace rafter;
using namespace rafter::config;
using rafter::tests::error_of;
using rafter::tests::Folder;

namespace {

/// The error of `what-if.yaml` with this text, which names its base itself.
std::string what_if_error(const std::string& text, const Settings& settings = {}) {
    const Folder folder;
    folder.write("what-if.yaml", text);
    return error_of([&] { load_gpu("what-if.yaml", settings); });
}

const Leaf& leaf(const HwConfig& gpu, const std::string& path) {
    for (const Leaf& l : gpu.effective) {
        if (l.path == path) return l;
    }
    throw std::runtime_error("no leaf " + path);
}

}  // namespace

TEST_CASE("a what-if GPU takes the rest from its base", "[config][gpu]") {
    const Folder folder;
    folder.write("big-cache.yaml", "base: a100-sxm4-80gb\ntitle: A100 with a big L2\nl2: {capacity: 80 MiB}\nsm: {count: 54}\n");
    const HwConfig base = load_gpu("a100-sxm4-80gb", {}), gpu = load_gpu("big-cache.yaml", {});
    CHECK(gpu.name == "big-cache");
    CHECK(gpu.title == "A100 with a big L2");
    CHECK(gpu.l2.capacity == Bytes(80 * 1024 * 1024));
    CHECK(gpu.l2.slices == base.l2.slices);
    CHECK(gpu.sm.count == 54);
    CHECK(gpu.peak_flops(DType::fp16) == Approx(base.peak_flops(DType::fp16) / 2));
    CHECK(gpu.hash != base.hash);
    CHECK(gpu.stated_peaks.empty());  // the base states them for 108 SMs
    CHECK(leaf(gpu, "l2.capacity").standing == Standing::estimate);
    CHECK_FALSE(leaf(gpu, "l2.capacity").standing_given);
    CHECK(leaf(gpu, "l2.slices").source == leaf(base, "l2.slices").source);
    CHECK(lint_gpu(gpu) == std::vector<std::string>{"sm.count", "l2.capacity"});
}

TEST_CASE("errors are reported in the file that has them", "[config][gpu]") {
    const Folder folder;
    folder.write("below.yaml", "base: a100-sxm4-80gb\nsm:\n  count: 010\nl2:\n  ways: 16\n  ways: 20\n");
    folder.write("above.yaml", "base: below\nl2:\n  capasity: 80 MiB\n  ways: 8\n");
    CHECK(error_of([] { load_gpu("above.yaml", {}); }) ==
          "above.yaml:3:3: error: unknown key 'capasity' in l2 (did you mean 'capacity'?)\n"
          "  capasity: 80 MiB\n"
          "  ^\n"
          "below.yaml:3:10: error: sm.count: expected a plain decimal integer, found '010'\n"
          "  count: 010\n"
          "         ^\n"
          "below.yaml:6:3: error: duplicate key 'ways' in l2, first given in line 5\n"
          "  ways: 20\n"
          "  ^");
}

TEST_CASE("a base that cannot be", "[config][gpu]") {
    const Folder folder;
    folder.write("a.yaml", "base: b\n");
    folder.write("b.yaml", "base: a\n");
    folder.write("self.yaml", "base: self\n");
    folder.write("nobody.yaml", "base: a100-sxm4-80g\n");
    folder.write("list.yaml", "base: [a]\n");
    const auto load_error = [](const std::string& file) { return error_of([&] { load_gpu(file, {}); }); };
    CHECK(load_error("a.yaml") == "b.yaml:1:7: error: base: 'a' leads back to this file\nbase: a\n      ^");
    CHECK(load_error("self.yaml") == "self.yaml:1:7: error: base: 'self' leads back to this file\nbase: self\n      ^");
    CHECK(load_error("nobody.yaml")
              .rfind("nobody.yaml:1:7: error: base: no GPU named 'a100-sxm4-80g' (did you mean "
                     "'a100-sxm4-80gb'?); known: a10, a100-pcie-40gb, ",
                     0) == 0);
    CHECK(load_error("list.yaml") ==
          "list.yaml:1:7: error: base: expected the name of a GPU or a path ending in .yaml\nbase: [a]\n      ^");
}

TEST_CASE("a --set changes a shipped GPU", "[config][gpu]") {
    const HwConfig gpu = load_gpu("a100-sxm4-80gb", {{"sm.count", "7"}, {"dram.channels", "5"}, {"l2.capacity", "80MiB"}});
    CHECK(gpu.sm.count == 7);
    CHECK(gpu.dram.channels == 5);
    CHECK(gpu.l2.capacity == Bytes(83886080));
    CHECK(leaf(gpu, "sm.count").value == "7");
    CHECK(leaf(gpu, "sm.count").source == "--set sm.count=7");
    CHECK(leaf(gpu, "sm.count").standing == Standing::estimate);
    CHECK(error_of([] {
              load_gpu("a100-sxm4-80gb", {{"l2.capasity", "80MiB"}, {"clock.boost", "1410 GHz"}, {"sm.count", "0"}});
          }) ==
          "--set clock.boost=1410 GHz: error: clock.boost: '1410 GHz' is out of range; allowed: 100 MHz to 10 GHz (did you mean "
          "'1410 MHz'?)\n"
          "--set l2.capasity=80MiB: error: unknown key 'capasity' in l2 (did you mean 'capacity'?)\n"
          "--set sm.count=0: error: sm.count: 0 is out of range; allowed: 1 to 100000");
}

TEST_CASE("odd numbers of everything are legal", "[config][gpu]") {
    for (const std::string n : {"1", "3", "5", "7", "96", "131"}) {
        INFO(n);
        CHECK(error_of([&] {
                  load_gpu("t4", {{"sm.count", n}, {"dram.channels", n}, {"l2.slices", n}, {"l2.ways", n}});
              }) == "no error");
    }
    CHECK(error_of([] { load_gpu("a100-sxm4-80gb", {{"l2.capacity", "0 B"}}); }) == "no error");
}

TEST_CASE("a stated peak within 2 % of the parts", "[config][gpu]") {
    const auto peaks_error = [](const std::string& peaks) {
        return what_if_error("base: a100-sxm4-80gb\npeaks: " + peaks + "\n");
    };
    CHECK(peaks_error("{fp16_tensor: 306 TFLOP/s}") == "no error");  // 311.87 - 1.9 %
    CHECK(peaks_error("{fp16_tensor: 318 TFLOP/s}") == "no error");
    CHECK(
        peaks_error("{fp16_tensor: 330 TFLOP/s}") ==
        "what-if.yaml:2:22: error: peaks.fp16_tensor: stated 330.0 TFLOP/s, but the parts give 311.9 (108 SMs x 2048 FLOP/clk x "
        "1.41 GHz): +5.8 %; more than 2 % is refused\npeaks: {fp16_tensor: 330 TFLOP/s}\n                     ^");
    CHECK(peaks_error("{fp32_vector: 10 TFLOP/s}") ==
          "what-if.yaml:2:22: error: peaks.fp32_vector: stated 10.0 TFLOP/s, but the parts give 19.5 (108 SMs x 128 FLOP/clk x "
          "1.41 GHz): -48.7 %; more than 2 % is refused\npeaks: {fp32_vector: 10 TFLOP/s}\n                     ^");
    CHECK(peaks_error("{dram_bandwidth: 1555 GB/s}") ==
          "what-if.yaml:2:25: error: peaks.dram_bandwidth: stated 1555.0 GB/s, but the parts give 2039.0 (80 channels x 64 bit x "
          "3.186 Gbit/s): -23.7 %; more than 2 % is refused\npeaks: {dram_bandwidth: 1555 GB/s}\n                        ^");
    CHECK(peaks_error("{dram_bandwidth: 16.3 Tbit/s}") == "no error");  // 2037.5 GB/s
    CHECK(peaks_error("{fp8_tensor: 1 TFLOP/s}") ==
          "what-if.yaml:2:9: error: unknown peak 'fp8_tensor' in peaks; this GPU has: dram_bandwidth, fp64_tensor, tf32_tensor, "
          "fp16_tensor, bf16_tensor, int8_tensor, int4_tensor, fp64_vector, fp32_vector, fp16_vector\n"
          "peaks: {fp8_tensor: 1 TFLOP/s}\n        ^");
}

TEST_CASE("values that contradict one another", "[config][gpu]") {
    const auto relation_error = [](const std::string& text) { return what_if_error("base: a100-sxm4-80gb\n" + text + "\n"); };
    CHECK(relation_error("sm: {shared_memory: 200 KiB}") ==
          "what-if.yaml:2:21: error: sm.shared_memory (204800 B) against sm.l1_and_shared (196608 B): is a part of it and cannot "
          "be "
          "larger\nsm: {shared_memory: 200 KiB}\n                    ^");
    CHECK(relation_error("sm: {shared_memory_per_cta: {value: 164 KiB}}") ==
          "what-if.yaml:2:37: error: sm.shared_memory_per_cta (167936 B) against sm.shared_memory (167936 B): together with "
          "sm.shared_memory_reserved_per_cta must fit\nsm: {shared_memory_per_cta: {value: 164 KiB}}\n"
          "                                    ^");
    CHECK(relation_error("sm: {max_threads: 1000}") ==
          "what-if.yaml:2:19: error: sm.max_threads (1000) must be a multiple of the 32 threads of a warp\n"
          "sm: {max_threads: 1000}\n                  ^");
    CHECK(relation_error("clock: {tensor_peak: 1.5 GHz}") ==
          "what-if.yaml:2:22: error: clock.tensor_peak (1500000000 Hz) against clock.boost (1410000000 Hz): cannot be higher\n"
          "clock: {tensor_peak: 1.5 GHz}\n                     ^");
    CHECK(relation_error("l2: {capacity: 1 KiB}") ==
          "what-if.yaml:2:16: error: l2.capacity (1024 B) is less than one set in each slice: 80 slices x 16 ways x 128 B = "
          "163840 B "
          "(0 B is no L2)\nl2: {capacity: 1 KiB}\n               ^");
    CHECK(relation_error("l2: {latency_near: 400 clk}") ==
          "what-if.yaml:2:20: error: l2.latency_near (400 clk) against l2.latency_far (357 clk): cannot be longer\n"
          "l2: {latency_near: 400 clk}\n                   ^");
    CHECK(relation_error("dram: {tRCD: 50 ns}") ==
          "what-if.yaml:2:14: error: dram.tRCD (50000000 fs) against dram.tRAS (33300000 fs): cannot be longer: a row is open "
          "until "
          "its first access is done\ndram: {tRCD: 50 ns}\n             ^");
    CHECK(
        relation_error("dram: {tRFC: 4 us}") ==
        "what-if.yaml:2:14: error: dram.tRFC (4000000000 fs) against dram.tREFI (3900000000 fs): must be shorter, else the DRAM "
        "only refreshes\ndram: {tRFC: 4 us}\n             ^");
    CHECK(relation_error("tensor: {generation: none}") ==
          "what-if.yaml:2:22: error: tensor.generation (none) has no tensor cores, but tensor.flop_per_clk gives rates for them\n"
          "tensor: {generation: none}\n                     ^");
}

TEST_CASE("rates are keyed by the names of dtypes", "[config][gpu]") {
    CHECK(what_if_error("base: a100-sxm4-80gb\ntensor:\n  flop_per_clk: {e4m3: 4096, fp17: 1, int8: 4e3}\n") ==
          "what-if.yaml:3:18: error: unknown dtype 'e4m3' in tensor.flop_per_clk (did you mean 'fp8'?)\n"
          "  flop_per_clk: {e4m3: 4096, fp17: 1, int8: 4e3}\n                 ^\n"
          "what-if.yaml:3:30: error: unknown dtype 'fp17' in tensor.flop_per_clk (did you mean 'fp16'?)\n"
          "  flop_per_clk: {e4m3: 4096, fp17: 1, int8: 4e3}\n                             ^\n"
          "what-if.yaml:3:45: error: tensor.flop_per_clk.int8: expected a plain decimal integer, found '4e3'\n"
          "  flop_per_clk: {e4m3: 4096, fp17: 1, int8: 4e3}\n                                            ^");
}

TEST_CASE("a file without anything names every section", "[config][gpu]") {
    const std::string caret = "\nschema: rafter.gpu/1\n^\n";
    CHECK(what_if_error("schema: rafter.gpu/1\ntitle: x\ncompute_capability: '8.0'\n") + "\n" ==
          "what-if.yaml:1:1: error: missing key 'clock' at the top level" + caret +
              "what-if.yaml:1:1: error: missing key 'crossbar' at the top level" + caret +
              "what-if.yaml:1:1: error: missing key 'launch' at the top level" + caret +
              "what-if.yaml:1:1: error: missing key 'sm' at the top level" + caret +
              "what-if.yaml:1:1: error: missing key 'tensor' at the top level" + caret +
              "what-if.yaml:1:1: error: missing key 'power' at the top level" + caret +
              "what-if.yaml:1:1: error: missing key 'l2' at the top level" + caret +
              "what-if.yaml:1:1: error: missing key 'dram' at the top level" + caret);
}

TEST_CASE("the board is limited to its TDP unless the file says otherwise", "[config][gpu][power]") {
    const HwConfig gpu = load_gpu("a100-sxm4-80gb", {});
    REQUIRE(gpu.power.has_value());
    CHECK(gpu.power->limit_w == 400);
    CHECK(leaf(gpu, "power.limit").source == "not given; the TDP");
    CHECK(gpu.power->tensor_flop_j.at(DType::bf16) == Approx(0.65e-12));
    CHECK(load_gpu("a100-pcie-80gb", {}).power->limit_w == 300);
    const HwConfig other = load_gpu("a100-sxm4-80gb", {{"power.limit", "300 W"}, {"clock.locked", "1005MHz"}});
    CHECK(other.power->limit_w == 300);
    CHECK(other.locked == Hertz(1'005'000'000));
    const HwConfig fp8 = load_gpu("a100-sxm4-80gb", {{"tensor.flop_per_clk.fp8", "4096"}});
    CHECK(fp8.power->tensor_flop_j.at(DType::fp8) == Approx(0.325e-12));
    CHECK(leaf(fp8, "power.energy.tensor_flop.fp8").standing == Standing::estimate);
}

TEST_CASE("every shipped GPU has energies for what it computes", "[config][gpu][power]") {
    for (const auto& name : list_data_files("hw_configs")) {
        INFO(name);
        const HwConfig gpu = load_gpu(name, {});
        REQUIRE(gpu.power.has_value());
        CHECK(gpu.power->static_w + gpu.power->clock_w < gpu.power->limit_w);
        CHECK(gpu.power->limit_w <= gpu.tdp_w);
        for (const auto& [dtype, rate] : gpu.tensor.flop_per_clk) CHECK(gpu.power->tensor_flop_j.at(dtype) > 0);
    }
}

TEST_CASE("mistakes in power and locked clocks are named", "[config][gpu][power]") {
    CHECK(what_if_error("base: a100-sxm4-80gb\nclock: {locked: 1500 MHz}\n")
              .find("clock.locked (1500000000 Hz) against clock.boost (1410000000 Hz): cannot be higher") != std::string::npos);
    CHECK(what_if_error("base: a100-sxm4-80gb\npower: {static: 500 W}\n").find("nothing is left to work with") !=
          std::string::npos);
    CHECK(what_if_error("base: a100-sxm4-80gb\npower: {energy: {l2_byte: 37 pW}}\n").find("unknown unit 'pW'") !=
          std::string::npos);
    CHECK(what_if_error("base: a100-sxm4-80gb\npower: {windo: 1 ms}\n").find("did you mean 'window'?") != std::string::npos);
    CHECK(what_if_error("base: a100-sxm4-80gb\npower: {voltage_min: 1.5}\n").find("out of range; allowed: 0.1 to 1") !=
          std::string::npos);
}
