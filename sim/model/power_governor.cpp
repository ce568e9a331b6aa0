#include "sim/model/power_governor.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace rafter::model {

namespace {

constexpr int kMostRuns = 6;

double hertz(Hertz f) { return static_cast<double>(f.value); }

double square(double x) { return x * x; }

double bytes(Bytes a, Bytes b) { return static_cast<double>((a + b).value); }

/// Time of a part at another clock: one share stretches, the other does not.
double seconds_at(const Part& part, Hertz ran, Hertz clock) {
    if (part.seconds <= 0) return 0;
    const double stretch = hertz(std::min(part.top, ran)) / hertz(std::min(part.top, clock));
    return part.seconds * (1 - part.share + part.share * stretch);
}

}  // namespace

double PowerModel::voltage(Hertz clock) const {
    const double gigahertz = (hertz(clock) - hertz(power_->reference)) * 1e-9;
    return std::max(power_->voltage_min, 1 + power_->voltage_per_ghz * gigahertz);
}

stats::Energy PowerModel::energy(const Activity& work) const {
    const config::Power& p = *power_;
    const double t = seconds(work.time), core = square(voltage(work.clock)), data = core * activity_;
    const auto& m = work.traffic;
    const auto& lanes = work.lanes;
    stats::Energy e;
    e.static_j = static_cast<double>(p.static_w) * t;
    e.clock_j = core * static_cast<double>(p.clock_w) * hertz(work.clock) / hertz(p.reference) * t;
    if (const auto flop = p.tensor_flop_j.find(work.dtype); flop != p.tensor_flop_j.end())
        e.tensor_j = data * flop->second * work.tensor_flops;
    e.vector_j =
        data *
        (p.fp64_flop_j * static_cast<double>(lanes.fp64_flops) + p.fp32_flop_j * static_cast<double>(lanes.fp32_flops) +
         p.fp16_flop_j * static_cast<double>(lanes.fp16_flops) + p.lane_operation_j * static_cast<double>(lanes.operations));
    e.l1_j = data * p.l1_byte_j * bytes(m.l1_read, m.l1_write);
    e.l2_j = data * p.l2_byte_j * bytes(m.l2_read, m.l2_write);
    e.dram_j = p.dram_byte_j * bytes(m.hbm_read, m.hbm_write);
    e.link_j = p.link_byte_j * bytes(m.link_read, m.link_write);
    return e;
}

double Sample::seconds() const {
    double sum = 0;
    for (const Part& part : parts) sum += part.seconds;
    return sum;
}

ClockSearch::ClockSearch(const PowerModel& model, Hertz top) : model_(model), top_(top), found_(top) {}

double ClockSearch::watts_at(const Sample& sample, Hertz clock) const {
    const config::Power& p = model_.power();
    double joules = 0, seconds = 0;
    for (const Part& part : sample.parts) {
        if (part.seconds <= 0) continue;
        const Hertz f = std::min(part.top, clock);
        const double t = seconds_at(part, sample.clock, clock);
        const double core = part.core_joules + static_cast<double>(p.clock_w) * hertz(f) / hertz(p.reference) * t;
        joules += static_cast<double>(p.static_w) * t + part.fixed_joules + square(model_.voltage(f)) * core;
        seconds += t;
    }
    return seconds > 0 ? joules / seconds : static_cast<double>(p.static_w);
}

Hertz ClockSearch::down(Hertz clock, std::int64_t steps) const {
    const std::int64_t step = model_.power().clock_step.value;
    const std::int64_t below = ceil_div(top_.value - clock.value, step) + steps;
    return std::max(model_.power().clock_min, Hertz(top_.value - below * step));
}

/// The highest clock whose estimated power is within the limit, by halving: power rises with the clock.
Hertz ClockSearch::estimate(const Sample& sample) const {
    const auto limit = static_cast<double>(model_.power().limit_w);
    std::int64_t good = ceil_div(top_.value - model_.power().clock_min.value, model_.power().clock_step.value), bad = -1;
    while (good - bad > 1) {
        const std::int64_t middle = (good + bad) / 2;
        (watts_at(sample, down(top_, middle)) <= limit ? good : bad) = middle;
    }
    return down(top_, good);
}

/// Two runs tell how much of the time stretches.
void ClockSearch::learn(Sample& sample) const {
    if (!before_ || before_->clock == sample.clock || before_->parts.size() != sample.parts.size()) return;
    for (std::size_t i = 0; i < sample.parts.size(); ++i) {
        Part& part = sample.parts[i];
        const Part& old = before_->parts[i];
        if (part.seconds <= 0) continue;
        const double stretch = hertz(std::min(part.top, before_->clock)) / hertz(std::min(part.top, sample.clock));
        if (std::abs(stretch - 1) < 1e-9) continue;
        part.share = std::clamp((old.seconds / part.seconds - 1) / (1 / stretch - 1), 0.0, 1.0);
    }
}

std::optional<Hertz> ClockSearch::next(const Sample& run) {
    Sample sample = run;
    learn(sample);
    const Hertz least = model_.power().clock_min;
    const bool within = watts(sample) <= static_cast<double>(model_.power().limit_w);
    if (within) {
        if (!any_within_ || sample.clock > found_) found_ = sample.clock;
        any_within_ = true;
        if (sample.clock >= top_) return std::nullopt;
    } else {
        above_ = above_.value == 0 ? sample.clock : std::min(above_, sample.clock);
        if (!any_within_) found_ = std::max(least, std::min(found_, sample.clock));
        if (sample.clock <= least) return std::nullopt;
    }
    before_ = sample;
    Hertz guess = estimate(sample);
    if (above_.value != 0) guess = std::min(guess, down(above_, 1));
    ++runs_;
    if (any_within_ && (guess <= found_ || runs_ >= kMostRuns)) return std::nullopt;
    return guess;
}

double free_seconds(const config::Power& power, double watts) {
    const auto idle = static_cast<double>(power.static_w), limit = static_cast<double>(power.limit_w);
    if (watts <= limit) return std::numeric_limits<double>::infinity();
    return seconds(power.window) * std::log((watts - idle) / (watts - limit));
}

Hertz average_clock(const config::Power& power, const Loop& loop) {
    const double freely = free_seconds(power, loop.watts_top);
    if (loop.passes * loop.seconds_top <= freely) return loop.top;
    const double slow = (loop.passes - freely / loop.seconds_top) * loop.seconds_sustained;
    const double mean = (freely * hertz(loop.top) + slow * hertz(loop.sustained)) / (freely + slow);
    const auto steps = static_cast<std::int64_t>(std::ceil((hertz(loop.top) - mean) / hertz(power.clock_step)));
    return std::max(loop.sustained, Hertz(loop.top.value - steps * power.clock_step.value));
}

}  // namespace rafter::model
