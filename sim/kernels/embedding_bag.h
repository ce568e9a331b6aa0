// Embedding look-up with sum pooling. Models FBGEMM's split_embedding_codegen_forward: a warp per bag, the indices of a bag
// first, then its rows, several in flight. CUDA twin: validate/twins/embedding_bag.cu.
#pragma once

#include <cstdint>
#include <vector>

#include "sim/core/dtype.h"
#include "sim/kernels/index_source.h"
#include "sim/kernels/layout.h"
#include "sim/program/kernel.h"

namespace rafter::kernels {

/// Buffers in order: indices int64 [table][sample][pooling], tables (one buffer, or one each), output [sample][table][dim].
class EmbeddingBag : public program::Code {
public:
    static constexpr std::int64_t kWarps = 8;  ///< bags at a time
    static constexpr std::int64_t kThreads = kWarps * 32;
    static constexpr std::int64_t kBagsPerCta = 32;
    static constexpr std::int64_t kRowsInFlight = 8;  ///< per bag: the unrolled loop
    static constexpr std::int64_t kIndexBytes = 8;

    struct Parameters {
        std::int64_t tables{1}, rows{}, dim{}, batch{}, pooling{1};
        DType weights{DType::fp32}, out{DType::fp32};
        bool separate_tables{false};
        std::int64_t bags() const { return tables * batch; }
    };
    static std::int64_t grid(const Parameters& p) { return ceil_div(p.bags(), kBagsPerCta); }

    EmbeddingBag(const Parameters& parameters, const IndexSource& indices)
        : p_(parameters), indices_(indices), table_(Matrix::packed(parameters.dim, parameters.weights)) {}
    program::TileProgram run(program::Cta& cta, const std::vector<program::Buffer>& buffers) const override;
    program::Repeats repeats(std::int64_t unit) const override;

private:
    program::Ticket load_row(program::Cta& cta, const std::vector<program::Buffer>& buffers, std::int64_t bag,
                             std::int64_t k) const;
    void store_bags(program::Cta& cta, const program::Buffer& out, std::int64_t from, std::int64_t to) const;
    program::Vector pool(std::int64_t rows, std::int64_t deep) const;

    Parameters p_;
    IndexSource indices_;
    Matrix table_;
};

}  // namespace rafter::kernels
