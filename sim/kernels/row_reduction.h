// Softmax, layer norm, RMS norm and plain reductions over the rows of a matrix. Models the one-pass kernels of PyTorch and apex
// (vectorized_layer_norm_kernel, softmax_warp_forward): a row stays in registers. A row that does not fit is read twice, as
// cunn_SoftMaxForward does. CUDA twin: validate/twins/row_reduction.cu.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "sim/core/dtype.h"
#include "sim/program/kernel.h"

namespace rafter::kernels {

/// Buffers in order: input, residual stream (read and written), parameters (scale, shift), output.
class RowReduction : public program::Code {
public:
    static constexpr std::int64_t kThreads = 128;
    static constexpr std::int64_t kRowBytesInRegisters = 64 * 1024;  ///< a row of at most this is read once
    static constexpr std::int64_t kBytesPerCta = 16 * 1024;          ///< small rows share a CTA up to this

    struct Parameters {
        std::int64_t rows{}, cols{};
        DType dtype{DType::fp16};
        std::vector<std::int64_t> parameter_bytes;  ///< of each parameter tensor, read whole
        bool residual{false};                       ///< a second matrix is added to the input and written back
        bool keeps_rows{true};                      ///< false: one value a row is written
        std::int64_t fma{3}, sfu{0};                ///< per element
        std::int64_t rows_per_cta{1};
    };
    static std::int64_t rows_per_cta(std::int64_t rows, std::int64_t row_bytes, std::int64_t sms);
    static std::int64_t grid(const Parameters& p) { return ceil_div(p.rows, p.rows_per_cta); }
    static std::int64_t threads(const Parameters& p);

    explicit RowReduction(Parameters parameters) : p_(std::move(parameters)) {}
    program::TileProgram run(program::Cta& cta, const std::vector<program::Buffer>& buffers) const override;
    program::Repeats repeats(std::int64_t) const override { return {program::Repeat{0, p_.rows / p_.rows_per_cta, 1}}; }

private:
    program::Vector work(std::int64_t elements) const;
    Parameters p_;
};

}  // namespace rafter::kernels
