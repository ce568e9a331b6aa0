// Levenberg-Marquardt over bounded parameters, in the logarithm of each. docs/validation.md, equations (V.4)-(V.6).
#pragma once

#include <Eigen/Dense>
#include <functional>
#include <vector>

namespace rafter::calibrate {

/// Parameters as log(value / start): 0 is the start.
struct Problem {
    /// Residuals at x, shape [rows].
    std::function<Eigen::VectorXd(const Eigen::VectorXd& x)> residuals;
    /// d residual / d x, shape [rows, parameters].
    std::function<Eigen::MatrixXd(const Eigen::VectorXd& x)> jacobian;
    Eigen::VectorXd lower, upper;
    /// The nearest x that can be simulated (whole clocks, whole bytes); may be empty.
    std::function<Eigen::VectorXd(const Eigen::VectorXd& x)> round;
};

struct Fit {
    Eigen::VectorXd x;
    Eigen::VectorXd sigma;  ///< standard error of each x; infinite where the rows do not decide it (V.6)
    std::vector<bool> at_bound;
    std::vector<bool> identifiable;
    double cost_before{0}, cost{0};  ///< sum of squares
    int iterations{0};
};

/// Errors: InternalError when a residual is not finite.
Fit fit(const Problem& problem, int max_iterations);

}  // namespace rafter::calibrate
