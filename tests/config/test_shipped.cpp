#include <array>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "sim/config/loader.h"
#include "sim/config/peaks.h"
#include "tests/catch.h"
#include "tests/config/support.h"

using namespace rafter;
using namespace rafter::config;
using rafter::tests::error_of;
using rafter::tests::Folder;

TEST_CASE("every shipped GPU loads, and every value has a source and a standing", "[config][shipped]") {
    const auto names = list_data_files("hw_configs");
    REQUIRE(names.size() >= 25);
    for (const std::string& name : names) {
        INFO(name);
        const HwConfig gpu = load_gpu(name, {});
        CHECK(gpu.name == name);
        CHECK(lint_gpu(gpu).empty());
        CHECK(gpu.effective.size() > 60);
        CHECK_FALSE(gpu.stated_peaks.empty());
        CHECK(describe(gpu).find(gpu.hash) != std::string::npos);
        CHECK(list_data_files("hw_configs") == names);
    }
}

TEST_CASE("docs/hardware.md has a row for every shipped GPU, with its standings", "[config][shipped]") {
    std::ifstream file(std::string(std::getenv("RAFTER_SOURCE")) + "/docs/hardware.md");
    const std::string page{std::istreambuf_iterator<char>(file), {}};
    for (const std::string& name : list_data_files("hw_configs")) {
        std::array<int, 4> count{};
        for (const Leaf& leaf : load_gpu(name, {}).effective) ++count[static_cast<std::size_t>(leaf.standing)];
        const std::string counts = std::to_string(count[0]) + "/" + std::to_string(count[1]) + "/" + std::to_string(count[2]) +
                                   "/" + std::to_string(count[3]);
        const auto begin = page.find("\n| `" + name + "` |");
        INFO(name << " " << counts);
        REQUIRE(begin != std::string::npos);
        CHECK(page.substr(begin, page.find('\n', begin + 1) - begin).find("| " + counts + " |") != std::string::npos);
    }
}

TEST_CASE("sources name documents, not folders of ours", "[config][shipped]") {
    for (const std::string& name : list_data_files("hw_configs")) {
        for (const Leaf& leaf : load_gpu(name, {}).effective) {
            INFO(name << " " << leaf.path << ": " << leaf.source);
            CHECK(leaf.source.size() >= 8);
            CHECK(leaf.source.find("facts") == std::string::npos);
        }
    }
}

TEST_CASE("enough lines in flight for a stream to saturate the DRAM", "[config][shipped]") {
    for (const std::string& name : list_data_files("hw_configs")) {
        INFO(name);
        const HwConfig gpu = load_gpu(name, {});
        const double latency = seconds(gpu.dram.latency) + seconds(clocks(gpu.l2.latency_near_clk, gpu.boost));
        const double lines = gpu.dram.peak_bytes_per_s() * latency / 128 / static_cast<double>(gpu.sm.count);
        CHECK(static_cast<double>(gpu.sm.lines_in_flight) > 1.5 * lines);
        CHECK(static_cast<double>(gpu.sm.async_lines_in_flight) > 1.5 * lines);
    }
}

TEST_CASE("peaks by dtype", "[config][shipped]") {
    const HwConfig a100 = load_gpu("a100-sxm4-80gb", {}), v100 = load_gpu("v100-sxm2-16gb", {}),
                   h100 = load_gpu("h100-sxm5-80gb", {});
    CHECK(a100.peak_flops(DType::fp16) == Approx(108 * 2048 * 1.41e9));
    CHECK(a100.peak_flops(DType::fp64) == Approx(108 * 128 * 1.41e9));     // tensor cores
    CHECK(a100.peak_flops(DType::fp32) == Approx(108 * 2 * 64 * 1.41e9));  // lanes, not tf32
    CHECK(a100.peak_flops(DType::fp8) == 0);
    CHECK(v100.peak_flops(DType::fp64) == Approx(80 * 2 * 32 * 1.53e9));  // lanes
    CHECK(v100.peak_flops(DType::bf16) == 0);
    CHECK(v100.peak_flops(DType::tf32) == 0);
    CHECK(h100.peak_flops(DType::fp8) == Approx(132 * 8192 * 1.83e9));      // tensor clock
    CHECK(h100.peak_flops(DType::fp32) == Approx(132 * 2 * 128 * 1.98e9));  // boost clock
    CHECK(a100.dram.peak_bytes_per_s() == Approx(2.039e12).epsilon(1e-3));
    CHECK(h100.has_tensor(DType::fp8));
    CHECK_FALSE(a100.has_tensor(DType::fp8));
}

TEST_CASE("peaks of parts that differ in kind", "[config][shipped]") {
    const auto peak = [](const char* gpu, DType t) { return load_gpu(gpu, {}).peak_flops(t); };
    // Pascal has no tensor cores: fp16 at twice fp32 on the P100, by way of fp32 on the P4.
    CHECK(load_gpu("p100-pcie-16gb", {}).tensor.generation == TensorGeneration::none);
    CHECK(peak("p100-pcie-16gb", DType::fp16) == Approx(56 * 256 * 1.303e9));
    CHECK(peak("p100-pcie-16gb", DType::fp32) == Approx(56 * 128 * 1.303e9));
    CHECK(peak("p100-pcie-16gb", DType::bf16) == 0);
    CHECK(peak("p4", DType::fp16) == Approx(20 * 256 * 1.114e9));
    // GeForce: half the rate with fp32 accumulation; the L40 too, by its datasheet.
    CHECK(peak("rtx-3090", DType::fp16) == Approx(82 * 512 * 1.695e9));
    CHECK(peak("a40", DType::fp16) == Approx(84 * 1024 * 1.74e9));
    CHECK(peak("rtx-4090", DType::fp8) == Approx(128 * 1024 * 2.52e9));
    CHECK(peak("l40s", DType::fp8) == Approx(142 * 2048 * 2.52e9));
    CHECK(peak("l40", DType::bf16) == Approx(142 * 512 * 2.49e9));
    CHECK(peak("rtx-3090", DType::fp8) == 0);
    // Blackwell: tcgen05 on the B200 only.
    CHECK(load_gpu("b200-sxm", {}).tensor.generation == TensorGeneration::blackwell);
    CHECK(load_gpu("rtx-pro-6000", {}).tensor.generation == TensorGeneration::ampere);
    CHECK(peak("b200-sxm", DType::bf16) == Approx(148 * 8192 * 1.856e9));
    CHECK(peak("b200-sxm", DType::fp4) == Approx(148 * 32768 * 1.856e9));
    CHECK(peak("gb200", DType::fp8) == Approx(148 * 16384 * 2.062e9));
}

TEST_CASE("the effective config is canonical and its hash stable", "[config][shipped]") {
    const HwConfig gpu = load_gpu("a100-sxm4-80gb", {});
    const auto value = [&](const std::string& path) {
        for (const Leaf& leaf : gpu.effective) {
            if (leaf.path == path) return leaf.value;
        }
        return std::string("none");
    };
    CHECK(value("clock.boost") == "1410000000 Hz");
    CHECK(value("sm.count") == "108");
    CHECK(value("l2.capacity") == "41943040 B");
    CHECK(value("l2.latency_near") == "211 clk");
    CHECK(value("dram.data_rate") == "3186000000 bit/s");
    CHECK(value("dram.tRCD") == "14200000 fs");
    CHECK(value("tensor.generation") == "ampere");
    CHECK(value("tensor.flop_per_clk.fp16") == "2048");
    CHECK(value("power.tdp") == "400 W");
    CHECK(gpu.hash.size() == 16);
}

TEST_CASE("the hash is FNV-1a of the lines path=value", "[config][shipped]") {
    HwConfig gpu;
    CHECK(content_hash(gpu) == "cbf29ce484222325");
    gpu.effective = {{"l2.capacity", "41943040 B", Standing::measured, "x"}, {"sm.count", "108", Standing::estimate, ""}};
    CHECK(content_hash(gpu) == "54ddafe94382af84");
}

TEST_CASE("the hash is of the values alone", "[config][shipped]") {
    const Folder folder;
    folder.write(
        "same.yaml",
        "# a comment\nbase: a100-sxm4-80gb\ntitle: another name\nl2: {capacity: {value: 40960 KiB, source: mine, standing: "
        "measured}}\nlaunch: {stream_gap: 2600 ns}\n");
    folder.write("order.yaml",
                 "l2: {bytes_per_clk: 3850, ways: 16}\nbase: a100-sxm4-80gb\ntensor: {flop_per_clk: {int4: 8192, fp16: 2048}}\n");
    folder.write("other.yaml", "base: a100-sxm4-80gb\nl2: {capacity: 41 MiB}\n");
    const std::string hash = load_gpu("a100-sxm4-80gb", {}).hash;
    CHECK(load_gpu("same.yaml", {}).hash == hash);
    CHECK(load_gpu("order.yaml", {}).hash == hash);
    CHECK(load_gpu("other.yaml", {}).hash != hash);
    CHECK(load_gpu("a100-sxm4-80gb", {{"l2.capacity", "40MiB"}}).hash == hash);
    CHECK(load_gpu("a100-sxm4-80gb", {{"sm.count", "107"}}).hash != hash);
}

TEST_CASE("a file cut off anywhere is an error of the user, never a crash", "[config][shipped]") {
    const Folder folder;
    std::ifstream file(find_data_file("hw_configs", "a100-sxm4-80gb"), std::ios::binary);
    const std::string whole{std::istreambuf_iterator<char>(file), {}};
    for (std::size_t length = 0; length < whole.rfind("\npeaks:"); length += 61) {
        INFO(length);
        folder.write("cut.yaml", whole.substr(0, length));
        CHECK(error_of([] { load_gpu("cut.yaml", {}); }) != "no error");
    }
}

TEST_CASE("data files are found by name and by path", "[config][shipped]") {
    const Folder folder;
    folder.write("mine.yaml", "base: t4\n");
    CHECK(find_data_file("hw_configs", "mine.yaml") == "mine.yaml");
    CHECK(load_gpu("t4.yaml", {}).name == "t4");  // not here, so the shipped one
    CHECK(error_of([] { find_data_file("hw_configs", "none.yaml"); }) == "error: no file 'none.yaml'");
    CHECK(error_of([] {
              find_data_file("hw_configs", "t5");
          }).rfind("error: no GPU named 't5' (did you mean 't4'?); known: ", 0) == 0);
    CHECK(error_of([] {
              find_data_file("workloads", "nothing-like-it");
          }).rfind("error: no workload named 'nothing-like-it'", 0) == 0);
}

TEST_CASE("RAFTER_DATA comes first", "[config][shipped]") {
    const Folder folder;
    std::filesystem::create_directory("hw_configs");
    folder.write("hw_configs/mine.yaml", "base: t4\nsm: {count: 3}\n");
    const char* set = std::getenv("RAFTER_DATA");
    const std::string before = set == nullptr ? "" : set;
    setenv("RAFTER_DATA", std::filesystem::current_path().c_str(), 1);
    const auto names = list_data_files("hw_configs");
    const auto directories = data_directories();
    const std::int64_t sms = load_gpu("mine", {}).sm.count;
    before.empty() ? unsetenv("RAFTER_DATA") : setenv("RAFTER_DATA", before.c_str(), 1);
    CHECK(names == std::vector<std::string>{"mine"});
    CHECK(directories.front() == std::filesystem::current_path().string());
    CHECK(sms == 3);  // and its base from the shipped files
}
