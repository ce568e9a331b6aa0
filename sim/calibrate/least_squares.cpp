#include "sim/calibrate/least_squares.h"

#include <cmath>
#include <limits>

#include "sim/core/error.h"

namespace rafter::calibrate {

namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;

constexpr double kSmallestGain = 1e-4;  // share of the cost; less is the end
constexpr double kLargestDamping = 1e6;
constexpr double kSmallestSensitivity = 1e-3;  // rms change of the residuals for a parameter e times as large
constexpr double kSmallestEigenvalue = 1e-4;   // of the normalised J^T J: below, two parameters do the same

VectorXd checked(const VectorXd& r) {
    RAFTER_CHECK(r.allFinite(), "a residual is not finite");
    return r;
}

VectorXd admissible(const Problem& problem, const VectorXd& x) {
    const VectorXd inside = x.cwiseMax(problem.lower).cwiseMin(problem.upper);
    return problem.round ? problem.round(inside) : inside;
}

/// Steps into a bound are taken out of the system: the others must not pay for them.
VectorXd damped_step(const Problem& problem, const VectorXd& x, const MatrixXd& j, const VectorXd& r, double damping) {
    MatrixXd a = j.transpose() * j;
    VectorXd g = -j.transpose() * r;
    for (Eigen::Index i = 0; i < a.rows(); ++i) {
        const bool blocked = (x[i] <= problem.lower[i] && g[i] < 0) || (x[i] >= problem.upper[i] && g[i] > 0);
        if (blocked) a.row(i).setZero(), a.col(i).setZero(), g[i] = 0;
        a(i, i) += damping * std::max(a(i, i), 1e-12);
        if (a(i, i) <= 0) a(i, i) = 1;
    }
    return a.ldlt().solve(g);
}

/// (V.6): which parameters the rows decide, and how well.
void add_certainty(Fit& fit, const MatrixXd& j, const VectorXd& r) {
    const Eigen::Index n = j.rows(), p = j.cols();
    fit.sigma = VectorXd::Constant(p, std::numeric_limits<double>::infinity());
    fit.identifiable.assign(static_cast<std::size_t>(p), true);
    VectorXd norms = j.colwise().norm();
    const double smallest = kSmallestSensitivity * std::sqrt(static_cast<double>(n));
    MatrixXd scaled = j;
    for (Eigen::Index i = 0; i < p; ++i) {
        if (norms[i] < smallest) fit.identifiable[static_cast<std::size_t>(i)] = false;
        scaled.col(i) /= std::max(norms[i], smallest);
    }
    const Eigen::SelfAdjointEigenSolver<MatrixXd> eigen(scaled.transpose() * scaled);
    MatrixXd inverse = MatrixXd::Zero(p, p);
    for (Eigen::Index e = 0; e < p; ++e) {
        const double value = eigen.eigenvalues()[e];
        const VectorXd v = eigen.eigenvectors().col(e);
        if (value > kSmallestEigenvalue) {
            inverse += v * v.transpose() / value;
            continue;
        }
        for (Eigen::Index i = 0; i < p; ++i)
            if (std::abs(v[i]) > 0.3) fit.identifiable[static_cast<std::size_t>(i)] = false;
    }
    const double variance = r.squaredNorm() / static_cast<double>(std::max<Eigen::Index>(1, n - p));
    for (Eigen::Index i = 0; i < p; ++i) {
        if (fit.identifiable[static_cast<std::size_t>(i)] && n > p) fit.sigma[i] = std::sqrt(variance * inverse(i, i)) / norms[i];
    }
}

}  // namespace

Fit fit(const Problem& problem, int max_iterations) {
    Fit result;
    VectorXd x = VectorXd::Zero(problem.lower.size());
    VectorXd r = checked(problem.residuals(x));
    MatrixXd j = problem.jacobian(x);
    result.cost_before = result.cost = r.squaredNorm();
    double damping = 1e-2;
    const double negligible = 1e-10 * static_cast<double>(r.size());
    while (result.iterations < max_iterations && damping < kLargestDamping && result.cost > negligible) {
        const VectorXd next = admissible(problem, x + damped_step(problem, x, j, r, damping));
        if ((next - x).norm() < 1e-6) break;
        const VectorXd there = checked(problem.residuals(next));
        ++result.iterations;
        const double gain = result.cost - there.squaredNorm();
        if (gain <= 0) {
            damping *= 10;
            continue;
        }
        x = next, r = there;
        result.cost = r.squaredNorm();
        j = problem.jacobian(x);
        damping = std::max(damping / 10, 1e-9);
        if (gain < kSmallestGain * (result.cost + gain)) break;
    }
    result.x = x;
    for (Eigen::Index i = 0; i < x.size(); ++i)
        result.at_bound.push_back(x[i] <= problem.lower[i] + 1e-3 || x[i] >= problem.upper[i] - 1e-3);
    add_certainty(result, j, r);
    return result;
}

}  // namespace rafter::calibrate
