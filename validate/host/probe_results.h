// What the probe found on a GPU, and the hw_configs/ file it makes of it. Plain C++, tested with made-up results.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "validate/host/gpu_peaks.h"

namespace rafter::validate {

/// A curve: footprint in bytes against clocks, bytes/s or what the curve is of.
struct Point {
    double bytes{}, value{};
};
using Curve = std::vector<Point>;

/// Where a curve leaves its plateau: the middle (geometric) between the last point within `tolerance` of the best of the points
/// before it and the first of the points that stay beyond. `rising`: the curve grows worse upwards (latency). None when it never
/// leaves.
std::optional<double> find_knee(const Curve& curve, bool rising, double tolerance = 0.15);

/// Median of the values whose bytes lie in [from, to]; none when there are none.
std::optional<double> plateau(const Curve& curve, double from, double to);

/// The power of two nearest to `rate`, when it is within `tolerance` of it; else `rate` as a whole number, at least `least`.
std::int64_t whole_rate(double rate, double tolerance = 0.15, std::int64_t least = 1);

struct ProbeResults {
    Device device;
    std::optional<double> power_limit_w;

    Curve latency_clk;  ///< pointer chase
    Curve read_bytes_s, copy_bytes_s, write_bytes_s;
    std::map<int, double> gather_bytes_s;  ///< random rows of that many bytes, from memory

    std::optional<double> l1_latency_clk, shared_latency_clk, l2_near_clk, l2_far_clk, memory_latency_clk;
    std::optional<double> fma_latency_clk, tensor_latency_clk, barrier_latency_clk;
    std::map<DType, double> tensor_flop_per_clk;  ///< of an SM, by its own clock
    std::map<DType, double> fma_per_clk;
    std::map<DType, double> tensor_flops_s;    ///< of the GPU under load
    std::optional<double> sustained_clock_hz;  ///< under tensor load
    std::optional<double> stream_gap_s, graph_gap_s, grid_sync_s;
};

/// The bandwidth of the L2: the best of the read curve well inside it. Of memory: the median well outside.
std::optional<double> l2_bandwidth(const ProbeResults& r);
std::optional<double> memory_bandwidth(const ProbeResults& r);

/// A file that `rafter check` accepts: what was measured says so, the rest comes from device properties or is an estimate with
/// a reason.
std::string gpu_yaml(const ProbeResults& r);

/// Rows of shared/measured/micro.csv's kind: source,gpu,op,dtype,shape,time_us,other_metric,other_unit,notes.
std::string curves_csv(const ProbeResults& r);

}  // namespace rafter::validate
