#include "sim/machine/steady_loop.h"

#include <algorithm>
#include <utility>

namespace rafter::machine {

void SteadyLoop::begin(model::Meter* meter, bool few) {
    meter_ = meter;
    few_ = few;
    resident_.clear();
    inside_ = 0;
    first_ = true;
    trust_ = model::Trust(few ? kReachOfFew : kReach);
    restart();
}

void SteadyLoop::restart() {
    trend_.clear();
    progress_ = target_ = lines_ = shared_ = 0;
}

void SteadyLoop::enter(Loop& loop) {
    loop = {};
    if (meter_ == nullptr) return;
    resident_.push_back(&loop);
    restart();
}

void SteadyLoop::leave(Loop& loop) {
    if (meter_ == nullptr) return;
    if (loop.inside) --inside_;
    std::erase(resident_, &loop);
    restart();
}

std::int64_t SteadyLoop::step(Loop& loop, std::int64_t step, std::int64_t steps, std::int64_t period, Fs now) {
    if (meter_ == nullptr) return 0;
    const std::int64_t lines = loop.issued - std::exchange(loop.issued_before, loop.issued);
    const std::int64_t shared = loop.shared - std::exchange(loop.shared_before, loop.shared);
    if (loop.skip > 0) return std::exchange(loop.skip, 0);
    loop.left = steps - step;
    const bool inside = step >= kWarm && loop.left > kMargin;
    if (inside != loop.inside || period != period_) {
        inside_ += static_cast<int>(inside) - static_cast<int>(loop.inside);
        loop.inside = inside;
        period_ = period;
        restart();
    }
    if (inside_ == 0 || inside_ != static_cast<std::int64_t>(resident_.size())) return 0;
    if (target_ == 0) target_ = inside_;
    lines_ += lines, shared_ += shared;
    if (++progress_ == target_ - inside_ + 1) round_begin_ = now, round_ = 0;
    if (progress_ > target_ - inside_) round_ += now - round_begin_;
    if (progress_ >= target_) close(period, now);
    return std::exchange(loop.skip, 0);
}

/// Lines that others have stored are written back: that will end.
bool SteadyLoop::drains(const model::Tally& sample) {
    const std::int64_t written = sample.traffic.hbm_write.value - sample.traffic.l2_write.value;
    return 50 * written > std::max((sample.traffic.hbm_read + sample.traffic.hbm_write).value, sample.hbm_capacity / 2);
}

void SteadyLoop::close(std::int64_t period, Fs now) {
    const std::int64_t each = (kWindow + period - 1) / period * period;
    const std::int64_t rounds = std::max<std::int64_t>(1, kLeast / (inside_ * each));
    target_ = progress_ + inside_ * each * rounds;
    model::Tally tally = meter_->read(now);
    tally.progress = progress_;
    tally.step_lines = lines_;
    tally.step_shared = shared_;
    tally.time += round_begin_ + round_ / inside_ - now;  // the mean over the CTAs: the last one's moment is a matter of luck
    trend_.mark(tally);
    if (trend_.windows() < 1) return;
    std::int64_t ahead = resident_.front()->left;
    for (const Loop* loop : resident_) ahead = std::min(ahead, loop->left);
    if (ahead < kMargin + kWorthwhile) return;
    // The first loop of a kernel runs longer: later ones then find in the L2 what they would have found.
    const auto sample = few_ ? trend_.settled(8, {}) : trend_.settled(first_ ? 4 : 2, trust_.last());
    if (!sample) return;
    trust_.use(*sample);
    first_ = false;
    const std::int64_t reach = drains(sample->tally) ? 1 : trust_.reach();
    ahead = std::min(ahead - kMargin, reach * sample->windows * each * rounds) / period * period;
    if (ahead < kWorthwhile) return;
    leave_out(sample->tally.of_steps(), ahead, now);
}

void SteadyLoop::leave_out(const model::Tally& sample, std::int64_t steps, Fs now) {
    for (Loop* loop : resident_) {
        loop->skip = steps;
        loop->lines += steps * sample.lines / sample.progress;
    }
    meter_->leave_out(sample, steps * inside_, sample.progress, now);
    restart();
}

}  // namespace rafter::machine
