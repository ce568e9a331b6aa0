// Counts which of a kernel's buffers the L2 still holds when it has ended.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "sim/machine/machine.h"
#include "sim/program/access.h"

namespace rafter::machine {

class ResidencyCounter {
public:
    explicit ResidencyCounter(const KernelRun& run) {
        for (const auto& buffer : run.buffers) add_range(buffer.base, buffer.size);
        buffers_ = ranges_.size();
        for (const auto& range : run.warm) add_range(range.base, range.size);
        order_.resize(ranges_.size());
        for (std::size_t i = 0; i < order_.size(); ++i) order_[i] = i;
        std::stable_sort(order_.begin(), order_.end(),
                         [&](std::size_t a, std::size_t b) { return ranges_[a].first < ranges_[b].first; });
    }

    /// Buffers come first among ranges of equal start, so a line inside a buffer is counted for the buffer.
    void add(std::uint64_t line, bool home, bool dirty) {
        const auto after = std::upper_bound(order_.begin(), order_.end(), line,
                                            [&](std::uint64_t l, std::size_t i) { return l < ranges_[i].first; });
        for (auto it = order_.begin(); it != after; ++it) {
            Range& range = ranges_[*it];
            if (line < range.first || line >= range.last) continue;
            ++(home ? range.held.resident_lines : range.held.copied_lines);
            range.held.dirty_lines += dirty ? 1 : 0;
            return;
        }
    }

    void collect(KernelMeasurement& result) const {
        for (std::size_t i = 0; i < ranges_.size(); ++i) (i < buffers_ ? result.buffers : result.warm).push_back(ranges_[i].held);
    }

private:
    struct Range {
        std::uint64_t first, last;
        Residency held;
    };
    void add_range(std::int64_t base, std::int64_t size) {
        ranges_.push_back({static_cast<std::uint64_t>(base / program::kLineBytes),
                           static_cast<std::uint64_t>((base + size + program::kLineBytes - 1) / program::kLineBytes),
                           {}});
    }
    std::vector<Range> ranges_;
    std::vector<std::size_t> order_;
    std::size_t buffers_{0};
};

}  // namespace rafter::machine
