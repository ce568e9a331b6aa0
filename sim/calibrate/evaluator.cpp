#include "sim/calibrate/evaluator.h"

#include <cstdlib>

#include <fmt/format.h>

#include "sim/config/loader.h"
#include "sim/core/error.h"
#include "sim/engine/isolated.h"
#include "sim/validate/outcome.h"

namespace rafter::calibrate {

std::vector<std::string> Evaluator::texts(const std::vector<double>& point) const {
    std::vector<std::string> all;
    for (std::size_t i = 0; i < point.size(); ++i) all.push_back(parameters_[i].text(point[i]));
    return all;
}

void Evaluator::prepare(const std::vector<std::vector<double>>& points, const std::vector<std::size_t>& rows) {
    struct Job {
        std::pair<std::vector<std::string>, std::size_t> key;
        std::size_t gpu;
    };
    std::vector<Job> jobs;
    std::vector<config::HwConfig> gpus;
    std::map<std::pair<std::vector<std::string>, std::size_t>, bool> planned;
    for (const auto& point : points) {
        const auto values = texts(point);
        config::Settings settings;
        for (std::size_t i = 0; i < values.size(); ++i) settings.emplace_back(parameters_[i].path, values[i]);
        gpus.push_back(config::load_gpu(options_.gpu, settings));
        for (const std::size_t row : rows) {
            const auto key = std::make_pair(values, row);
            if (!known_.contains(key) && planned.emplace(key, true).second) jobs.push_back({key, gpus.size() - 1});
        }
    }
    const auto work = [&](std::size_t i) -> std::string {
        try {
            return fmt::format("{}", validate::simulate_one(simulations_[jobs[i].key.second], gpus[jobs[i].gpu], false).sim_us);
        } catch (const std::exception& e) {
            return std::string("!") + e.what();
        }
    };
    engine::run_isolated(jobs.size(), {options_.jobs, options_.time_limit_s}, work,
                         [&](std::size_t i, const engine::Isolated& child) {
                             if (!child.finished) throw Error(fmt::format("error: a simulation {}", child.problem));
                             if (child.text.rfind('!', 0) == 0) throw Error(child.text.substr(1));
                             known_[jobs[i].key] = std::strtod(child.text.c_str(), nullptr);
                         });
    simulations_run_ += jobs.size();
}

double Evaluator::sim_us(const std::vector<double>& point, std::size_t row) {
    const auto key = std::make_pair(texts(point), row);
    if (!known_.contains(key)) prepare({point}, {row});
    return known_.at(key);
}

}  // namespace rafter::calibrate
