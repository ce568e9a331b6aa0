// The backward pass of embedding look-ups. Both kernels stand for FBGEMM's: gradients added row by row with atomics, and
// split_embedding_backward_*_kernel, which walks the look-ups sorted by row and updates each touched row once.
#pragma once

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "sim/kernels/embedding_bag.h"

namespace rafter::kernels {

enum class Optimizer : std::uint8_t { none, sgd, rowwise_adagrad };

/// Adds the gradient of a bag to each of its rows at the L2. Buffers in order: indices int64, offsets int64 (when lengths
/// differ), fp32 weights (when weighted), gradients [sample][table][dim], the rows added to [table][row][dim].
class ScatterGradient : public program::Code {
public:
    ScatterGradient(EmbeddingBag::Parameters parameters, std::vector<IndexSource> indices)
        : p_(std::move(parameters)), indices_(std::move(indices)) {}
    program::TileProgram run(program::Cta& cta, const std::vector<program::Buffer>& buffers) const override;

private:
    EmbeddingBag::Parameters p_;
    std::vector<IndexSource> indices_;
};

/// The look-ups sorted by row: 4 B a look-up, 16 B a touched row.
struct SortedLookups {
    /// Look-ups that one CTA takes; a row with more is split over CTAs, which add partial sums.
    static constexpr std::int64_t kMostOfCta = 1024;
    static constexpr std::int64_t kMost = std::int64_t{1} << 23;

    struct Segment {
        std::int64_t row{};   ///< in the buffer of all tables
        std::int64_t from{};  ///< its first look-up in `bags`
    };
    struct Share {
        std::int64_t from{}, segment{};  ///< first look-up; the segment it is in
        std::int64_t sum{-1};            ///< of a split segment: its row of partial sums
    };
    std::vector<std::uint32_t> bags;  ///< of each look-up
    std::vector<Segment> segments;    ///< and one past the last
    std::vector<Share> shares;        ///< of CTAs; and one past the last
    std::int64_t split{0};            ///< segments that several CTAs share

    /// Errors: none; more than kMost look-ups or bags are the caller's to refuse.
    SortedLookups(const EmbeddingBag::Parameters& p, const std::vector<IndexSource>& indices);
    std::int64_t rows() const { return static_cast<std::int64_t>(segments.size()) - 1; }
    std::int64_t grid() const { return static_cast<std::int64_t>(shares.size()) - 1; }

private:
    void share_out();
};

/// Buffers in order: places of the sorted look-ups int32, rows and starts of the segments (12 B each), fp32 weights (when
/// weighted), gradients [sample][table][dim], fp32 partial sums [segment that is split][dim], then tables and, for Adagrad, fp32
/// state [row]; without an optimizer the gradients of the touched rows [segment][dim].
class UpdateRows : public program::Code {
public:
    static constexpr std::int64_t kPlaceBytes = 4, kSegmentBytes = 12, kStateBytes = 4;

    UpdateRows(EmbeddingBag::Parameters parameters, Optimizer optimizer, std::shared_ptr<const SortedLookups> sorted)
        : p_(std::move(parameters)), optimizer_(optimizer), sorted_(std::move(sorted)) {}
    program::TileProgram run(program::Cta& cta, const std::vector<program::Buffer>& buffers) const override;
    // No unit is like another: how long the rows of a CTA are decides what it costs.

private:
    struct Slice;
    program::Ticket load_lists(program::Cta& cta, const std::vector<program::Buffer>& buffers, const Slice& s) const;
    program::Ticket load_rows(program::Cta& cta, const std::vector<program::Buffer>& buffers, const Slice& s) const;
    void store_rows(program::Cta& cta, const std::vector<program::Buffer>& buffers, const Slice& s) const;
    program::Vector step(std::int64_t rows) const;

    EmbeddingBag::Parameters p_;
    Optimizer optimizer_;
    std::shared_ptr<const SortedLookups> sorted_;
};

}  // namespace rafter::kernels
