#include "sim/calibrate/parameter.h"

#include <algorithm>
#include <cmath>
#include <sstream>

#include <fmt/format.h>
#include <yaml-cpp/yaml.h>

#include "sim/core/error.h"

namespace rafter::calibrate {

namespace {

/// "2600000000 fs" as number and unit; false for a word.
bool split(const std::string& text, double& number, std::string& unit) {
    std::istringstream in(text);
    if (!(in >> number)) return false;
    in >> unit;
    return true;
}

Parameter find(const config::HwConfig& gpu, const std::string& path) {
    const auto leaf = std::find_if(gpu.effective.begin(), gpu.effective.end(), [&](const auto& l) { return l.path == path; });
    if (leaf == gpu.effective.end()) {
        std::vector<std::string> known;
        for (const auto& l : gpu.effective) known.push_back(l.path);
        const std::string near = nearest_name(path, known);
        throw Error(fmt::format("error: --free {}: {} has no such value{}", path, gpu.name,
                                near.empty() ? "" : fmt::format(" (did you mean '{}'?)", near)));
    }
    Parameter parameter;
    parameter.path = path;
    if (!split(leaf->value, parameter.start, parameter.unit) || parameter.start <= 0)
        throw Error(fmt::format("error: --free {}: '{}' is no positive number", path, leaf->value));
    if (parameter.start != std::floor(parameter.start))
        throw Error(fmt::format("error: --free {}: {} is no whole number; only those can be fitted", path, leaf->value));
    parameter.lower = parameter.start / 2, parameter.upper = parameter.start * 2;
    return parameter;
}

/// "path=low..high" in base units.
void apply_bound(std::vector<Parameter>& parameters, const std::string& text) {
    const auto equals = text.find('='), dots = text.find("..");
    const auto wrong = [&](const std::string& why) { throw Error(fmt::format("error: --bounds {}: {}", text, why)); };
    if (equals == std::string::npos || dots == std::string::npos || dots < equals) wrong("expected PATH=LOW..HIGH");
    const std::string path = text.substr(0, equals);
    const auto at = std::find_if(parameters.begin(), parameters.end(), [&](const auto& p) { return p.path == path; });
    if (at == parameters.end()) wrong("this value is not free");
    double low = 0, high = 0;
    std::string low_unit, high_unit;
    if (!split(text.substr(equals + 1, dots - equals - 1), low, low_unit) || !split(text.substr(dots + 2), high, high_unit))
        wrong("expected two numbers");
    for (const std::string& unit : {low_unit, high_unit})
        if (!unit.empty() && unit != at->unit) wrong(fmt::format("expected '{}'", at->unit.empty() ? "a count" : at->unit));
    if (!(low > 0 && low <= at->start && at->start <= high && low < high))
        wrong(fmt::format("must hold the present value, {}", at->text(at->start)));
    at->lower = low, at->upper = high;
}

/// Opens the maps of `path` that `open` has not, and closes those it has beyond.
std::string open_maps(YAML::Emitter& out, const std::string& path, std::vector<std::string>& open) {
    std::vector<std::string> parts;
    std::istringstream in(path);
    for (std::string part; std::getline(in, part, '.');) parts.push_back(part);
    std::string leaf = parts.back();
    parts.pop_back();
    std::size_t same = 0;
    while (same < parts.size() && same < open.size() && parts[same] == open[same]) ++same;
    for (; open.size() > same; open.pop_back()) out << YAML::EndMap;
    for (std::size_t i = same; i < parts.size(); ++i) {
        out << YAML::Key << parts[i] << YAML::Value << YAML::BeginMap;
        open.push_back(parts[i]);
    }
    return leaf;
}

}  // namespace

std::string Parameter::text(double value) const {
    const auto whole = static_cast<std::int64_t>(std::llround(value));
    return unit.empty() ? fmt::format("{}", whole) : fmt::format("{} {}", whole, unit);
}

std::vector<Parameter> find_parameters(const config::HwConfig& gpu, const std::vector<std::string>& paths,
                                       const std::vector<std::string>& bounds) {
    std::vector<Parameter> parameters;
    for (const std::string& path : paths) {
        for (const Parameter& other : parameters)
            if (other.path == path) throw Error(fmt::format("error: --free {}: given twice", path));
        parameters.push_back(find(gpu, path));
    }
    if (parameters.empty()) throw Error("error: --free names no value to calibrate");
    for (const std::string& bound : bounds) apply_bound(parameters, bound);
    return parameters;
}

std::string to_yaml(const std::string& base, const std::string& title, const std::string& compute_capability,
                    const std::vector<Parameter>& parameters, const std::vector<double>& values, const std::string& command) {
    std::vector<std::size_t> order(parameters.size());
    for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
    std::sort(order.begin(), order.end(), [&](auto a, auto b) { return parameters[a].path < parameters[b].path; });
    YAML::Emitter out;
    out << YAML::BeginMap;
    out << YAML::Key << "schema" << YAML::Value << "rafter.gpu/1";
    out << YAML::Key << "base" << YAML::Value << base;
    out << YAML::Key << "title" << YAML::Value << title + ", calibrated";
    out << YAML::Key << "compute_capability" << YAML::Value << YAML::SingleQuoted << compute_capability;
    std::vector<std::string> open;
    for (const std::size_t i : order) {
        const std::string leaf = open_maps(out, parameters[i].path, open);
        out << YAML::Key << leaf << YAML::Value << YAML::Flow << YAML::BeginMap;
        out << YAML::Key << "value" << YAML::Value << parameters[i].text(values[i]);
        out << YAML::Key << "source" << YAML::Value << YAML::DoubleQuoted << command;
        out << YAML::Key << "standing" << YAML::Value << "measured" << YAML::EndMap;
    }
    for (; !open.empty(); open.pop_back()) out << YAML::EndMap;
    out << YAML::EndMap;
    return std::string(out.c_str()) + "\n";
}

}  // namespace rafter::calibrate
