#include "sim/model/steady.h"

#include <algorithm>
#include <cmath>

namespace rafter::model {

namespace {

double ratio(std::int64_t a, std::int64_t b) { return b == 0 ? 0.0 : static_cast<double>(a) / static_cast<double>(b); }

/// The multiple of `quantum`, at most `room` and at least 7/8 of the largest, that is nearest to a multiple of `other`.
std::int64_t nearest(std::int64_t room, std::int64_t quantum, std::int64_t other) {
    const std::int64_t most = room / quantum;
    std::int64_t best = 0, best_off = other;
    for (std::int64_t n = most; n > 0 && n >= most - most / 8 && best_off > 0; --n) {
        const std::int64_t over = n * quantum % other, off = std::min(over, other - over);
        if (off < best_off) best = n, best_off = off;
    }
    return best * quantum;
}

}  // namespace

bool agree(const Tally& left, const Tally& right, double tolerance) {
    const auto near = [tolerance](double x, double y, double scale) { return std::abs(x - y) <= tolerance * scale; };
    if (left.progress <= 0 || right.progress <= 0) return false;
    const Tally a = left.step_lines > 0 ? left.of_steps() : left, b = right.step_lines > 0 ? right.of_steps() : right;
    const double time_a = ratio(a.time, a.progress), time_b = ratio(b.time, b.progress);
    const double lines_a = ratio(a.lines, a.progress), lines_b = ratio(b.lines, b.progress);
    const auto hbm = [](const Tally& t) { return ratio((t.traffic.hbm_read + t.traffic.hbm_write).value, t.progress); };
    const double unit_a = ratio(a.unit_lines, a.units), unit_b = ratio(b.unit_lines, b.units);
    return near(time_a, time_b, time_a) && near(lines_a, lines_b, lines_a) && near(unit_a, unit_b, unit_a) &&
           near(ratio(a.fills, a.progress), ratio(b.fills, b.progress), lines_a) &&
           near(hbm(a), hbm(b), 4 * std::max(hbm(a), ratio(a.hbm_capacity, 2 * a.progress)));
}

void Trend::mark(const Tally& tally) {
    if (marks_.size() == kMost) marks_.erase(marks_.begin());
    marks_.push_back(tally);
}

Tally Trend::between(std::int64_t from, std::int64_t to) const {
    const Tally& begin = marks_[static_cast<std::size_t>(from)];
    Tally stretch = marks_[static_cast<std::size_t>(to)] - begin;
    stretch.clock = begin.clock;
    return stretch;
}

bool Trend::steady(std::int64_t first, std::int64_t span, double tolerance) const {
    const std::int64_t half = span / 2, quarter = span / 4;
    if (!agree(between(first, first + half), between(first + half, first + span), tolerance)) return false;
    const Tally all = between(first, first + span);
    for (std::int64_t i = 0; i < 4 && quarter > 0; ++i) {
        const std::int64_t from = first + i * quarter;
        if (!agree(all, between(from, from + quarter), 2.5 * tolerance)) return false;
    }
    return true;
}

std::optional<Sample> Trend::settled(std::int64_t least, const Sample& known) const {
    for (std::int64_t span = windows() / 4 * 4; span >= std::max<std::int64_t>(least, 4); span -= 4) {
        const double tolerance = span >= kLong ? long_tolerance_ : tolerance_;
        if (steady(windows() - span, span, tolerance)) return Sample{between(windows() - span, windows()), span};
    }
    const double pair = least <= 2 ? tolerance_ : tolerance_ / 4;
    if (least <= 4 && windows() >= 2 && steady(windows() - 2, 2, pair)) return Sample{between(windows() - 2, windows()), 2};
    if (windows() < 1 || known.windows == 0) return std::nullopt;
    const bool evened = known.windows + windows() >= kLong;
    Sample here = long_tolerance_ > tolerance_ && evened ? whole() : Sample{between(windows() - 1, windows()), 1};
    if (!agree(known.tally, here.tally, evened ? long_tolerance_ : tolerance_)) return std::nullopt;
    here.tally += known.tally;
    here.windows += known.windows;
    return here;
}

Sample Trend::whole() const { return windows() < 1 ? Sample{} : Sample{between(0, windows()), windows()}; }

void Trust::use(const Sample& sample) {
    const bool holds = agree(last_.tally, sample.tally, 4 * kTolerance);
    if (last_.windows > 0) reach_ = holds ? std::min(2 * reach_, kMost) : std::max(reach_ / 2, first_);
    last_ = sample;
}

std::int64_t choose_cut(std::int64_t room, std::int64_t period, std::int64_t slots) {
    constexpr std::int64_t kMany = 100;
    return room / slots > kMany ? nearest(room, period, slots) : nearest(room, slots, period);
}

}  // namespace rafter::model
