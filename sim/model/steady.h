// Has something that repeats settled, and how much of the rest may be left out? docs/model/steady.md, equations (T.1)-(T.4).
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "sim/model/tally.h"

namespace rafter::model {

/// Two stretches agree when their time per progress, requests per progress and per unit of work, and the share of requests that
/// fill the L2 differ by no more than `tolerance`, and their HBM bytes by four times that (of at least half of what the DRAM
/// could move: less than that costs no time). (T.1)
inline constexpr double kTolerance = 0.005;
bool agree(const Tally& a, const Tally& b, double tolerance = kTolerance);

/// A steady stretch; the clock of its tally is that of its beginning. No windows: none.
struct Sample {
    Tally tally;
    std::int64_t windows{0};
};

/// The machine's tallies at the ends of equal windows, newest last; the last kMost are kept.
class Trend {
public:
    static constexpr std::size_t kMost = 65;
    static constexpr std::int64_t kLong = 8;
    /// `long_tolerance`: of kLong windows and more, whose noise evens out.
    explicit Trend(double tolerance = kTolerance, double long_tolerance = 2 * kTolerance)
        : tolerance_(tolerance), long_tolerance_(long_tolerance) {
        marks_.reserve(kMost);
    }
    void clear() { marks_.clear(); }
    void mark(const Tally& tally);
    /// All windows since clear().
    Sample whole() const;
    std::int64_t windows() const { return static_cast<std::int64_t>(marks_.size()) - 1; }
    /// The longest run of the latest windows, a multiple of four and `least` or more, that is steady: its halves agree, and its
    /// quarters to 2.5 times the tolerance. Or two windows, when `least` allows or they agree to a quarter of the tolerance
    /// (T.2). Or what there is, when it agrees with what is `known` from before (T.3).
    std::optional<Sample> settled(std::int64_t least, const Sample& known) const;

private:
    Tally between(std::int64_t from, std::int64_t to) const;
    bool steady(std::int64_t first, std::int64_t span, double tolerance) const;
    double tolerance_, long_tolerance_;
    std::vector<Tally> marks_;
};

/// How far samples may be carried: so many times their own length. Each sample is held against the next one; what holds makes the
/// reach longer. (T.3)
class Trust {
public:
    explicit Trust(std::int64_t first) : first_(first), reach_(first) {}
    void reset() { *this = Trust(first_); }
    std::int64_t reach() const { return reach_; }
    /// A sample is about to be carried on.
    void use(const Sample& sample);
    const Sample& last() const { return last_; }

private:
    static constexpr std::int64_t kMost = 512;
    std::int64_t first_, reach_;
    Sample last_;
};

/// How many of the next `room` units to leave out (T.4): whole rounds of `slots` units, so that the last wave is as full as it
/// was, and as near to whole periods as can be; beyond a hundred rounds whole periods, as near to whole rounds as can be. At
/// least seven eighths of what there is room for, else 0.
std::int64_t choose_cut(std::int64_t room, std::int64_t period, std::int64_t slots);

}  // namespace rafter::model
