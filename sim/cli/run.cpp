#include <unistd.h>

#include <cstdlib>
#include <memory>

#include <fmt/format.h>

#include "sim/cli/cli.h"
#include "sim/cli/output.h"
#include "sim/cli/progress.h"
#include "sim/config/loader.h"
#include "sim/core/error.h"
#include "sim/engine/kernel_cache.h"
#include "sim/engine/run.h"
#include "sim/report/report.h"
#include "sim/workload/model.h"

namespace rafter::cli {

namespace {

/// Escape codes only for a person: not in a pipe, not when NO_COLOR is set (https://no-color.org).
bool wants_color() {
    const char* no = std::getenv("NO_COLOR");
    return isatty(STDOUT_FILENO) != 0 && (no == nullptr || *no == '\0');
}

/// None when it is not wanted or nobody says where it is.
std::unique_ptr<engine::KernelCache> open_cache(bool unwanted) {
    const std::string folder = unwanted ? "" : engine::default_cache_folder();
    if (folder.empty()) return nullptr;
    return std::make_unique<engine::KernelCache>(folder, engine::code_hash(),
                                                 [](const std::string& text) { fmt::print(stderr, "{}\n", text); });
}

}  // namespace

int run(const RunArguments& a) {
    const std::vector<Target> targets{{"--json", a.json}, {"--csv", a.csv}};
    check_targets(targets, a.force);
    const Settings settings = sort_settings(a.set);
    const auto gpu = config::load_gpu(a.gpu, settings.gpu);
    const auto model = workload::load(a.workload, settings.workload);
    engine::RunOptions options;
    options.protocol = {*engine::parse_launch(a.launch), *engine::parse_caches(a.caches), a.weight_copies,
                        *engine::parse_data(a.data), a.passes};
    options.exact = a.exact;
    const auto cache = open_cache(a.no_cache);
    options.cache = cache.get();
    ProgressLine progress;
    if (progress.wanted()) {
        options.progress = [&](const std::string& label, std::int64_t done, std::int64_t total) { progress(label, done, total); };
    }
    auto result = engine::run(gpu, model, options);
    progress.clear();
    if (!a.quiet && !to_stdout(targets)) {
        report::TextOptions text;
        text.color = wants_color();
        text.kernels = a.detail == "kernel";
        fmt::print("{}", report::text(result, text));
    }
    if (!a.json.empty()) write(a.json, report::json(result), a.force);
    if (!a.csv.empty()) write(a.csv, report::csv(result), a.force);
    return 0;
}

}  // namespace rafter::cli
