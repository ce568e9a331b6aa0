// Division by a number known at configuration time: channels, slices and sets need not be powers of two.
#pragma once

#include <cstdint>

#include "sim/core/mix.h"

namespace rafter::model {

/// Exact quotient and remainder of 64-bit numerators below 2^63 by a 32-bit divisor, without a divide instruction.
class Divider {
public:
    explicit Divider(std::uint64_t divisor) : divisor_(divisor), reciprocal_(~std::uint64_t{0} / divisor) {}

    std::uint64_t quotient(std::uint64_t n) const {
        __extension__ using Wide = unsigned __int128;
        auto q = static_cast<std::uint64_t>((static_cast<Wide>(n) * reciprocal_) >> 64);
        while (n - q * divisor_ >= divisor_) ++q;  // the estimate is low by two at most
        return q;
    }
    std::uint64_t remainder(std::uint64_t n) const { return n - quotient(n) * divisor_; }
    std::uint64_t divisor() const { return divisor_; }

private:
    std::uint64_t divisor_, reciprocal_;
};

/// Spreads consecutive units over `n` places: each run of n consecutive units visits every place once, in an order
/// rotated by a hash of the run, so that power-of-two strides do not camp on one place. (M.1)
class Interleave {
public:
    explicit Interleave(std::uint64_t places) : by_(places) {}

    struct Spot {
        std::uint64_t place, local;  ///< which place, and the unit's index inside it
    };
    Spot operator()(std::uint64_t unit) const {
        const std::uint64_t run = by_.quotient(unit);
        const std::uint64_t rotation = (mix(run) >> 32) * by_.divisor() >> 32;
        std::uint64_t place = unit - run * by_.divisor() + rotation;
        if (place >= by_.divisor()) place -= by_.divisor();
        return {place, run};
    }
    /// The unit that sits at (place, local): the inverse of operator().
    std::uint64_t unit(std::uint64_t place, std::uint64_t local) const {
        const std::uint64_t rotation = (mix(local) >> 32) * by_.divisor() >> 32;
        const std::uint64_t offset = place >= rotation ? place - rotation : place + by_.divisor() - rotation;
        return local * by_.divisor() + offset;
    }
    std::uint64_t places() const { return by_.divisor(); }

private:
    Divider by_;
};

}  // namespace rafter::model
