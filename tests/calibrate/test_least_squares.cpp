// The fit on functions whose answer is known.
#include "sim/calibrate/least_squares.h"

#include <cmath>

#include "tests/catch.h"

using namespace rafter::calibrate;
using Eigen::MatrixXd;
using Eigen::VectorXd;

namespace {

/// y = a exp(-b t) with a = 3, b = 0.5, from a = b = 1 (x are their logarithms), with `noise` added in turn.
Problem decay(double noise, double limit = 10) {
    Problem p;
    p.residuals = [noise](const VectorXd& x) {
        VectorXd r(20);
        for (int i = 0; i < 20; ++i) {
            const double t = 0.3 * i, y = 3 * std::exp(-0.5 * t) + (i % 2 == 0 ? noise : -noise);
            r[i] = std::exp(x[0]) * std::exp(-std::exp(x[1]) * t) - y;
        }
        return r;
    };
    p.jacobian = [residuals = p.residuals](const VectorXd& x) {
        MatrixXd j(20, x.size());
        for (Eigen::Index k = 0; k < x.size(); ++k) {
            VectorXd there = x;
            there[k] += 1e-6;
            j.col(k) = (residuals(there) - residuals(x)) / 1e-6;
        }
        return j;
    };
    p.lower = VectorXd::Constant(2, -limit), p.upper = VectorXd::Constant(2, limit);
    return p;
}

}  // namespace

TEST_CASE("an exact model is found exactly", "[fit]") {
    const Fit f = fit(decay(0), 50);
    CHECK(std::exp(f.x[0]) == Approx(3).epsilon(1e-4));
    CHECK(std::exp(f.x[1]) == Approx(0.5).epsilon(1e-4));
    CHECK(f.cost < 1e-8);
    CHECK(f.cost_before > 1);
    CHECK(f.identifiable == std::vector<bool>{true, true});
    CHECK(f.at_bound == std::vector<bool>{false, false});
}

TEST_CASE("noise widens the interval and the truth lies in it", "[fit]") {
    const Fit low = fit(decay(0.01), 50), high = fit(decay(0.1), 50);
    CHECK(high.sigma[0] > 5 * low.sigma[0]);
    for (const Fit& f : {low, high}) {
        CHECK(std::abs(f.x[0] - std::log(3)) < 2.5 * f.sigma[0]);
        CHECK(std::abs(f.x[1] - std::log(0.5)) < 2.5 * f.sigma[1]);
    }
}

TEST_CASE("a bound holds, and is reported", "[fit]") {
    Problem p = decay(0);
    p.upper[0] = std::log(2);
    const Fit f = fit(p, 50);
    CHECK(std::exp(f.x[0]) == Approx(2));
    CHECK(f.at_bound == std::vector<bool>{true, false});
    CHECK(f.cost > 0.01);
}

TEST_CASE("a value that nothing depends on, and two that do the same, are not identifiable", "[fit]") {
    Problem p = decay(0.01);
    const auto inner = p.residuals;
    p.lower = VectorXd::Constant(3, -10), p.upper = VectorXd::Constant(3, 10);
    p.residuals = [inner](const VectorXd& x) { return inner(x.head(2)); };
    const auto differences = [&p](const VectorXd& x) {
        MatrixXd j(20, x.size());
        for (Eigen::Index k = 0; k < x.size(); ++k) {
            VectorXd there = x;
            there[k] += 1e-6;
            j.col(k) = (p.residuals(there) - p.residuals(x)) / 1e-6;
        }
        return j;
    };
    p.jacobian = differences;
    Fit f = fit(p, 50);
    CHECK(f.identifiable == std::vector<bool>{true, true, false});
    CHECK(std::isinf(f.sigma[2]));
    p.residuals = [inner](const VectorXd& x) { return inner(Eigen::Vector2d(x[0] + x[2], x[1])); };
    f = fit(p, 50);
    CHECK(f.identifiable == std::vector<bool>{false, true, false});
}

TEST_CASE("a residual that is no number is our mistake, not a fit", "[fit]") {
    Problem p = decay(0);
    p.residuals = [](const VectorXd&) { return VectorXd::Constant(20, std::nan("")); };
    CHECK_THROWS(fit(p, 5));
}
