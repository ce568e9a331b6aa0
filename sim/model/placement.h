// Where a line lives in the sliced L2: which slice, and which set of its tags. Decoding a line brings the host's cache lines of
// that set near: whoever makes a request decodes it well before it is served.
#pragma once

#include <cstdint>
#include <vector>

#include "sim/model/divider.h"
#include "sim/model/tag_array.h"

namespace rafter::model {

class Placement {
public:
    explicit Placement(std::uint64_t slices) : interleave_(slices), tags_(slices, nullptr), sets_(slices, nullptr) {}

    /// The tags of a slice; all slices have as many sets and ways.
    void watch(std::size_t slice, const TagArray& tags) {
        tags_[slice] = &tags;
        sets_[slice] = tags.address({});
    }

    struct Spot {
        std::uint32_t slice{0};
        TagArray::Where where;
        std::uint64_t local{0};  ///< index of the line inside its slice
    };
    Spot decode(std::uint64_t line) const {
        const auto [place, local] = interleave_(line);
        const TagArray& tags = *tags_.front();
        const Spot spot{static_cast<std::uint32_t>(place), tags.locate(local), local};
        tags.prefetch(sets_[place], spot.where);
        return spot;
    }

private:
    Interleave interleave_;
    std::vector<const TagArray*> tags_;
    std::vector<const std::uint32_t*> sets_;  ///< first set of each slice
};

}  // namespace rafter::model
