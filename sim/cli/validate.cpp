#include <fmt/format.h>

#include "sim/cli/cli.h"
#include "sim/cli/output.h"
#include "sim/cli/progress.h"
#include "sim/config/loader.h"
#include "sim/core/error.h"
#include "sim/engine/isolated.h"
#include "sim/validate/reports.h"

namespace rafter::cli {

namespace {

/// The figures that come with rafter, when no file is given.
std::vector<std::string> files_of(const ValidateArguments& a) {
    if (!a.files.empty()) return a.files;
    return {config::find_data_file("validate/measured", "figures")};
}

}  // namespace

int validate(const ValidateArguments& a) {
    const std::vector<Target> targets{{"--json", a.json}, {"--csv", a.csv}, {"--html", a.html}};
    check_targets(targets, a.force);
    namespace v = rafter::validate;
    v::Selection selection{
        a.gpu, a.op, a.dtype, a.source, static_cast<std::size_t>(a.sample), static_cast<std::uint64_t>(a.seed)};
    v::Validation validation;
    validation.rows = v::select(v::read_measured(files_of(a)), selection);
    v::SimulateOptions options;
    options.jobs = a.jobs > 0 ? static_cast<std::size_t>(a.jobs) : engine::usable_cores();
    options.time_limit_s = a.time_limit_s;
    options.exact = a.exact;
    options.settings = sort_settings(a.set).gpu;
    ProgressLine progress;
    if (progress.wanted()) {
        options.progress = [&](std::size_t done, std::size_t total) {
            progress("simulations", static_cast<std::int64_t>(done), static_cast<std::int64_t>(total));
        };
    }
    validation.outcomes = v::simulate(validation.rows, options, validation.effort);
    progress.clear();
    validation.board = v::scoreboard(validation.rows, validation.outcomes, static_cast<std::size_t>(a.worst));
    if (!a.quiet && !to_stdout(targets)) fmt::print("{}", v::text(validation));
    if (!a.json.empty()) write(a.json, v::json(validation), a.force);
    if (!a.csv.empty()) write(a.csv, v::csv(validation), a.force);
    if (!a.html.empty()) write(a.html, v::html(validation), a.force);
    if (a.fail_above < 0 || validation.board.overall.mape * 100 <= a.fail_above) return 0;
    fmt::print(stderr, "MAPE {:.2f} % is above {} %\n", validation.board.overall.mape * 100, a.fail_above);
    return 1;
}

}  // namespace rafter::cli
