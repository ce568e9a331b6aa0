#include "validate/host/reference.h"

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

#include "sim/core/error.h"
#include "validate/host/random.h"

namespace rafter::validate {

namespace {

using Matrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
using Vector = Eigen::VectorXd;

constexpr std::uint64_t kRowSeed = 0x5EED;
constexpr std::int64_t kColumnsAtOnce = 256;

std::vector<double> list(const Vector& v) { return {v.begin(), v.end()}; }

}  // namespace

Comparison::Comparison(const std::vector<float>& actual)
    : actual_(actual), finite_(std::all_of(actual.begin(), actual.end(), [](float x) { return std::isfinite(x); })) {}

void Comparison::row(std::size_t offset, const std::vector<double>& expected) {
    RAFTER_CHECK(offset + expected.size() <= actual_.size(), "a reference row outside the output");
    for (std::size_t i = 0; i < expected.size(); ++i) {
        const double apart = static_cast<double>(actual_[offset + i]) - expected[i];
        difference_ += apart * apart;
        norm_ += expected[i] * expected[i];
    }
}

double Comparison::error() const {
    if (!finite_) return std::numeric_limits<double>::quiet_NaN();
    return norm_ > 0 ? std::sqrt(difference_ / norm_) : std::sqrt(difference_);
}

bool acceptable(double error, double tolerance) { return error <= tolerance; }  // false for NaN

// Rounding the output costs 2^-12 (fp16) and 2^-9 (bf16) at most; P and the states are rounded as well.
double tolerance(DType dtype) { return dtype == DType::fp32 ? 2e-5 : dtype == DType::fp16 ? 2e-3 : 1e-2; }

std::vector<std::int64_t> sample_rows(std::int64_t rows, std::int64_t limit, std::uint64_t seed) {
    std::set<std::int64_t> chosen;
    if (rows <= limit) {
        for (std::int64_t row = 0; row < rows; ++row) chosen.insert(row);
    } else {
        chosen.insert({0, rows - 1});
        for (std::uint64_t i = 0; static_cast<std::int64_t>(chosen.size()) < limit; ++i) {
            chosen.insert(static_cast<std::int64_t>(random_bits(seed, i) % static_cast<std::uint64_t>(rows)));
        }
    }
    return {chosen.begin(), chosen.end()};
}

std::int64_t affordable_rows(std::int64_t work) {
    constexpr std::int64_t kBudget = 400'000'000;
    return std::max<std::int64_t>(8, kBudget / std::max<std::int64_t>(work, 1));
}

double gemm_error(std::int64_t m, std::int64_t n, std::int64_t k, const Input& a, const Input& b, const std::vector<float>& c) {
    const auto rows = sample_rows(m, affordable_rows(n * k), kRowSeed);
    const auto count = static_cast<Eigen::Index>(rows.size());
    Matrix left(count, k);
    for (Eigen::Index i = 0; i < count; ++i) {
        for (std::int64_t j = 0; j < k; ++j) left(i, j) = a(rows[static_cast<std::size_t>(i)] * k + j);
    }
    Comparison comparison(c);
    for (std::int64_t column = 0; column < n; column += kColumnsAtOnce) {
        const std::int64_t columns = std::min(kColumnsAtOnce, n - column);
        Matrix right(columns, k);
        for (std::int64_t i = 0; i < columns; ++i) {
            for (std::int64_t j = 0; j < k; ++j) right(i, j) = b((column + i) * k + j);
        }
        const Matrix product = left * right.transpose();
        for (Eigen::Index i = 0; i < count; ++i) {
            comparison.row(static_cast<std::size_t>(rows[static_cast<std::size_t>(i)] * n + column), list(product.row(i)));
        }
    }
    return comparison.error();
}

double conv_error(const Conv& conv, bool depthwise, const Input& image, const Input& weights, const std::vector<float>& out) {
    const std::int64_t p = conv.p(), q = conv.q(), k = depthwise ? conv.c : conv.k, taps = std::int64_t{conv.r} * conv.s;
    const std::int64_t depth = taps * conv.c;
    Matrix filters = Matrix::Zero(k, depth);
    for (std::int64_t o = 0; o < k; ++o) {
        for (std::int64_t i = 0; i < depth; ++i) {
            if (!depthwise) filters(o, i) = weights(o * depth + i);
            if (depthwise && i % conv.c == o) filters(o, i) = weights(i);
        }
    }
    Comparison comparison(out);
    for (const std::int64_t pixel : sample_rows(conv.n * p * q, affordable_rows(k * depth), kRowSeed)) {
        const std::int64_t n = pixel / (p * q), row = pixel % (p * q) / q, column = pixel % q;
        Vector patch = Vector::Zero(depth);
        for (std::int64_t i = 0; i < depth; ++i) {
            const std::int64_t tap = i / conv.c, y = row * conv.stride_h - conv.pad_h + tap / conv.s;
            const std::int64_t x = column * conv.stride_w - conv.pad_w + tap % conv.s;
            if (y < 0 || y >= conv.h || x < 0 || x >= conv.w) continue;
            patch(i) = image(((n * conv.h + y) * conv.w + x) * conv.c + i % conv.c);
        }
        comparison.row(static_cast<std::size_t>(pixel * k), list(filters * patch));
    }
    return comparison.error();
}

double attention_error(const Attention& p, const AttentionInputs& in, const std::vector<float>& out) {
    const std::int64_t dim = p.head_dim, work = std::int64_t{2} * p.seq_kv * dim;
    Comparison comparison(out);
    for (const std::int64_t row : sample_rows(std::int64_t{p.batch} * p.seq_q * p.heads, affordable_rows(8 * work), kRowSeed)) {
        const std::int64_t head = row % p.heads, token = row / p.heads % p.seq_q, sequence = row / p.heads / p.seq_q;
        const std::int64_t keys = visible_keys(static_cast<int>(token), p.seq_q, p.seq_kv, p.causal);
        const auto at = [&](std::int64_t key) { return ((sequence * p.seq_kv + key) * p.kv_heads + head / p.group()) * dim; };
        Vector query(dim), scores(keys), result = Vector::Zero(dim);
        for (std::int64_t d = 0; d < dim; ++d) query(d) = in.q(row * dim + d);
        for (std::int64_t key = 0; key < keys; ++key) {
            double score = 0;
            for (std::int64_t d = 0; d < dim; ++d) score += query(d) * in.k(at(key) + d);
            scores(key) = score / std::sqrt(static_cast<double>(dim));
        }
        if (keys > 0) scores = (scores.array() - scores.maxCoeff()).exp().matrix();
        for (std::int64_t key = 0; key < keys; ++key) {
            for (std::int64_t d = 0; d < dim; ++d) result(d) += scores(key) * in.v(at(key) + d);
        }
        if (keys > 0) result /= scores.sum();
        comparison.row(static_cast<std::size_t>(row * dim), list(result));
    }
    return comparison.error();
}

double embedding_error(const Embedding& p, const std::vector<long long>& indices, const Input& tables,
                       const std::vector<float>& out) {
    Comparison comparison(out);
    for (const std::int64_t bag : sample_rows(p.bags(), affordable_rows(16LL * p.pooling * p.dim), kRowSeed)) {
        const std::int64_t table = bag / p.batch, sample = bag % p.batch;
        std::vector<double> sum(static_cast<std::size_t>(p.dim), 0.0);
        for (std::int64_t i = 0; i < p.pooling; ++i) {
            const std::int64_t row = table * p.rows + indices[static_cast<std::size_t>(bag * p.pooling + i)];
            for (std::int64_t d = 0; d < p.dim; ++d) sum[static_cast<std::size_t>(d)] += tables(row * p.dim + d);
        }
        comparison.row(static_cast<std::size_t>((sample * p.tables + table) * p.dim), sum);
    }
    return comparison.error();
}

}  // namespace rafter::validate
