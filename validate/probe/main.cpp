// rafter-probe: measures a GPU and writes a file for hw_configs/. docs/measuring.md.
#include <cstdio>
#include <exception>
#include <string>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "sim/report/report.h"
#include "validate/cuda/check.h"
#include "validate/cuda/device.h"
#include "validate/cuda/memory.h"
#include "validate/host/program.h"
#include "validate/probe/probe.h"

namespace rafter::validate {

namespace {

/// A part that fails leaves its values to be estimates, and the file says so.
bool try_part(const char* name, void (*part)(ProbeResults&, cudaStream_t), ProbeResults& results, cudaStream_t stream) {
    fmt::print("{} ...\n", name);
    std::fflush(stdout);
    try {
        part(results, stream);
        return true;
    } catch (const CudaError& e) {
        fmt::print(stderr, "rafter-probe: {}: {}\n", name, e.what());
        return false;
    }
}

void print(const char* name, const std::optional<double>& value, double unit, const char* unit_name) {
    if (value) fmt::print("  {:<24} {:.4g} {}\n", name, *value / unit, unit_name);
}

void summarise_results(const ProbeResults& r) {
    const auto knee = find_knee(r.read_bytes_s, false);
    print("L2 knee (bandwidth)", knee, 1024.0 * 1024.0, "MiB");
    print("L2 knee (latency)", find_knee(r.latency_clk, true), 1024.0 * 1024.0, "MiB");
    print("L2 read", l2_bandwidth(r), 1e9, "GB/s");
    print("memory read", memory_bandwidth(r), 1e9, "GB/s");
    print("L1 latency", r.l1_latency_clk, 1, "clk");
    print("L2 latency, near", r.l2_near_clk, 1, "clk");
    print("L2 latency, far", r.l2_far_clk, 1, "clk");
    print("memory latency", r.memory_latency_clk, 1, "clk");
    print("clock under load", r.sustained_clock_hz, 1e6, "MHz");
    print("launch in a stream", r.stream_gap_s, 1e-6, "us");
    print("launch in a graph", r.graph_gap_s, 1e-6, "us");
    print("grid barrier", r.grid_sync_s, 1e-6, "us");
}

int probe(const std::string& out, const std::string& curves, bool force) {
    const Sensors sensors;
    const Stream stream;
    ProbeResults results;
    results.device = describe_device();
    results.power_limit_w = sensors.power_limit_w();
    bool good = try_part("latency", probe_latency, results, stream.get());
    good = try_part("bandwidth", probe_bandwidth, results, stream.get()) && good;
    good = try_part("peaks", probe_peaks, results, stream.get()) && good;
    good = try_part("launch", probe_launch, results, stream.get()) && good;
    report::write_file(out, gpu_yaml(results), force);
    if (!curves.empty()) report::write_file(curves, curves_csv(results), force);
    summarise_results(results);
    return good ? 0 : kFailedExit;
}

int run(int argc, char** argv) {
    CLI::App app("Measures this machine's GPU and writes a GPU file for rafter", "rafter-probe");
    std::string out, curves;
    bool force = false;
    app.add_option("--out", out, "GPU file to write (YAML)")->required();
    app.add_option("--curves", curves, "CSV of the curves behind it");
    app.add_flag("--force", force, "replace files that exist");
    try {
        app.parse(argc, argv);
    } catch (const CLI::ParseError& e) {
        return app.exit(e) == 0 ? 0 : kUsageExit;
    }
    if (const auto reason = why_no_gpu()) {
        fmt::print(stderr, "rafter-probe: {}.\n", *reason);
        return kNoGpuExit;
    }
    for (const std::string& target : {out, curves})
        if (!target.empty()) report::check_writable(target, force);
    return probe(out, curves, force);
}

}  // namespace

}  // namespace rafter::validate

int main(int argc, char** argv) {
    return rafter::validate::guarded("rafter-probe", [&] { return rafter::validate::run(argc, argv); });
}
