// Simulated times of rows at parameter values, each computed once.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "sim/calibrate/calibrate.h"
#include "sim/validate/row_model.h"

namespace rafter::calibrate {

class Evaluator {
public:
    Evaluator(const Options& options, const std::vector<Parameter>& parameters, std::vector<validate::Simulation> simulations)
        : options_(options), parameters_(parameters), simulations_(std::move(simulations)) {}

    /// Simulates what is missing of `rows` at each of `points`, all cores at once. Errors: Error when a simulation fails.
    void prepare(const std::vector<std::vector<double>>& points, const std::vector<std::size_t>& rows);
    double sim_us(const std::vector<double>& point, std::size_t row);
    std::size_t simulations() const { return simulations_run_; }

private:
    std::vector<std::string> texts(const std::vector<double>& point) const;
    const Options& options_;
    const std::vector<Parameter>& parameters_;
    std::vector<validate::Simulation> simulations_;
    std::map<std::pair<std::vector<std::string>, std::size_t>, double> known_;
    std::size_t simulations_run_{0};
};

}  // namespace rafter::calibrate
