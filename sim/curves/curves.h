// Curves of the memory system: micro-benchmarks simulated point by point, beside what was measured. docs/model/curves.md.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sim/config/hw_config.h"

namespace rafter::curves {

struct Point {
    double x{0};
    std::optional<double> measured;
    double simulated{0};
};

struct Curve {
    std::string name;     ///< chase | size | ctas | gather
    std::string title;    ///< "pointer chase"
    std::string x_label;  ///< "working set, kB"
    std::string y_label;  ///< "latency, clk"
    std::vector<Point> points;

    /// Median of |simulated / measured - 1| over the points that were measured; nothing when none was.
    std::optional<double> median_error() const;
};

const std::vector<std::string>& curve_names();

/// The points of a curve, not yet simulated: at most `most` of those that `file` (CSV of micro-benchmarks, may be empty) holds
/// for this GPU, spread over the axis, else an axis of the GPU's own. Errors: Error when the file cannot be read.
Curve plan(const std::string& name, const config::HwConfig& gpu, const std::string& file, std::size_t most);

/// Simulates the points. Once per process, inside sc_main.
void simulate(std::vector<Curve>& curves, const config::HwConfig& gpu);

std::string text(const std::vector<Curve>& curves, const std::string& gpu);
std::string json(const std::vector<Curve>& curves, const std::string& gpu);
/// A plot with logarithmic axes: the simulated line, the measured points.
std::string svg(const Curve& curve, const std::string& gpu);

}  // namespace rafter::curves
