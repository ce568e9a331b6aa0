#include <unistd.h>

#include <algorithm>

#include <fmt/format.h>

#include "sim/calibrate/calibrate.h"
#include "sim/cli/cli.h"
#include "sim/cli/output.h"
#include "sim/core/error.h"
#include "sim/engine/isolated.h"
#include "sim/validate/scoreboard.h"

namespace rafter::cli {

namespace {

/// The command as it can be typed again, without the machine's own paths.
std::string command_of(const CalibrateArguments& a) {
    std::string text = fmt::format("rafter calibrate --gpu {}", a.gpu);
    for (const std::string& file : a.measured) text += fmt::format(" --measured {}", file.substr(file.rfind('/') + 1));
    text += fmt::format(" --free {}", fmt::join(a.free, ","));
    const auto list = [&](const char* option, const std::vector<std::string>& values) {
        for (const std::string& value : values) text += fmt::format(" {} {}", option, value);
    };
    list("--bounds", a.bounds), list("--op", a.op), list("--dtype", a.dtype), list("--source", a.source);
    if (a.sample > 0) text += fmt::format(" --sample {}", a.sample);
    return text + fmt::format(" --seed {} --folds {}", a.seed, a.folds);
}

/// Only what the rows decide is written: the rest stays as the base has it.
std::string fitted_file(const CalibrateArguments& a, const rafter::calibrate::Result& result) {
    std::vector<rafter::calibrate::Parameter> parameters;
    std::vector<double> values;
    for (std::size_t i = 0; i < result.parameters.size(); ++i) {
        if (!result.fit.identifiable[i]) continue;
        parameters.push_back(result.parameters[i]);
        values.push_back(result.values[i]);
    }
    return rafter::calibrate::to_yaml(a.gpu, result.gpu.title, result.gpu.compute_capability, parameters, values, command_of(a));
}

}  // namespace

int calibrate(const CalibrateArguments& a) {
    const std::vector<Target> targets{{"--out", a.out}};
    check_targets(targets, a.force);
    auto rows = validate::read_measured(a.measured);
    const std::string name = a.gpu.substr(a.gpu.rfind('/') + 1);
    const bool is_file = name.size() < a.gpu.size() || name.find(".yaml") != std::string::npos;
    validate::Selection selection{
        {}, a.op, a.dtype, a.source, static_cast<std::size_t>(a.sample), static_cast<std::uint64_t>(a.seed)};
    if (!is_file) selection.gpu = {a.gpu};
    rows = validate::select(rows, selection);
    rafter::calibrate::Options options;
    options.gpu = a.gpu, options.free = a.free, options.bounds = a.bounds;
    options.jobs = a.jobs > 0 ? static_cast<std::size_t>(a.jobs) : engine::usable_cores();
    options.folds = static_cast<int>(a.folds), options.max_iterations = static_cast<int>(a.iterations);
    options.seed = static_cast<std::uint64_t>(a.seed);
    if (isatty(STDERR_FILENO) != 0) options.progress = [](const std::string& what) { fmt::print(stderr, "{}\n", what); };
    const auto result = rafter::calibrate::calibrate(rows, options);
    if (!to_stdout(targets)) fmt::print("{}", rafter::calibrate::text(result));
    if (!a.out.empty()) write(a.out, fitted_file(a, result), a.force);
    return 0;
}

}  // namespace rafter::cli
