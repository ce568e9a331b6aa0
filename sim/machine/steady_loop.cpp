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
    trust_.reset();
    restart();
}

void SteadyLoop::restart() {
    trend_.clear();
    progress_ = target_ = 0;
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
    if (++progress_ == target_ - inside_ + 1) round_begin_ = now, round_ = 0;
    if (progress_ > target_ - inside_) round_ += now - round_begin_;
    if (progress_ >= target_) close(period, now);
    return std::exchange(loop.skip, 0);
}

void SteadyLoop::close(std::int64_t period, Fs now) {
    const std::int64_t each = (kWindow + period - 1) / period * period;
    const std::int64_t rounds = std::max<std::int64_t>(1, kLeast / (inside_ * each));
    target_ = progress_ + inside_ * each * rounds;
    model::Tally tally = meter_->read(now);
    tally.progress = progress_;
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
    ahead = std::min(ahead - kMargin, trust_.reach() * sample->windows * each * rounds) / period * period;
    leave_out(sample->tally, ahead, now);
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
