#include "sim/curves/selftest.h"

#include <algorithm>

namespace rafter::curves {

namespace {

double clocks_of(Femtoseconds t, Hertz clock) { return seconds(t) * static_cast<double>(clock.value); }

/// What the config itself says a value must be near, or between.
struct Expectation {
    const char *name, *unit, *curve;
    double x, low, high;
};

std::vector<Expectation> expectations(const config::HwConfig& gpu) {
    const double capacity = static_cast<double>(gpu.l2.capacity.value) / 1024,
                 near = static_cast<double>(gpu.l2.latency_near_clk), far = static_cast<double>(gpu.l2.latency_far_clk),
                 l1 = static_cast<double>(gpu.sm.l1_latency_clk);
    const double dram = clocks_of(gpu.dram.latency, gpu.boost), open = clocks_of(gpu.dram.t_rp + gpu.dram.t_rcd, gpu.boost);
    const double peak = gpu.dram.peak_bytes_per_s() * 1e-9;
    const double l2 = static_cast<double>(gpu.l2.bytes_per_clk) * static_cast<double>(gpu.boost.value) * 1e-9;
    const auto ctas = static_cast<double>(gpu.sm.count * std::max<std::int64_t>(1, gpu.sm.max_threads / 1024));
    std::vector<Expectation> all{
        {"L1 hit latency", "clk", "chase", 4, 0.95 * l1, 1.05 * l1 + 3},
        {"DRAM latency", "clk", "chase", std::max(4 * capacity, 65536.0), 0.95 * (near + dram), 1.05 * (far + dram + open) + 20}};
    if (capacity >= 1024) {
        all.push_back({"L2 hit latency", "clk", "chase", capacity / 4, 0.95 * near, 1.05 * far + 3});
        all.push_back({"L2 read bandwidth", "GB/s", "size", capacity / 4, 0.5 * l2, 1.01 * l2});
    }
    all.push_back({"DRAM stream", "GB/s", "ctas", ctas, 0.6 * peak, peak});
    all.push_back({"random rows of 32 B", "% of peak", "gather", 32, 1, 100});
    all.push_back({"random rows of 4096 B", "% of peak", "gather", 4096, 20, 100});
    return all;
}

}  // namespace

std::vector<Check> self_test(const config::HwConfig& gpu) {
    std::vector<Curve> curves;
    const auto all = expectations(gpu);
    for (const Expectation& e : all) {
        curves.push_back({e.curve, "", "", "", {}});
        curves.back().points.push_back({e.x, std::nullopt, 0});
    }
    simulate(curves, gpu);
    std::vector<Check> checks;
    for (std::size_t i = 0; i < all.size(); ++i)
        checks.push_back({all[i].name, all[i].unit, curves[i].points.front().simulated, all[i].low, all[i].high});
    return checks;
}

}  // namespace rafter::curves
