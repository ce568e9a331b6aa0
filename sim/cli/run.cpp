#include <unistd.h>

#include <chrono>
#include <cstdlib>

#include <fmt/format.h>

#include "sim/cli/cli.h"
#include "sim/cli/output.h"
#include "sim/config/loader.h"
#include "sim/core/error.h"
#include "sim/engine/run.h"
#include "sim/report/report.h"
#include "sim/workload/model.h"

namespace rafter::cli {

namespace {

/// One line on stderr while a long run goes on, with the time it will still take.
class Progress {
public:
    void operator()(const std::string& label, std::int64_t done, std::int64_t total) {
        const auto now = std::chrono::steady_clock::now();
        const double elapsed = std::chrono::duration<double>(now - begin_).count();
        if (elapsed < 1 || std::chrono::duration<double>(now - shown_).count() < 0.2) return;
        shown_ = now;
        drawn_ = true;
        const double left = elapsed / static_cast<double>(done) * static_cast<double>(total - done);
        fmt::print(stderr, "\r\033[K{}/{}  {:.0f} s, about {:.0f} s to go  {}", done, total, elapsed, left, label);
        std::fflush(stderr);
    }
    void clear() const {
        if (drawn_) fmt::print(stderr, "\r\033[K");
    }

private:
    std::chrono::steady_clock::time_point begin_{std::chrono::steady_clock::now()}, shown_{begin_};
    bool drawn_{false};
};

/// Escape codes only for a person: not in a pipe, not when NO_COLOR is set (https://no-color.org).
bool wants_color() {
    const char* no = std::getenv("NO_COLOR");
    return isatty(STDOUT_FILENO) != 0 && (no == nullptr || *no == '\0');
}

}  // namespace

int run(const RunArguments& a) {
    const std::vector<Target> targets{{"--json", a.json}, {"--csv", a.csv}};
    check_targets(targets, a.force);
    const Settings settings = sort_settings(a.set);
    const auto gpu = config::load_gpu(a.gpu, settings.gpu);
    const auto model = workload::load(a.workload, settings.workload);
    engine::RunOptions options;
    options.protocol = {*engine::parse_launch(a.launch), *engine::parse_caches(a.caches), a.weight_copies};
    options.exact = a.exact;
    Progress progress;
    if (isatty(STDERR_FILENO) != 0) {
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
