// What the kernels must compute, in double precision with Eigen, and how far a result is from it.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "validate/host/tensor.h"
#include "validate/twins/parameters.h"

namespace rafter::validate {

/// Compares rows of an output with a reference as they come; a result that is not finite anywhere fails.
class Comparison {
public:
    /// `actual`: the whole output.
    explicit Comparison(const std::vector<float>& actual);
    void row(std::size_t offset, const std::vector<double>& expected);
    /// ||actual - expected|| / ||expected|| over the rows seen (Frobenius); NaN when the output holds NaN or infinity.
    double error() const;

private:
    const std::vector<float>& actual_;
    bool finite_;
    double difference_{0}, norm_{0};
};

/// NaN fails.
bool acceptable(double error, double tolerance);
/// Largest relative Frobenius error of a result whose inputs and output are `dtype` and whose sums are fp32.
double tolerance(DType dtype);

/// At most `limit` of `rows` rows: all, or the first, the last and random others (sorted, distinct).
std::vector<std::int64_t> sample_rows(std::int64_t rows, std::int64_t limit, std::uint64_t seed);
/// How many rows of `work` multiply-adds each a host reference can afford.
std::int64_t affordable_rows(std::int64_t work);

using Input = std::function<double(std::int64_t)>;

double gemm_error(std::int64_t m, std::int64_t n, std::int64_t k, const Input& a, const Input& b, const std::vector<float>& c);
double conv_error(const Conv& conv, bool depthwise, const Input& image, const Input& weights, const std::vector<float>& out);

struct AttentionInputs {
    Input q, k, v;  ///< k and v by (sequence, key, kv_head, column) of a cache of seq_kv rows
};
double attention_error(const Attention& p, const AttentionInputs& in, const std::vector<float>& out);

double embedding_error(const Embedding& p, const std::vector<long long>& indices, const Input& tables,
                       const std::vector<float>& out);

struct RecurrentInputs {
    Input x, weights, initial;
};
/// The states are rounded to `dtype` from step to step, as on the device. `states`: [steps + 1][batch][hidden].
double recurrent_error(const Recurrent& p, DType dtype, const RecurrentInputs& in, const std::vector<float>& states);

double point_error(PointOp op, std::int64_t elements, const Input& a, const Input& b, const std::vector<float>& out);
double rows_error(RowOp op, std::int64_t rows, std::int64_t cols, const Input& in, const Input& scale, const Input& shift,
                  const std::vector<float>& out);

}  // namespace rafter::validate
