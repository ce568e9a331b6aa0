#include "sim/calibrate/calibrate.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <numeric>

#include <fmt/format.h>

#include "sim/calibrate/evaluator.h"
#include "sim/config/loader.h"
#include "sim/core/error.h"
#include "sim/core/mix.h"

namespace rafter::calibrate {

namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

constexpr double kDifference = 0.1;  // of log(value): large enough that whole clocks and grains do not hide the slope

class Calibration {
public:
    Calibration(const std::vector<validate::Row>& rows, const Options& options) : options_(options) {
        result_.gpu = config::load_gpu(options.gpu, {});
        result_.parameters = find_parameters(result_.gpu, options.free, options.bounds);
        std::vector<validate::Simulation> simulations;
        for (const auto& row : rows) {
            auto simulation = validate::to_simulation(row);
            if (simulation.reason.empty() && row.gpu != result_.gpu.name)
                simulation.reason = fmt::format("measured on {}", row.gpu);
            if (!simulation.reason.empty()) {
                result_.left_out.push_back(fmt::format("{}: {}", row.id, simulation.reason));
                continue;
            }
            simulations.push_back(std::move(simulation));
            real_us_.push_back(row.time_us);
        }
        evaluator_ = std::make_unique<Evaluator>(options_, result_.parameters, std::move(simulations));
    }

    Result run() {
        const auto folds = static_cast<std::size_t>(options_.folds);
        if (real_us_.size() < result_.parameters.size() + folds + 1)
            throw Error(fmt::format("error: {} rows of {} for {} free values and {} folds; at least {} are needed",
                                    real_us_.size(), result_.gpu.name, result_.parameters.size(), folds,
                                    result_.parameters.size() + folds + 1));
        std::vector<std::size_t> all(real_us_.size());
        std::iota(all.begin(), all.end(), 0);
        say(fmt::format("{} rows at the start", all.size()));
        result_.rows = all.size();
        result_.fit = fit_to(all);
        result_.values = values_at(result_.fit.x);
        result_.before = mape(values_at(VectorXd::Zero(result_.fit.x.size())), all);
        result_.after = mape(result_.values, all);
        for (std::size_t fold = 0; fold < folds; ++fold) cross_validate(all, fold, folds);
        result_.simulations = evaluator_->simulations();
        return std::move(result_);
    }

private:
    void say(const std::string& what) const {
        if (options_.progress) options_.progress(what);
    }

    std::vector<double> values_at(const VectorXd& x) const {
        std::vector<double> values;
        for (Index i = 0; i < x.size(); ++i)
            values.push_back(std::round(result_.parameters[static_cast<std::size_t>(i)].start * std::exp(x[i])));
        return values;
    }

    VectorXd rounded(const VectorXd& x) const {
        VectorXd nearest = x;
        const auto values = values_at(x);
        for (Index i = 0; i < x.size(); ++i) {
            const auto& p = result_.parameters[static_cast<std::size_t>(i)];
            nearest[i] = std::log(values[static_cast<std::size_t>(i)] / p.start);
        }
        return nearest;
    }

    /// (V.4): log(simulated / measured).
    VectorXd residuals(const VectorXd& x, const std::vector<std::size_t>& rows) {
        const auto point = values_at(x);
        evaluator_->prepare({point}, rows);
        VectorXd r(static_cast<Index>(rows.size()));
        for (std::size_t i = 0; i < rows.size(); ++i)
            r[static_cast<Index>(i)] = std::log(evaluator_->sim_us(point, rows[i]) / real_us_[rows[i]]);
        return r;
    }

    /// Forward differences, away from a bound.
    MatrixXd jacobian(const VectorXd& x, const std::vector<std::size_t>& rows) {
        std::vector<VectorXd> moved;
        std::vector<std::vector<double>> points;
        for (Index p = 0; p < x.size(); ++p) {
            VectorXd there = x;
            const double upper = std::log(result_.parameters[static_cast<std::size_t>(p)].upper /
                                          result_.parameters[static_cast<std::size_t>(p)].start);
            there[p] += x[p] + kDifference > upper ? -kDifference : kDifference;
            moved.push_back(rounded(there));
            points.push_back(values_at(there));
        }
        evaluator_->prepare(points, rows);
        const VectorXd here = residuals(x, rows);
        MatrixXd j(static_cast<Index>(rows.size()), x.size());
        for (Index p = 0; p < x.size(); ++p) {
            const double step = moved[static_cast<std::size_t>(p)][p] - rounded(x)[p];
            j.col(p) = (residuals(moved[static_cast<std::size_t>(p)], rows) - here) / (step == 0 ? 1 : step);
        }
        return j;
    }

    Fit fit_to(const std::vector<std::size_t>& rows) {
        Problem problem;
        const auto count = static_cast<Index>(result_.parameters.size());
        problem.lower.resize(count), problem.upper.resize(count);
        for (Index i = 0; i < count; ++i) {
            const auto& p = result_.parameters[static_cast<std::size_t>(i)];
            problem.lower[i] = std::log(p.lower / p.start), problem.upper[i] = std::log(p.upper / p.start);
        }
        problem.residuals = [&](const VectorXd& x) { return residuals(x, rows); };
        problem.jacobian = [&](const VectorXd& x) { return jacobian(x, rows); };
        problem.round = [&](const VectorXd& x) { return rounded(x); };
        return fit(problem, options_.max_iterations);
    }

    double mape(const std::vector<double>& point, const std::vector<std::size_t>& rows) {
        evaluator_->prepare({point}, rows);
        double sum = 0;
        for (const std::size_t row : rows) sum += std::abs(evaluator_->sim_us(point, row) / real_us_[row] - 1);
        return rows.empty() ? 0 : sum / static_cast<double>(rows.size());
    }

    /// Rows are dealt to the folds in the order of a hash of the seed, so that equal inputs give equal folds.
    void cross_validate(const std::vector<std::size_t>& all, std::size_t fold, std::size_t folds) {
        say(fmt::format("fold {} of {}", fold + 1, folds));
        std::vector<std::size_t> order = all, fitted, held_out;
        const auto rank = [seed = options_.seed](std::size_t row) { return mix(seed, row); };
        std::sort(order.begin(), order.end(), [&](auto a, auto b) { return rank(a) < rank(b); });
        for (std::size_t i = 0; i < order.size(); ++i) (i % folds == fold ? held_out : fitted).push_back(order[i]);
        const Fit found = fit_to(fitted);
        FoldResult f;
        f.held_out = held_out.size();
        f.values = values_at(found.x);
        const auto start = values_at(VectorXd::Zero(found.x.size()));
        f.fitted_before = mape(start, fitted), f.fitted_after = mape(f.values, fitted);
        f.held_out_before = mape(start, held_out), f.held_out_after = mape(f.values, held_out);
        result_.folds.push_back(std::move(f));
    }

    const Options& options_;
    Result result_;
    std::vector<double> real_us_;
    std::unique_ptr<Evaluator> evaluator_;
};

}  // namespace

Result calibrate(const std::vector<validate::Row>& rows, const Options& options) { return Calibration(rows, options).run(); }

}  // namespace rafter::calibrate
