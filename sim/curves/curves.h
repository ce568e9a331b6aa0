// Curves of the memory system: micro-benchmarks simulated point by point, beside what was measured. docs/model/curves.md.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "sim/config/hw_config.h"
#include "sim/kernels/probe/stream.h"

namespace rafter::curves {

/// A stream of a curve of streams; `parameters.grid` or `.steps` is set by the amount of data.
struct StreamProbe {
    kernels::Stream::Parameters parameters;
    std::int64_t ctas_per_sm{1};
    bool loop{false};  ///< more data are more steps of the same CTAs, not more CTAs
};

struct Point {
    double x{0};
    std::optional<double> measured;
    double simulated{0};
    std::optional<StreamProbe> stream{};  ///< what runs, where x alone does not say it
};

struct Curve {
    std::string name;     ///< of curve_names()
    std::string title;    ///< "pointer chase"
    std::string x_label;  ///< "working set, kB"
    std::string y_label;  ///< "latency, clk"
    std::vector<Point> points;

    /// Median of |simulated / measured - 1| over the points that were measured; nothing when none was.
    std::optional<double> median_error() const;
};

const std::vector<std::string>& curve_names();

/// Names that `given` stands for: itself, "all", or those that begin with it and "-". Errors: Error with the names there are.
std::vector<std::string> curves_of(const std::string& given);

/// The points of a curve, not yet simulated: at most `most` of those that `file` (CSV of micro-benchmarks, may be empty) holds
/// for this GPU, spread over the axis (half as many for curves of streams, of which there are many), else an axis of the GPU's
/// own. Errors: Error when the file cannot be read.
Curve plan(const std::string& name, const config::HwConfig& gpu, const std::string& file, std::size_t most);

/// Simulates the points. Once per process, inside sc_main.
void simulate(std::vector<Curve>& curves, const config::HwConfig& gpu);

struct Workers {
    std::size_t jobs{1};
    std::function<void(std::size_t done, std::size_t total)> progress;  ///< may be empty
};
/// The same, every point in a child process. Errors: Error naming a point that could not be simulated; engine::Interrupted.
void simulate(std::vector<Curve>& curves, const config::HwConfig& gpu, const Workers& workers);

std::string text(const std::vector<Curve>& curves, const std::string& gpu);
std::string json(const std::vector<Curve>& curves, const std::string& gpu);
/// A plot with logarithmic axes: the simulated line, the measured points.
std::string svg(const Curve& curve, const std::string& gpu);

}  // namespace rafter::curves
