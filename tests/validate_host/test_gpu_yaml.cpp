// A GPU file made of invented probe results loads, and says of each value where it comes from.
#include <fstream>

#include "sim/config/loader.h"
#include "tests/catch.h"
#include "tests/config/support.h"
#include "validate/host/probe_results.h"

using namespace rafter;
using namespace rafter::validate;

namespace {

constexpr double kMiB = 1024.0 * 1024.0;

ProbeResults invented() {
    ProbeResults r;
    Device& d = r.device;
    d.name = "NVIDIA Invented \"X\" 40GB";
    d.major = 8, d.minor = 0, d.sms = 50, d.clock_hz = 1.5e9, d.memory_clock_hz = 1.2e9, d.bus_bits = 5120;
    d.l2_bytes = 20 << 20, d.memory_bytes = std::int64_t{40} << 30;
    d.max_threads_per_sm = 2048, d.max_ctas_per_sm = 32, d.registers_per_sm = 65536;
    d.shared_per_sm = 164 * 1024, d.shared_per_cta = 163 * 1024, d.shared_reserved = 1024;
    r.power_limit_w = 250.4;
    r.l1_latency_clk = 35.6, r.shared_latency_clk = 29.1, r.l2_near_clk = 210, r.l2_far_clk = 340, r.memory_latency_clk = 575;
    r.fma_latency_clk = 4.02, r.tensor_latency_clk = 33, r.barrier_latency_clk = 38;
    r.tensor_flop_per_clk = {{DType::fp16, 2001}, {DType::int8, 4050}, {DType::tf32, 700}};
    r.fma_per_clk = {{DType::fp32, 63.2}, {DType::fp64, 31.9}, {DType::fp16, 251}};
    r.sustained_clock_hz = 1.3456e9;
    r.stream_gap_s = 2.5e-6, r.graph_gap_s = 1.3e-6, r.grid_sync_s = 1.1e-6;
    for (double bytes = 0.25 * kMiB; bytes <= 512 * kMiB; bytes *= 2) {
        r.read_bytes_s.push_back({bytes, bytes < 20 * kMiB ? 3e12 : 1.1e12});
    }
    return r;
}

config::HwConfig loaded(const ProbeResults& results) {
    const tests::Folder folder;
    folder.write("found.yaml", gpu_yaml(results));
    return config::load_gpu("found.yaml", {});
}

const config::Leaf& leaf(const config::HwConfig& gpu, const std::string& path) {
    for (const auto& l : gpu.effective) {
        if (l.path == path) return l;
    }
    throw std::runtime_error("no leaf " + path);
}

}  // namespace

TEST_CASE("a GPU file of invented probe results loads", "[validate][probe]") {
    const config::HwConfig gpu = loaded(invented());
    CHECK(gpu.title == "NVIDIA Invented 'X' 40GB");
    CHECK(gpu.compute_capability == "8.0");
    CHECK(gpu.sm.count == 50);
    CHECK(gpu.tensor_peak == Hertz(1'345'000'000));
    CHECK(gpu.sm.fp32_fma_per_clk == 64);
    CHECK(gpu.tensor.flop_per_clk.at(DType::fp16) == 2048);
    CHECK(gpu.tensor.flop_per_clk.at(DType::tf32) == 700);   // no power of two near: as measured
    CHECK(gpu.tensor.flop_per_clk.at(DType::bf16) == 2048);  // not measured
    CHECK(gpu.l2.bytes_per_clk == 2000);
    CHECK(gpu.l2.latency_far_clk == 340);
    CHECK(gpu.dram.peak_bytes_per_s() == Approx(2 * 1.2e9 * 5120 / 8));
    CHECK(gpu.dram.latency == Femtoseconds(200'000'000));  // (575 - 275) clk at 1.5 GHz
    CHECK(gpu.tdp_w == 250);
    CHECK(config::lint_gpu(gpu).empty());
}

TEST_CASE("each value says what it rests on", "[validate][probe]") {
    const config::HwConfig gpu = loaded(invented());
    CHECK(leaf(gpu, "sm.l1_latency").standing == config::Standing::measured);
    CHECK(leaf(gpu, "sm.l1_latency").source.rfind("rafter-probe", 0) == 0);
    CHECK(leaf(gpu, "sm.count").source.rfind("cudaGetDeviceProperties", 0) == 0);
    CHECK(leaf(gpu, "tensor.flop_per_clk.bf16").standing == config::Standing::estimate);
    CHECK(leaf(gpu, "dram.tRCD").standing == config::Standing::estimate);
}

TEST_CASE("a probe that could measure nothing still writes a file that loads", "[validate][probe]") {
    for (const auto& [major, minor] : {std::pair{7, 5}, {8, 6}, {8, 9}, {9, 0}, {10, 0}, {12, 0}}) {
        ProbeResults r;
        r.device = invented().device;
        r.device.major = major, r.device.minor = minor;
        r.device.memory_clock_hz = 0;
        if (major == 7) r.device.shared_per_sm = r.device.shared_per_cta = 64 * 1024, r.device.shared_reserved = 0;
        INFO(major << "." << minor);
        const config::HwConfig gpu = loaded(r);
        CHECK(leaf(gpu, "sm.l1_latency").standing == config::Standing::estimate);
        CHECK(gpu.peak_flops(DType::fp16) > 0);
    }
}

TEST_CASE("mma.sync does not speak for wgmma", "[validate][probe]") {
    ProbeResults r = invented();
    r.device.major = 9;
    r.tensor_flop_per_clk = {{DType::fp16, 2580}};
    const config::HwConfig gpu = loaded(r);
    CHECK(gpu.tensor.flop_per_clk.at(DType::fp16) == 4096);
    CHECK(leaf(gpu, "tensor.flop_per_clk.fp16").standing == config::Standing::estimate);
}

TEST_CASE("the knee lies between the plateau and what stays beyond it", "[validate][probe]") {
    const Curve bandwidth{{1, 1}, {2, 4}, {4, 5}, {8, 4.9}, {16, 4.6}, {32, 2}, {64, 1.9}};  // small ones are launch-bound
    CHECK(find_knee(bandwidth, false).value() == Approx(std::sqrt(16.0 * 32.0)));
    const Curve dent{{1, 5}, {2, 3}, {4, 5}, {8, 1}};  // one bad point is no knee
    CHECK(find_knee(dent, false).value() == Approx(std::sqrt(32.0)));
    const Curve latency{{64, 500}, {1, 200}, {2, 201}, {4, 199}, {32, 490}};
    CHECK(find_knee(latency, true).value() == Approx(std::sqrt(4.0 * 32.0)));
    CHECK_FALSE(find_knee({{1, 5}, {2, 5}}, false).has_value());
    CHECK_FALSE(find_knee({}, false).has_value());
}

TEST_CASE("rates become powers of two only when near one", "[validate][probe]") {
    CHECK(whole_rate(63.1) == 64);
    CHECK(whole_rate(1.96) == 2);
    CHECK(whole_rate(2580) == 2580);
    CHECK(whole_rate(0, 0.15, 2) == 2);
}

TEST_CASE("curves become rows", "[validate][probe]") {
    ProbeResults r = invented();
    r.gather_bytes_s = {{64, 5e11}};
    const std::string text = curves_csv(r);
    CHECK(text.rfind("source,gpu,op,dtype,shape,time_us,other_metric,other_unit,notes\n", 0) == 0);
    CHECK(text.find("rafter-probe,invented--x--40gb,random_access,,row_bytes=64,,500,GB/s,uniform rows from memory\n") !=
          std::string::npos);
}
