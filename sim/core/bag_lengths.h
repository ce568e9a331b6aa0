// How many rows each bag of an embedding look-up takes: computed where it is needed, in constant memory and time.
#pragma once

#include <algorithm>
#include <cstdint>

#include "sim/core/mix.h"

namespace rafter {

/// Lengths uniform in [min, max], a pure function of (seed, bag). Bags come in blocks of kBlock; every second block holds the
/// complements (min + max - length) of the one before it, so that the total of any number of bags is known without adding them
/// all up. The lengths repeat after kPeriod bags. Legal: 0 <= min <= max < 2^31.
struct BagLengths {
    static constexpr std::int64_t kBlock = 64, kPeriod = std::int64_t{1} << 20;
    std::int64_t min{1}, max{1};
    std::uint64_t seed{1};

    std::int64_t operator()(std::int64_t bag) const {
        if (min == max) return min;
        const std::int64_t in_pair = bag % (2 * kBlock);
        const std::int64_t drawn = in_pair < kBlock ? bag : bag - kBlock;
        const std::uint64_t bits = mix(~seed, static_cast<std::uint64_t>(drawn % kPeriod)) >> 32;
        const auto above = static_cast<std::int64_t>((bits * static_cast<std::uint64_t>(max - min + 1)) >> 32);
        return in_pair < kBlock ? min + above : max - above;
    }
    /// Rows of all bags before `bag`; of all bags when `bag` is their number.
    std::int64_t before(std::int64_t bag) const {
        if (min == max) return bag * min;
        const std::int64_t pairs = bag / (2 * kBlock);
        std::int64_t total = pairs * kBlock * (min + max);
        for (std::int64_t b = pairs * 2 * kBlock; b < bag; ++b) total += (*this)(b);
        return total;
    }
    /// How many of the first `bags` hold a row. At most kPeriod lengths are looked at.
    std::int64_t filled(std::int64_t bags) const {
        if (min > 0 || max == 0) return min > 0 ? bags : 0;
        std::int64_t in_period = 0, in_rest = 0;
        for (std::int64_t b = 0; b < std::min(bags, kPeriod); ++b) {
            const int one = (*this)(b) > 0 ? 1 : 0;
            in_period += one;
            in_rest += b < bags % kPeriod ? one : 0;
        }
        return bags / kPeriod * in_period + in_rest;
    }
};

}  // namespace rafter
