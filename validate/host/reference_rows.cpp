// References of the recurrent cell, the elementwise operations and the row reductions.
#include <Eigen/Dense>
#include <algorithm>
#include <cmath>

#include "validate/host/reference.h"

namespace rafter::validate {

namespace {

using Matrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

constexpr std::uint64_t kRowSeed = 0x5EED;
constexpr std::int64_t kPointsAtOnce = 4096;
constexpr double kEpsilon = 1e-5;  // of the norms, as in row_reduction.h

double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }

/// gates[g]: recurrent products; x[g]: inputs.
double cell(int gates, const double* x, const double* h, double before, double& memory) {
    if (gates == 4) {
        memory = sigmoid(x[1] + h[1]) * memory + sigmoid(x[0] + h[0]) * std::tanh(x[2] + h[2]);
        return sigmoid(x[3] + h[3]) * std::tanh(memory);
    }
    if (gates == 3) {
        const double keep = sigmoid(x[1] + h[1]);
        return (1 - keep) * std::tanh(x[2] + sigmoid(x[0] + h[0]) * h[2]) + keep * before;
    }
    return std::tanh(x[0] + h[0]);
}

double point(PointOp op, double a, double b) {
    switch (op) {
        case PointOp::copy:
            return a;
        case PointOp::relu:
            return std::max(a, 0.0);
        case PointOp::gelu:
            return 0.5 * a * (1 + std::tanh(0.7978845608 * (a + 0.044715 * a * a * a)));
        case PointOp::add:
            return a + b;
    }
    return 0;
}

}  // namespace

double recurrent_error(const Recurrent& p, DType dtype, const RecurrentInputs& in, const std::vector<float>& states) {
    const std::int64_t hidden = p.hidden, all = p.gates * hidden;
    Matrix weights(all, hidden), state(p.batch, hidden), memory = Matrix::Zero(p.batch, hidden);
    for (std::int64_t i = 0; i < all * hidden; ++i) weights(i / hidden, i % hidden) = in.weights(i);
    for (std::int64_t i = 0; i < p.batch * hidden; ++i) state(i / hidden, i % hidden) = in.initial(i);
    Comparison comparison(states);
    for (std::int64_t step = 0; step < p.steps; ++step) {
        const Matrix products = state * weights.transpose();
        for (std::int64_t row = 0; row < p.batch; ++row) {
            std::vector<double> now(static_cast<std::size_t>(hidden));
            for (std::int64_t unit = 0; unit < hidden; ++unit) {
                double x[4] = {}, h[4] = {};
                for (std::int64_t g = 0; g < p.gates; ++g) {
                    x[g] = in.x((step * p.batch + row) * all + g * hidden + unit);
                    h[g] = products(row, g * hidden + unit);
                }
                const double value = cell(p.gates, x, h, state(row, unit), memory(row, unit));
                now[static_cast<std::size_t>(unit)] = rounded(dtype, static_cast<float>(value));
            }
            std::copy(now.begin(), now.end(), state.row(row).begin());
            comparison.row(static_cast<std::size_t>(((step + 1) * p.batch + row) * hidden), now);
        }
    }
    return comparison.error();
}

double point_error(PointOp op, std::int64_t elements, const Input& a, const Input& b, const std::vector<float>& out) {
    Comparison comparison(out);
    const std::int64_t pieces = (elements + kPointsAtOnce - 1) / kPointsAtOnce;
    for (const std::int64_t piece : sample_rows(pieces, affordable_rows(64 * kPointsAtOnce), kRowSeed)) {
        const std::int64_t first = piece * kPointsAtOnce, last = std::min(elements, first + kPointsAtOnce);
        std::vector<double> expected;
        for (std::int64_t i = first; i < last; ++i) expected.push_back(point(op, a(i), op == PointOp::add ? b(i) : 0.0));
        comparison.row(static_cast<std::size_t>(first), expected);
    }
    return comparison.error();
}

double rows_error(RowOp op, std::int64_t rows, std::int64_t cols, const Input& in, const Input& scale, const Input& shift,
                  const std::vector<float>& out) {
    Comparison comparison(out);
    for (const std::int64_t row : sample_rows(rows, affordable_rows(64 * cols), kRowSeed)) {
        Eigen::ArrayXd x(cols);
        for (std::int64_t i = 0; i < cols; ++i) x(i) = in(row * cols + i);
        if (op == RowOp::softmax) {
            x = (x - x.maxCoeff()).exp();
            x /= x.sum();
        } else {
            if (op == RowOp::layernorm) x -= x.mean();
            x /= std::sqrt(x.square().mean() + kEpsilon);
            for (std::int64_t i = 0; i < cols; ++i) x(i) = x(i) * scale(i) + (op == RowOp::layernorm ? shift(i) : 0.0);
        }
        comparison.row(static_cast<std::size_t>(row * cols), {x.begin(), x.end()});
    }
    return comparison.error();
}

}  // namespace rafter::validate
