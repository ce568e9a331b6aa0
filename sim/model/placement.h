// Where a line lives in the sliced L2: which slice, and which set of its tags. Where the L2 has partitions that replicate, a line
// has its home in one of them and a copy in any other whose SMs read it (L2.6). Decoding a line brings the host's cache lines of
// its set near: whoever makes a request decodes it well before it is served.
#pragma once

#include <cstdint>
#include <vector>

#include "sim/core/error.h"
#include "sim/model/divider.h"
#include "sim/model/tag_array.h"

namespace rafter::model {

class Placement {
public:
    /// `partitions` that replicate; 1: every line has one place. Errors: InternalError when they do not divide the slices.
    explicit Placement(std::uint64_t slices, std::uint64_t partitions = 1)
        : interleave_(slices),
          partitions_(partitions),
          per_partition_(slices / partitions),
          tags_(slices, nullptr),
          sets_(slices, nullptr) {
        RAFTER_CHECK(per_partition_ * partitions == slices, "partitions must divide the slices");
        for (std::uint64_t slice = 0; slice < slices; ++slice) {
            partition_.push_back(static_cast<std::uint32_t>(slice / per_partition_));
            index_.push_back(static_cast<std::uint32_t>(slice % per_partition_));
        }
    }

    /// The tags of a slice; all slices have as many sets and ways.
    void watch(std::size_t slice, const TagArray& tags) {
        tags_[slice] = &tags;
        sets_[slice] = tags.address({});
    }

    struct Spot {
        std::uint32_t home{0}, near{0};  ///< slices: the line's own, and the one that the asking partition looks in first
        TagArray::Where where;           ///< in either
        std::uint64_t local{0};          ///< key of the line inside its slices
    };
    /// `side`: the partition that asks.
    Spot decode(std::uint64_t line, std::uint32_t side = 0) const {
        const auto [place, run] = interleave_(line);
        Spot spot;
        spot.home = spot.near = static_cast<std::uint32_t>(place);
        spot.local = run;
        if (partitions_ > 1) {
            spot.local = run * partitions_ + partition_[place];
            spot.near = counterpart(spot.home, side);
        }
        spot.where = tags_.front()->locate(spot.local);
        tags_.front()->prefetch(sets_[spot.near], spot.where);
        return spot;
    }

    std::uint64_t partitions() const { return partitions_; }
    std::uint32_t partition(std::size_t slice) const { return partition_[slice]; }
    /// The slice of partition `side` that holds copies of the lines of `slice`.
    std::uint32_t counterpart(std::uint32_t slice, std::uint32_t side) const {
        return index_[slice] + side * static_cast<std::uint32_t>(per_partition_);
    }
    /// The line with key `local` in `slice`, and whether that slice is its home.
    std::uint64_t line(std::uint32_t slice, std::uint64_t local) const {
        if (partitions_ == 1) return interleave_.unit(slice, local);
        return interleave_.unit(counterpart(slice, static_cast<std::uint32_t>(local % partitions_)), local / partitions_);
    }
    bool is_home(std::uint32_t slice, std::uint64_t local) const {
        return partitions_ == 1 || local % partitions_ == partition_[slice];
    }

private:
    Interleave interleave_;
    std::uint64_t partitions_, per_partition_;
    std::vector<std::uint32_t> partition_, index_;  ///< of each slice: its partition, and its place in it
    std::vector<const TagArray*> tags_;
    std::vector<const std::uint32_t*> sets_;  ///< first set of each slice
};

}  // namespace rafter::model
