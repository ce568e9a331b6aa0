#include <algorithm>
#include <array>
#include <cmath>
#include <fstream>
#include <map>
#include <sstream>

#include <fmt/format.h>

#include "sim/core/error.h"
#include "sim/curves/curves.h"
#include "sim/validate/measured.h"

namespace rafter::curves {

namespace {

struct Kind {
    const char *name, *title, *x_label, *y_label, *axis;  ///< axis: key of a measured shape that holds x
    std::map<std::string, std::string> shape;             ///< what else that shape must say
    const char* unit;                                     ///< of the measured value
    std::vector<double> own;                              ///< x where nothing was measured
};

const std::vector<Kind>& kinds() {
    static const std::vector<Kind> all{{"chase",
                                        "pointer chase by one thread",
                                        "working set, kB",
                                        "latency, clk",
                                        "working_set_kB",
                                        {{"pattern", "random_cycle"}},
                                        "cycles",
                                        {16, 64, 512, 2048, 8192, 24576, 49152, 131072, 262144}},
                                       {"size",
                                        "reading a working set again and again, all SMs",
                                        "working set, kB",
                                        "bandwidth, GB/s",
                                        "total_set_kB",
                                        {{"bench", "l2_read_bw"}},
                                        "GB/s",
                                        {2048, 4096, 8192, 16384, 24576, 32768, 49152, 98304, 196608}},
                                       {"ctas",
                                        "reading by CTAs of 1024 threads, 16 bytes each",
                                        "CTAs",
                                        "bandwidth, GB/s",
                                        "blocks",
                                        {{"kernel", "read"}, {"mem", "hbm"}, {"sweep", "blocks"}},
                                        "GB/s",
                                        {1, 8, 32, 64, 96, 128, 192, 256}},
                                       {"gather",
                                        "random rows, share of the peak",
                                        "row, bytes",
                                        "share of the DRAM peak, %",
                                        "row_bytes",
                                        {{"bench", "random_rows"}},
                                        "%",
                                        {32, 64, 128, 256, 512, 1024, 2048, 4096}}};
    return all;
}

const Kind& kind_of(const std::string& name) {
    for (const Kind& kind : kinds()) {
        if (name == kind.name) return kind;
    }
    const std::string near = nearest_name(name, curve_names());
    throw Error(fmt::format("error: unknown curve '{}'; there are {}{}", name, fmt::join(curve_names(), ", "),
                            near.empty() ? "" : fmt::format(" (did you mean '{}'?)", near)));
}

std::string read(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    if (!file) throw Error(fmt::format("error: cannot read {}", path));
    std::ostringstream text;
    text << file.rdbuf();
    return text.str();
}

/// Column of each name in the heading. Errors: Error when one is missing.
std::map<std::string, std::size_t> columns(const validate::CsvRecord& heading, const std::string& path) {
    std::map<std::string, std::size_t> at;
    for (std::size_t i = 0; i < heading.fields.size(); ++i) at[heading.fields[i]] = i;
    for (const char* needed : {"gpu", "shape", "other_metric", "other_unit"}) {
        if (!at.contains(needed))
            throw Error(
                fmt::format("{}:1: error: no column '{}'; a file of micro-benchmarks has gpu, shape, other_metric, other_unit",
                            path, needed));
    }
    return at;
}

bool belongs(const Kind& kind, const std::map<std::string, std::string>& shape) {
    if (!shape.contains(kind.axis)) return false;
    return std::all_of(kind.shape.begin(), kind.shape.end(), [&](const auto& said) {
        const auto found = shape.find(said.first);
        return found != shape.end() && found->second == said.second;
    });
}

/// Every measured point of the GPU; the median where one x was measured several times.
std::map<double, double> measured(const Kind& kind, const std::string& gpu, const std::string& path) {
    const auto records = validate::parse_csv(read(path));
    if (records.empty()) throw Error(fmt::format("{}: error: the file is empty", path));
    const auto at = columns(records.front(), path);
    std::map<double, std::vector<double>> values;
    for (const auto& record : records) {
        if (record.fields.size() < at.size() || record.fields[at.at("gpu")] != gpu ||
            record.fields[at.at("other_unit")] != kind.unit)
            continue;
        std::string problem;
        const auto shape = validate::parse_shape(record.fields[at.at("shape")], problem);
        if (!problem.empty() || !belongs(kind, shape)) continue;
        const auto x = validate::parse_positive(shape.at(kind.axis)),
                   y = validate::parse_positive(record.fields[at.at("other_metric")]);
        if (x && y) values[*x].push_back(*y);
    }
    std::map<double, double> points;
    for (auto& [x, all] : values) {
        std::sort(all.begin(), all.end());
        points[x] = all[all.size() / 2];
    }
    return points;
}

/// At most `most` points, evenly spread over the logarithm of the axis.
std::vector<Point> thin(const std::map<double, double>& all, std::size_t most) {
    std::vector<Point> points;
    if (all.empty()) return points;
    const double first = std::log(all.begin()->first), last = std::log(all.rbegin()->first);
    double next = first;
    for (const auto& [x, y] : all) {
        if (std::log(x) + 1e-9 < next) continue;
        points.push_back({x, y, 0});
        while (next <= std::log(x) + 1e-9) next += std::max(1e-6, (last - first) / static_cast<double>(most));
    }
    return points;
}

}  // namespace

const std::vector<std::string>& curve_names() {
    static const std::vector<std::string> names = [] {
        std::vector<std::string> all;
        for (const Kind& kind : kinds()) all.emplace_back(kind.name);
        return all;
    }();
    return names;
}

Curve plan(const std::string& name, const config::HwConfig& gpu, const std::string& file, std::size_t most) {
    const Kind& kind = kind_of(name);
    Curve curve{kind.name, kind.title, kind.x_label, kind.y_label, {}};
    if (!file.empty()) curve.points = thin(measured(kind, gpu.name, file), most);
    if (curve.points.empty()) {
        for (const double x : kind.own) curve.points.push_back({x, std::nullopt, 0});
    }
    return curve;
}

std::optional<double> Curve::median_error() const {
    std::vector<double> errors;
    for (const Point& point : points) {
        if (point.measured) errors.push_back(std::abs(point.simulated / *point.measured - 1));
    }
    if (errors.empty()) return std::nullopt;
    std::sort(errors.begin(), errors.end());
    const std::size_t n = errors.size();
    return n % 2 == 1 ? errors[n / 2] : (errors[n / 2 - 1] + errors[n / 2]) / 2;
}

}  // namespace rafter::curves
