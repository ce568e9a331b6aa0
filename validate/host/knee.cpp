#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "validate/host/csv.h"
#include "validate/host/probe_results.h"
#include "validate/host/statistics.h"

namespace rafter::validate {

std::optional<double> find_knee(const Curve& curve, bool rising, double tolerance) {
    Curve sorted = curve;
    std::sort(sorted.begin(), sorted.end(), [](const Point& a, const Point& b) { return a.bytes < b.bytes; });
    const auto worse = [&](double value, double best) {
        return rising ? value > best * (1 + tolerance) : value < best * (1 - tolerance);
    };
    // Small footprints of a bandwidth curve are bound by the launch: the plateau starts at the best point.
    const auto best = std::min_element(sorted.begin(), sorted.end(), [&](const Point& a, const Point& b) {
        return rising ? a.value < b.value : a.value > b.value;
    });
    if (best == sorted.end()) return std::nullopt;
    auto first = sorted.end();  // of the points that stay beyond the plateau
    while (first != best && worse(std::prev(first)->value, best->value)) --first;
    if (first == sorted.end() || first == best) return std::nullopt;
    return std::sqrt(std::prev(first)->bytes * first->bytes);
}

std::optional<double> plateau(const Curve& curve, double from, double to) {
    std::vector<double> values;
    for (const Point& p : curve) {
        if (p.bytes >= from && p.bytes <= to) values.push_back(p.value);
    }
    if (values.empty()) return std::nullopt;
    return summarise(values).median;
}

std::int64_t whole_rate(double rate, double tolerance, std::int64_t least) {
    if (!(rate > 0)) return least;
    const double power = std::exp2(std::round(std::log2(rate)));
    const double chosen = std::abs(rate / power - 1) <= tolerance ? power : std::round(rate);
    return std::max(least, static_cast<std::int64_t>(chosen));
}

std::optional<double> l2_bandwidth(const ProbeResults& r) {
    std::optional<double> best;
    for (const Point& p : r.read_bytes_s) {
        if (p.bytes <= 0.4 * static_cast<double>(r.device.l2_bytes)) best = std::max(best.value_or(0), p.value);
    }
    return best;
}

std::optional<double> memory_bandwidth(const ProbeResults& r) {
    return plateau(r.read_bytes_s, 4.0 * static_cast<double>(r.device.l2_bytes), 1e18);
}

std::string curves_csv(const ProbeResults& r) {
    const std::string gpu = gpu_file_name(r.device.name);
    std::string text = "source,gpu,op,dtype,shape,time_us,other_metric,other_unit,notes\n";
    const auto row = [&](const char* op, const std::string& shape, double value, const char* unit, const char* notes) {
        text += csv_line({"rafter-probe", gpu, op, "", shape, "", fmt::format("{:.6g}", value), unit, notes});
    };
    for (const Point& p : r.latency_clk) {
        row("latency", fmt::format("pattern=random_cycle;working_set_kB={:.0f};line=128B;warps=1", p.bytes / 1e3), p.value,
            "cycles", "");
    }
    const auto bandwidth = [&](const char* pattern, const Curve& curve) {
        for (const Point& p : curve) {
            row("stream", fmt::format("pattern={};bytes={:.0f}", pattern, p.bytes), p.value / 1e9, "GB/s", "warm");
        }
    };
    bandwidth("read", r.read_bytes_s);
    bandwidth("copy", r.copy_bytes_s);
    bandwidth("write", r.write_bytes_s);
    for (const auto& [bytes, rate] : r.gather_bytes_s) {
        row("random_access", fmt::format("row_bytes={}", bytes), rate / 1e9, "GB/s", "uniform rows from memory");
    }
    for (const auto& [dtype, rate] : r.tensor_flops_s) {
        row("tensor", fmt::format("dtype={}", name(dtype)), rate / 1e12, "TFLOP/s", "mma.sync from registers");
    }
    return text;
}

}  // namespace rafter::validate
