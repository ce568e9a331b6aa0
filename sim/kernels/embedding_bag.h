// Embedding look-up with pooling. Models FBGEMM's split_embedding_codegen_forward: a warp per bag, the indices of a bag
// first, then its rows, several in flight. CUDA twin: validate/twins/embedding_bag.cu.
#pragma once

#include <array>
#include <cstdint>
#include <utility>
#include <vector>

#include "sim/core/bag_lengths.h"
#include "sim/core/dtype.h"
#include "sim/kernels/index_source.h"
#include "sim/kernels/layout.h"
#include "sim/program/kernel.h"

namespace rafter::kernels {

struct Bag;

/// Buffers in order: indices int64 [table][sample][length], offsets int64 of the bags (when their lengths differ), fp32 weights
/// of the look-ups (when weighted), tables (one buffer, or one each), output [sample][table][dim].
class EmbeddingBag : public program::Code {
public:
    static constexpr std::int64_t kWarps = 8;  ///< bags at a time
    static constexpr std::int64_t kThreads = kWarps * 32;
    static constexpr std::int64_t kBagsPerCta = 32;
    static constexpr std::int64_t kRowsInFlight = 8;  ///< per bag: the unrolled loop
    static constexpr std::int64_t kIndexBytes = 8;
    static constexpr std::int64_t kWeightBytes = 4;

    struct Parameters {
        std::int64_t tables{1};           ///< in the buffers
        std::int64_t first{0}, count{1};  ///< tables that this launch looks up
        std::int64_t rows{}, dim{}, batch{};
        std::vector<std::int64_t> row_offsets;  ///< rows before each table in the buffer of all, when tables differ
        BagLengths lengths;
        bool offsets{false};   ///< the kernel reads where bags begin
        bool weighted{false};  ///< each row times a weight
        bool mean{false};      ///< the sum over the number of rows
        DType weights{DType::fp32}, out{DType::fp32};
        bool separate_tables{false};
        std::int64_t rows_before(std::int64_t table) const {
            return row_offsets.empty() ? table * rows : row_offsets[static_cast<std::size_t>(table)];
        }
        std::int64_t bags() const { return count * batch; }  ///< of this launch
    };
    static std::int64_t grid(const Parameters& p) { return ceil_div(p.bags(), kBagsPerCta); }

    /// `indices`: one source for all tables, or one each.
    EmbeddingBag(Parameters parameters, std::vector<IndexSource> indices)
        : p_(std::move(parameters)), indices_(std::move(indices)), table_(Matrix::packed(p_.dim, p_.weights)) {}
    program::TileProgram run(program::Cta& cta, const std::vector<program::Buffer>& buffers) const override;
    program::Repeats repeats(std::int64_t unit) const override;

private:
    program::Ticket load_row(program::Cta& cta, const std::vector<program::Buffer>& buffers, const Bag& bag,
                             std::int64_t k) const;
    void store_bags(program::Cta& cta, const program::Buffer& out, std::int64_t from, std::int64_t to) const;
    program::Vector pool(std::int64_t rows, std::int64_t deep) const;
    program::Vector divide(std::int64_t bags) const;

    Parameters p_;
    std::vector<IndexSource> indices_;
    Matrix table_;
};

struct Bag {
    std::int64_t table{}, position{}, length{};  ///< position: of its first look-up among those of the table
};
using BagGroup = std::array<Bag, EmbeddingBag::kWarps>;

/// Bags [from, to), at most a group; numbered table by table, over all tables of the buffers.
BagGroup bags_of(const EmbeddingBag::Parameters& p, std::int64_t from, std::int64_t to);
/// The row of look-up `k` of a bag, in the buffer of its table.
std::int64_t row_of(const EmbeddingBag::Parameters& p, const std::vector<IndexSource>& indices, const Bag& bag, std::int64_t k);
/// Indices and weights of the look-ups of bags [from, to), from the first buffers of an EmbeddingBag.
program::Ticket load_lists(const EmbeddingBag::Parameters& p, program::Cta& cta, const std::vector<program::Buffer>& buffers,
                           std::int64_t from, std::int64_t to);

}  // namespace rafter::kernels
