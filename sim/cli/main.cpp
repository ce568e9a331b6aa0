#include <algorithm>
#include <cstdio>

#include <fmt/format.h>
#include <CLI/CLI.hpp>
#include <systemc>

#include "sim/cli/cli.h"
#include "sim/cli/command_line.h"
#include "sim/config/loader.h"
#include "sim/core/error.h"
#include "sim/engine/isolated.h"
#include "sim/engine/protocol.h"

namespace rafter::cli {

namespace {

constexpr const char* kVersion = "rafter " RAFTER_VERSION;

struct Arguments {
    RunArguments run;
    LayerArguments layer;
    ValidateArguments validate;
    CalibrateArguments calibrate;
    CurvesArguments curves;
    std::string kernels_gpu, kernels_workload;
    std::vector<std::string> kernels_set, files;
    bool lint{false}, self_test{false}, clear{false};
};

void declare_run(CLI::App& app, RunArguments& a) {
    auto* run = app.add_subcommand("run", "Simulate a workload on a GPU and show where the time goes");
    run->add_option("--gpu", a.gpu, "GPU: a name (rafter gpus) or a YAML file")->required();
    run->add_option("--workload", a.workload, "workload: a name (rafter workloads) or a YAML file")->required();
    run->add_option("--set", a.set, "override PATH=VALUE, e.g. batch=64, l2.capacity=80MiB, sm.count=54 (repeatable)");
    run->add_option("--launch", a.launch, "how kernels are launched and timed: stream | graph | events | kernel-only")
        ->check(CLI::IsMember(engine::launch_names()));
    run->add_option("--caches", a.caches, "L2 when it begins: cold | warm (repeats) | weights-cold | producer-warm")
        ->check(CLI::IsMember(engine::caches_names()));
    run->add_option("--weight-copies", a.weight_copies, "copies of the weights used in turn with --caches weights-cold")
        ->check(CLI::Range(1, 1000));
    run->add_option("--data", a.data, "what operands hold, for the power: random | zeros")
        ->check(CLI::IsMember(engine::data_names()));
    run->add_option("--passes", a.passes, "runs back to back after an idle moment, for the power limit (default 0: without end)")
        ->check(CLI::Range(0, 1'000'000'000));
    run->add_option("--json", a.json, "write the result as JSON (- = stdout)");
    run->add_option("--csv", a.csv, "write a row a layer as CSV (- = stdout)");
    run->add_option("--detail", a.detail, "rows of the report: layer | kernel")->check(CLI::IsMember({"layer", "kernel"}));
    run->add_flag("--exact", a.exact, "simulate every kernel, also those already seen in the same cache state");
    run->add_flag("--no-cache", a.no_cache, "neither read nor keep results of kernels on disk (rafter cache)");
    run->add_flag("--force", a.force, "replace output files that exist");
    run->add_flag("--quiet", a.quiet, "no report on stdout");
}

void declare_explain(CLI::App& app, Arguments& a) {
    auto* explain = app.add_subcommand("explain", "Show the arithmetic of a layer, or the kernels of a workload");
    explain->require_subcommand(1);
    auto* layer = explain->add_subcommand(
        "layer", "Counts, intensity, ridge and verdict of one layer: --op gemm --m 4096 --n 4096 --k 4096");
    layer->add_option("--op", a.layer.op, "operation, as in a workload file")->required();
    layer->add_option("--gpu", a.layer.gpu, "GPU to hold it against");
    layer->add_option("--dtype", a.layer.dtype, "of weights and activations");
    layer->allow_extras();
    auto* kernels = explain->add_subcommand("kernels", "The kernels each layer is lowered to");
    kernels->add_option("--gpu", a.kernels_gpu, "GPU")->required();
    kernels->add_option("--workload", a.kernels_workload, "workload")->required();
    kernels->add_option("--set", a.kernels_set, "override PATH=VALUE");
}

void declare_validate(CLI::App& app, ValidateArguments& a) {
    auto* validate = app.add_subcommand("validate", "Simulate measured timings and show the errors");
    validate->add_option("files", a.files, "CSV or YAML files of measurements (docs/validation.md); none: the published figures");
    validate->add_option("--gpu", a.gpu, "only rows of this GPU (repeatable)");
    validate->add_option("--op", a.op, "only rows of this op (repeatable)");
    validate->add_option("--dtype", a.dtype, "only rows of this dtype (repeatable)");
    validate->add_option("--source", a.source, "only rows whose source begins so (repeatable)");
    validate->add_option("--sample", a.sample, "take N of the rows, at random")->check(CLI::Range(1, 1'000'000'000));
    validate->add_option("--seed", a.seed, "of --sample");
    validate->add_option("-j,--jobs", a.jobs, "simulations at a time (default: every core)")->check(CLI::Range(1, 4096));
    validate->add_option("--set", a.set, "override a GPU's PATH=VALUE (repeatable)");
    validate->add_option("--worst", a.worst, "worst rows shown per group")->check(CLI::Range(0, 1000));
    validate->add_option("--fail-above", a.fail_above, "exit 1 when the overall MAPE is above this many %")
        ->check(CLI::NonNegativeNumber);
    validate->add_option("--time-limit", a.time_limit_s, "seconds after which a simulation is given up")
        ->check(CLI::PositiveNumber);
    validate->add_option("--json", a.json, "write everything as JSON (- = stdout)");
    validate->add_option("--csv", a.csv, "write a row a measurement as CSV (- = stdout)");
    validate->add_option("--html", a.html, "write a page with plots, one file");
    validate->add_flag("--exact", a.exact, "simulate every kernel whole");
    validate->add_flag("--force", a.force, "replace output files that exist");
    validate->add_flag("--quiet", a.quiet, "no scoreboard on stdout");
}

void declare_calibrate(CLI::App& app, CalibrateArguments& a) {
    auto* calibrate = app.add_subcommand("calibrate", "Fit physical values of a GPU file to measured timings");
    calibrate->add_option("--gpu", a.gpu, "GPU: a name (rafter gpus) or a YAML file")->required();
    calibrate->add_option("--measured", a.measured, "CSV or YAML files of measurements (repeatable)")->required();
    calibrate->add_option("--free", a.free, "values to fit, e.g. l2.bytes_per_clk,launch.graph_gap")->required()->delimiter(',');
    calibrate->add_option("--bounds", a.bounds, "PATH=LOW..HIGH in base units (default: half to twice; repeatable)");
    calibrate->add_option("--op", a.op, "only rows of this op (repeatable)");
    calibrate->add_option("--dtype", a.dtype, "only rows of this dtype (repeatable)");
    calibrate->add_option("--source", a.source, "only rows whose source begins so (repeatable)");
    calibrate->add_option("--sample", a.sample, "take N of the rows, at random")->check(CLI::Range(1, 1'000'000'000));
    calibrate->add_option("--seed", a.seed, "of --sample and of the folds");
    calibrate->add_option("--folds", a.folds, "parts held out in turn; 0: no cross-validation")->check(CLI::Range(0, 100));
    calibrate->add_option("--iterations", a.iterations, "most steps of a fit")->check(CLI::Range(1, 1000));
    calibrate->add_option("-j,--jobs", a.jobs, "simulations at a time (default: every core)")->check(CLI::Range(1, 4096));
    calibrate->add_option("--out", a.out, "write the fitted values as a GPU file (- = stdout)");
    calibrate->add_flag("--force", a.force, "replace an output file that exists");
}

void declare_curves(CLI::App& app, CurvesArguments& a) {
    auto* curves =
        app.add_subcommand("curves", "Micro-benchmarks of the memory system: latency and bandwidth, beside measured ones");
    curves->add_option("--gpu", a.gpu, "GPU: a name (rafter gpus) or a YAML file")->required();
    curves->add_option(
        "--curve", a.curve,
        "a curve, or the beginning of several: chase, size, ctas, gather, occupancy, warm, cache (repeatable; default: all)");
    curves->add_option("--measured", a.measured, "CSV of micro-benchmarks: its points of this GPU are simulated and compared");
    curves->add_option("--points", a.points, "most points of a curve")->check(CLI::Range(2, 1000));
    curves->add_option("-j,--jobs", a.jobs, "simulations at a time (default: every core)")->check(CLI::Range(1, 4096));
    curves->add_option("--set", a.set, "override a GPU's PATH=VALUE (repeatable)");
    curves->add_option("--svg", a.svg, "write a plot of each curve into this folder");
    curves->add_option("--json", a.json, "write the points as JSON (- = stdout)");
    curves->add_flag("--force", a.force, "replace output files that exist");
}

void declare_cache(CLI::App& app, bool& clear) {
    auto* cache = app.add_subcommand("cache", "Results of kernels kept on disk: stats (default) or clear");
    cache->add_subcommand("stats", "Where it is, entries and bytes");
    cache->add_subcommand("clear", "Remove every entry")->callback([&clear] { clear = true; });
    cache->require_subcommand(0, 1);
}

int dispatch(const CLI::App& app, Arguments& a) {
    if (app.got_subcommand("curves")) return curves(a.curves);
    if (app.got_subcommand("run")) return run(a.run);
    if (app.got_subcommand("check")) return a.self_test ? self_test(a.files) : check(a.files);
    if (app.got_subcommand("calibrate")) return calibrate(a.calibrate);
    if (app.got_subcommand("validate")) return validate(a.validate);
    if (app.got_subcommand("cache")) return cache(a.clear);
    if (app.got_subcommand("gpus")) return list_gpus(a.lint);
    if (app.got_subcommand("workloads")) return list_workloads();
    const CLI::App* explain = app.get_subcommand("explain");
    if (explain->got_subcommand("kernels")) return explain_kernels(a.kernels_gpu, a.kernels_workload, a.kernels_set);
    a.layer.fields = layer_fields(explain->get_subcommand("layer")->remaining());
    return explain_layer(a.layer);
}

int parse_and_run(int argc, char** argv) {
    CLI::App app("rafter: a cycle-level GPU roofline simulator", "rafter");
    app.set_version_flag("--version", kVersion);
    app.require_subcommand(1);
    Arguments a;
    declare_run(app, a.run);
    declare_explain(app, a);
    declare_validate(app, a.validate);
    declare_calibrate(app, a.calibrate);
    declare_curves(app, a.curves);
    declare_cache(app, a.clear);
    auto* check = app.add_subcommand("check", "Validate GPU or workload files, recompute peaks and counts");
    check->add_option("files", a.files, "YAML files or names")->required();
    check->add_flag("--selftest", a.self_test, "run a GPU's memory system and hold it against what its file says");
    app.add_subcommand("gpus", "List the GPUs")->add_flag("--lint", a.lint, "fail when a value lacks its source");
    app.add_subcommand("workloads", "List the workloads");
    try {
        app.parse(argc, argv);
    } catch (const CLI::ParseError& e) {
        if (e.get_exit_code() == 0) return app.exit(e);  // help or version, asked for
        const std::string unknown = unknown_word(app, std::vector<std::string>(argv + 1, argv + argc));
        throw Error(fmt::format("error: {}\nrafter --help and rafter COMMAND --help list what there is",
                                unknown.empty() ? e.what() : unknown));
    }
    return dispatch(app, a);
}

}  // namespace

Settings sort_settings(const std::vector<std::string>& given) {
    Settings settings;
    const auto& sections = config::gpu_sections();
    for (const std::string& text : given) {
        const auto equals = text.find('=');
        if (equals == std::string::npos || equals == 0) throw Error(fmt::format("error: --set {}: expected PATH=VALUE", text));
        std::string path = text.substr(0, equals);
        const std::string value = text.substr(equals + 1);
        const std::string first = path.substr(0, path.find('.'));
        const bool dotted = first.size() < path.size();
        if (dotted && (first == "gpu" || first == "workload")) {
            path = path.substr(first.size() + 1);
            (first == "gpu" ? settings.gpu : settings.workload).emplace_back(path, value);
        } else if (dotted && std::find(sections.begin(), sections.end(), first) != sections.end()) {
            settings.gpu.emplace_back(path, value);
        } else if (!dotted || first == "dtype" || first == "dims") {
            settings.workload.emplace_back(path, value);
        } else {
            const std::string near = nearest_name(first, sections);
            throw Error(fmt::format("error: --set {}: '{}' is no section of a GPU{}", text, first,
                                    near.empty() ? "" : fmt::format(" (did you mean '{}'?)", near)));
        }
    }
    return settings;
}

int main(int argc, char** argv) {
    try {
        const int code = parse_and_run(argc, argv);
        // A full disk shows when the buffer is written.
        if (std::fflush(stdout) != 0 || std::ferror(stdout) != 0) throw Error("error: cannot write to standard output");
        return code;
    } catch (const Error& e) {
        fmt::print(stderr, "{}\n", e.what());
        return 2;
    } catch (const engine::Interrupted& e) {
        fmt::print(stderr, "{}\n", e.what());
        return 130;
    } catch (const sc_core::sc_report& e) {
        fmt::print(stderr, "internal error: {}\n", e.what());
        return 3;
    } catch (const std::bad_alloc&) {
        fmt::print(stderr, "error: out of memory\n");
        return 2;
    } catch (const std::exception& e) {
        fmt::print(stderr, "{}\n", e.what());
        return 3;
    }
}

}  // namespace rafter::cli
