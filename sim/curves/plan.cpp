#include <algorithm>
#include <array>
#include <cmath>
#include <fstream>
#include <functional>
#include <map>
#include <sstream>

#include <fmt/format.h>

#include "sim/core/error.h"
#include "sim/curves/curves.h"
#include "sim/curves/streams.h"
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

/// The point of a curve that a measured row is, by its shape and unit; nothing when it is none.
using Reader = std::function<std::optional<Point>(const std::map<std::string, std::string>& shape, const std::string& unit)>;

Reader reader_of(const Kind& kind) {
    return [&kind](const auto& shape, const std::string& unit) -> std::optional<Point> {
        if (unit != kind.unit || !belongs(kind, shape)) return std::nullopt;
        const auto x = validate::parse_positive(shape.at(kind.axis));
        return x ? std::optional(Point{*x, std::nullopt, 0}) : std::nullopt;
    };
}

Reader reader_of(const StreamKind& kind, const config::HwConfig& gpu) {
    return [&kind, &gpu](const auto& shape, const std::string& unit) -> std::optional<Point> {
        return unit.rfind("GB/s", 0) == 0 ? stream_point(kind, shape, gpu) : std::nullopt;
    };
}

/// Every measured point of the GPU; the median where one x was measured several times.
std::map<double, Point> measured(const Reader& reader, const std::string& gpu, const std::string& path) {
    const auto records = validate::parse_csv(read(path));
    if (records.empty()) throw Error(fmt::format("{}: error: the file is empty", path));
    const auto at = columns(records.front(), path);
    std::map<double, std::vector<double>> values;
    std::map<double, Point> points;
    for (const auto& record : records) {
        if (record.fields.size() < at.size() || record.fields[at.at("gpu")] != gpu) continue;
        std::string problem;
        const auto shape = validate::parse_shape(record.fields[at.at("shape")], problem);
        const auto y = validate::parse_positive(record.fields[at.at("other_metric")]);
        if (!problem.empty() || !y) continue;
        const auto point = reader(shape, record.fields[at.at("other_unit")]);
        if (!point) continue;
        values[point->x].push_back(*y);
        points.emplace(point->x, *point);
    }
    for (auto& [x, all] : values) {
        std::sort(all.begin(), all.end());
        points.at(x).measured = all[all.size() / 2];
    }
    return points;
}

/// At most `most` points, evenly spread over the logarithm of the axis.
std::vector<Point> thin(const std::map<double, Point>& all, std::size_t most) {
    std::vector<Point> points;
    if (all.empty()) return points;
    const double first = std::log(all.begin()->first), last = std::log(all.rbegin()->first);
    double next = first;
    for (const auto& [x, point] : all) {
        if (std::log(x) + 1e-9 < next) continue;
        points.push_back(point);
        while (next <= std::log(x) + 1e-9) next += std::max(1e-6, (last - first) / static_cast<double>(most));
    }
    return points;
}

const StreamKind* stream_kind(const std::string& name) {
    for (const StreamKind& kind : stream_kinds()) {
        if (name == kind.name) return &kind;
    }
    return nullptr;
}

}  // namespace

const std::vector<std::string>& curve_names() {
    static const std::vector<std::string> names = [] {
        std::vector<std::string> all;
        for (const Kind& kind : kinds()) all.emplace_back(kind.name);
        for (const StreamKind& kind : stream_kinds()) all.push_back(kind.name);
        return all;
    }();
    return names;
}

std::vector<std::string> curves_of(const std::string& given) {
    std::vector<std::string> names;
    for (const std::string& name : curve_names()) {
        if (given == "all" || given == name || name.rfind(given + "-", 0) == 0) names.push_back(name);
    }
    if (names.empty()) kind_of(given);  // says what there is
    return names;
}

Curve plan(const std::string& name, const config::HwConfig& gpu, const std::string& file, std::size_t most) {
    if (const StreamKind* kind = stream_kind(name)) {
        Curve curve{name, kind->title, kind->x_label, "bandwidth, GB/s", {}};
        if (!file.empty())
            curve.points = thin(measured(reader_of(*kind, gpu), gpu.name, file), std::max<std::size_t>(4, most / 2));
        if (curve.points.empty()) curve.points = own_points(*kind, gpu);
        return curve;
    }
    const Kind& kind = kind_of(name);
    Curve curve{kind.name, kind.title, kind.x_label, kind.y_label, {}};
    if (!file.empty()) curve.points = thin(measured(reader_of(kind), gpu.name, file), most);
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
