#include "sim/machine/steady_grid.h"

#include <algorithm>

#include "sim/program/access.h"

namespace rafter::machine {

void SteadyGrid::begin(const program::Code& code, std::int64_t grid, std::int64_t slots, model::Meter* meter) {
    code_ = &code;
    meter_ = meter;
    slots_ = std::max<std::int64_t>(1, slots);
    units_ = unit_lines_ = left_out_ = until_ = 0;
    grid_ = grid;
    for (Level& level : levels_) {
        level.repeat = {}, level.next = kNever, level.known = {};
        level.trend.clear();
        level.trust.reset();
    }
    next_ = meter == nullptr ? kNever : 0;
}

/// Data that the L2 keeps until it is used again must be there then.
bool SteadyGrid::worthwhile(const program::Repeat& repeat, std::int64_t window) const {
    const std::int64_t held = meter_->l2_lines() * program::kLineBytes;
    const bool kept = repeat.reuse_bytes > 0 && repeat.reuse_bytes < held + held / 2;
    return !kept && repeat.end - repeat.first >= 4 * window;
}

// Levels that go on keep their marks.
void SteadyGrid::enter(std::int64_t unit) {
    const program::Repeats repeats = code_->repeats(unit);
    until_ = kNever;
    std::int64_t last = grid_;
    for (const program::Repeat& repeat : repeats) last = std::max(last, repeat.end);
    for (std::size_t i = 0; i < levels_.size(); ++i) {
        const program::Repeat& repeat = repeats[i];
        if (repeat.period == 0) continue;
        until_ = std::min(until_, std::max(repeat.end, unit + 1));
        Level& level = levels_[i];
        if (level.repeat == repeat) continue;
        remember(level, level.repeat.period == repeat.period);
        level.repeat = repeat;
        level.window = ceil_div(slots_, repeat.period) * repeat.period;
        level.next = worthwhile(repeat, level.window) ? repeat.first + level.window : kNever;
        level.tail = repeat.end + level.window < last ? 0 : slots_;
        level.trend.clear();
    }
}

/// A stretch has ended: what was seen in it serves the next one, if that is like it.
void SteadyGrid::remember(Level& level, bool like) {
    if (!like) level.trust.reset();
    const model::Sample seen = level.trend.whole();
    const bool more =
        like && level.known.windows > 0 && seen.windows > 0 && model::agree(level.known.tally, seen.tally, 2 * model::kTolerance);
    if (!like) level.known = {};
    if (more) {
        level.known.tally += seen.tally;
        level.known.windows += seen.windows;
    } else if (like && seen.windows > 0) {
        level.known = seen;
    }
}

std::int64_t SteadyGrid::check(std::int64_t unit, std::int64_t stride, Fs now) {
    if (unit >= until_) enter(unit);
    std::int64_t cut = 0;
    for (Level& level : levels_) {
        if (unit < level.next || unit >= level.repeat.end || cut > 0) continue;
        model::Tally tally = meter_->read(now);
        tally.progress = tally.lines;
        tally.units = units_;
        tally.unit_lines = unit_lines_;
        level.trend.mark(tally);
        level.next += ceil_div(unit + 1 - level.next, level.window) * level.window;
        cut = try_cut(level, unit, stride, tally);
    }
    next_ = until_;
    for (const Level& level : levels_) next_ = std::min(next_, level.next);
    return cut;
}

// Until the L2 has been filled once, hits still become more (gathers) and dirty lines are not yet written back (which costs time
// where the DRAM is busy).
bool SteadyGrid::l2_settled(const Level& level, const model::Tally& sample, const model::Tally& so_far) const {
    if (so_far.fills > meter_->l2_lines() + meter_->l2_lines() / 16) return true;
    if (static_cast<double>(sample.fills) < model::kTolerance * static_cast<double>(sample.lines)) return true;
    // What is stored now will be written back once there is no room.
    const auto moved =
        static_cast<double>(sample.traffic.hbm_read.value + std::max(sample.traffic.hbm_write, sample.traffic.l2_write).value);
    return !level.repeat.gathers && moved < 0.4 * meter_->hbm_bytes(sample.time);
}

std::int64_t SteadyGrid::try_cut(Level& level, std::int64_t unit, std::int64_t stride, const model::Tally& so_far) {
    const std::int64_t room = level.repeat.end - unit - level.tail;
    if (room < level.window) return 0;
    const auto sample = level.trend.settled(4, level.known);
    if (!sample || sample->tally.units == 0 || !l2_settled(level, sample->tally, so_far)) return 0;
    const std::int64_t near = std::min(room, level.trust.reach() * sample->windows * level.window), period = level.repeat.period;
    const std::int64_t cut = level.repeat.uniform ? model::choose_cut(near, period, slots_) : near / period * period;
    if (stride > 0 && cut % stride != 0) return 0;
    if (cut == 0) return 0;
    level.trust.use(*sample);
    level.known = *sample;
    leave_out(sample->tally, cut, so_far.clock);
    level.trend.clear();
    return cut;
}

void SteadyGrid::leave_out(const model::Tally& sample, std::int64_t cut, Fs now) {
    meter_->leave_out(sample, cut * sample.unit_lines, sample.units * sample.lines, now);
    units_ += cut;
    unit_lines_ += cut * sample.unit_lines / sample.units;
    left_out_ += cut;
}

}  // namespace rafter::machine
