#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <memory>
#include <numeric>
#include <optional>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "sim/config/loader.h"
#include "sim/core/error.h"
#include "sim/engine/isolated.h"
#include "sim/validate/outcome.h"

namespace rafter::validate {

namespace {

using Json = nlohmann::json;

/// The first line of a message, without "file:line:col: error: ".
std::string headline(const std::string& message) {
    std::string line = message.substr(0, message.find('\n'));
    const std::size_t at = line.find("error: ");
    return at == std::string::npos ? line : line.substr(at + 7);
}

Json to_json(const Outcome& o) {
    Json json{{"status", static_cast<int>(o.status)},
              {"reason", o.reason},
              {"sim", o.sim_us},
              {"roofline", o.roofline_us},
              {"floor", o.floor_us},
              {"flops", o.flops},
              {"bytes", o.bytes},
              {"bound", o.bound},
              {"kernels", o.kernels}};
    json["causes"] = o.causes;
    return json;
}

Outcome from_json(const Json& json) {
    Outcome o;
    o.status = static_cast<Status>(json["status"].get<int>());
    o.reason = json["reason"], o.bound = json["bound"], o.kernels = json["kernels"];
    o.sim_us = json["sim"], o.roofline_us = json["roofline"], o.floor_us = json["floor"];
    o.flops = json["flops"], o.bytes = json["bytes"];
    o.causes = json["causes"].get<std::vector<std::pair<std::string, double>>>();
    return o;
}

Outcome refused(std::string reason) {
    Outcome outcome;
    outcome.reason = std::move(reason);
    return outcome;
}

/// GPUs by name, read once; a name that is no GPU keeps the reason.
class Gpus {
public:
    explicit Gpus(const config::Settings& settings) : settings_(settings) {}

    const config::HwConfig* find(const std::string& name, std::string& reason) {
        auto known = known_.find(name);
        if (known == known_.end()) known = known_.emplace(name, load(name)).first;
        reason = known->second.reason;
        return known->second.gpu.get();
    }

private:
    struct Entry {
        std::unique_ptr<config::HwConfig> gpu;
        std::string reason;
    };
    Entry load(const std::string& name) const {
        const auto names = config::list_data_files("hw_configs");
        if (std::find(names.begin(), names.end(), name) == names.end()) {
            const std::string near = nearest_name(name, names);
            return {nullptr,
                    fmt::format("unknown GPU '{}'{}", name, near.empty() ? "" : fmt::format(" (did you mean '{}'?)", near))};
        }
        return {std::make_unique<config::HwConfig>(config::load_gpu(name, settings_)), ""};
    }
    const config::Settings& settings_;
    std::map<std::string, Entry> known_;
};

/// A simulation that one or more rows ask for.
struct Job {
    Simulation simulation;
    const config::HwConfig* gpu{nullptr};
    double longest_us{0};
    Outcome outcome;
};

std::string work_in_child(const Job& job, bool exact) {
    try {
        return to_json(simulate_one(job.simulation, *job.gpu, exact)).dump();
    } catch (const Error& e) {
        return to_json(refused(headline(e.what()))).dump();
    } catch (const std::exception& e) {
        return to_json(refused(e.what())).dump();
    }
}

void run_jobs(std::vector<Job>& jobs, const SimulateOptions& options) {
    // The longest first, so that no core idles at the end; the order does not show in the result.
    std::vector<std::size_t> order(jobs.size());
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(), [&](auto a, auto b) { return jobs[a].longest_us > jobs[b].longest_us; });
    std::size_t finished = 0;
    engine::run_isolated(
        jobs.size(), {options.jobs, options.time_limit_s},
        [&](std::size_t i) { return work_in_child(jobs[order[i]], options.exact); },
        [&](std::size_t i, const engine::Isolated& child) {
            jobs[order[i]].outcome = child.finished ? from_json(Json::parse(child.text)) : refused("simulation " + child.problem);
            ++finished;
            if (options.progress) options.progress(finished, jobs.size());
        });
}

/// A measurement faster than the hardware can be is a mistake of the table. Half a unit of the last digit and 1 % are allowed.
void hold_against_physics(const Row& row, Outcome& outcome) {
    const double rounding = std::floor(row.time_us) == row.time_us ? 0.5 : 0.0;
    if (outcome.status != Status::scored || row.time_us * 1.01 + rounding >= outcome.floor_us) return;
    outcome.status = Status::impossible;
    outcome.reason = fmt::format("{:.4g} us is less than the {:.4g} us that peak rates allow (is the time in microseconds?)",
                                 row.time_us, outcome.floor_us);
}

}  // namespace

std::string_view name(Status status) {
    static constexpr std::array<std::string_view, 3> names{"scored", "unsimulatable", "impossible"};
    return names[static_cast<std::size_t>(status)];
}

std::vector<Outcome> simulate(const std::vector<Row>& rows, const SimulateOptions& options, Effort& effort) {
    std::vector<Outcome> outcomes(rows.size());
    std::vector<std::optional<std::size_t>> job_of(rows.size());
    std::vector<Job> jobs;
    std::map<std::string, std::size_t> by_key;
    Gpus gpus(options.settings);
    for (std::size_t i = 0; i < rows.size(); ++i) {
        Simulation simulation = to_simulation(rows[i]);
        std::string reason = simulation.reason;
        const auto* gpu = reason.empty() ? gpus.find(simulation.gpu, reason) : nullptr;
        if (gpu == nullptr) {
            outcomes[i] = refused(reason);
            continue;
        }
        const auto [known, inserted] = by_key.emplace(simulation.key(), jobs.size());
        if (inserted) jobs.push_back({std::move(simulation), gpu, 0, {}});
        job_of[i] = known->second;
        jobs[known->second].longest_us = std::max(jobs[known->second].longest_us, rows[i].time_us);
    }
    run_jobs(jobs, options);
    effort.distinct = jobs.size();
    for (std::size_t i = 0; i < rows.size(); ++i) {
        if (!job_of[i]) continue;
        outcomes[i] = jobs[*job_of[i]].outcome;
        hold_against_physics(rows[i], outcomes[i]);
    }
    return outcomes;
}

}  // namespace rafter::validate
