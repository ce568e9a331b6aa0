// Adds the partial sums of a split-K GEMM and applies its epilogue. Models cublasLt::splitKreduce_kernel.
// CUDA twin: validate/twins/split_k_reduce.cu.
#pragma once

#include <cstdint>
#include <vector>

#include "sim/kernels/epilogue.h"
#include "sim/program/kernel.h"

namespace rafter::kernels {

/// Buffers in order: workspace fp32 [split][rows][n], bias (if any), residual (if any), output.
class SplitKReduce : public program::Code {
public:
    static constexpr std::int64_t kThreads = 128;
    static constexpr std::int64_t kElements = kThreads * 8;  ///< accumulators per CTA

    /// `rows` = batch x m.
    SplitKReduce(std::int64_t rows, std::int64_t n, std::int64_t splits, const Epilogue& epilogue)
        : elements_(rows * n), n_(n), splits_(splits), epilogue_(epilogue) {}
    static std::int64_t grid(std::int64_t rows, std::int64_t n) { return ceil_div(rows * n, kElements); }
    program::TileProgram run(program::Cta& cta, const std::vector<program::Buffer>& buffers) const override;
    program::Repeats repeats(std::int64_t) const override { return {program::Repeat{0, elements_ / kElements, 1}}; }

private:
    program::Ticket load_operands(program::Cta& cta, const std::vector<program::Buffer>& buffers, std::int64_t from,
                                  std::int64_t count) const;
    std::int64_t elements_, n_, splits_;
    Epilogue epilogue_;
};

}  // namespace rafter::kernels
