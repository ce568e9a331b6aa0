#include <algorithm>
#include <filesystem>

#include <fmt/format.h>

#include "sim/cli/cli.h"
#include "sim/cli/progress.h"
#include "sim/config/loader.h"
#include "sim/core/error.h"
#include "sim/curves/curves.h"
#include "sim/curves/selftest.h"
#include "sim/engine/isolated.h"
#include "sim/report/report.h"

namespace rafter::cli {

namespace {

/// Every curve asked for, once.
std::vector<std::string> names_of(const std::vector<std::string>& asked) {
    std::vector<std::string> names;
    for (const std::string& given : asked.empty() ? std::vector<std::string>{"all"} : asked) {
        for (const std::string& name : curves::curves_of(given))
            if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
    }
    return names;
}

}  // namespace

int curves(const CurvesArguments& arguments) {
    const auto gpu = config::load_gpu(arguments.gpu, sort_settings(arguments.set).gpu);
    std::vector<curves::Curve> all;
    for (const std::string& name : names_of(arguments.curve))
        all.push_back(curves::plan(name, gpu, arguments.measured, static_cast<std::size_t>(arguments.points)));
    const auto plot = [&](const curves::Curve& curve) {
        return (std::filesystem::path(arguments.svg) / fmt::format("{}-{}.svg", curve.name, gpu.name)).string();
    };
    if (!arguments.json.empty()) report::check_writable(arguments.json, arguments.force);
    for (const auto& curve : all) {
        if (!arguments.svg.empty()) report::check_writable(plot(curve), arguments.force);
    }
    curves::Workers workers;
    workers.jobs = arguments.jobs > 0 ? static_cast<std::size_t>(arguments.jobs) : engine::usable_cores();
    ProgressLine progress;
    if (progress.wanted()) {
        workers.progress = [&](std::size_t done, std::size_t total) {
            progress("points", static_cast<std::int64_t>(done), static_cast<std::int64_t>(total));
        };
    }
    curves::simulate(all, gpu, workers);
    progress.clear();
    for (const auto& curve : all) {
        if (!arguments.svg.empty()) report::write_file(plot(curve), curves::svg(curve, gpu.name), arguments.force);
    }
    if (!arguments.json.empty()) report::write_file(arguments.json, curves::json(all, gpu.name), arguments.force);
    if (arguments.json != "-") fmt::print("{}", curves::text(all, gpu.name));
    return 0;
}

int self_test(const std::vector<std::string>& gpus) {
    if (gpus.size() != 1) throw Error("error: --selftest takes one GPU: its machine is built once a process");
    const auto gpu = config::load_gpu(gpus.front(), {});
    bool holds = true;
    fmt::print("{}\n{:<24} {:>12} {:>12} {:>12}\n", gpu.name, "", "simulated", "least", "most");
    for (const curves::Check& check : curves::self_test(gpu)) {
        holds = holds && check.holds();
        fmt::print("{:<24} {:>12.5g} {:>12.5g} {:>12.5g} {:<10}{}\n", check.name, check.simulated, check.low, check.high,
                   check.unit, check.holds() ? "" : " OUTSIDE");
    }
    return holds ? 0 : 2;
}

}  // namespace rafter::cli
