#include "sim/engine/governor.h"

#include <algorithm>

namespace rafter::engine {

namespace {

/// Time that does not stretch as the core's clock falls: the DRAM, links and launches have clocks of their own.
double stretching(const stats::CauseTimes& causes) {
    std::int64_t all = 0;
    for (const auto time : causes) all += time.value;
    std::int64_t fixed = 0;
    for (const auto cause : {stats::Cause::hbm_bandwidth, stats::Cause::hbm_latency, stats::Cause::link, stats::Cause::launch})
        fixed += causes[static_cast<std::size_t>(cause)].value;
    return all == 0 ? 1.0 : 1.0 - static_cast<double>(fixed) / static_cast<double>(all);
}

void add(model::Part& part, const stats::KernelResult& kernel, const model::PowerModel& power) {
    const double v = power.voltage(kernel.clock), t = seconds(kernel.time), before = part.seconds;
    const auto& e = kernel.energy;
    part.top = std::max(part.top, kernel.clock);
    part.core_joules += (e.tensor_j + e.vector_j + e.l1_j + e.l2_j) / (v * v);
    part.fixed_joules += e.dram_j + e.link_j;
    part.seconds += t;
    if (part.seconds > 0) part.share = (part.share * before + stretching(kernel.causes) * t) / part.seconds;
}

/// Kernels on tensor cores and the others: their SMs have different top clocks.
model::Sample sample_of(std::span<const stats::LayerResult> layers, Hertz clock, const model::PowerModel& power) {
    model::Sample sample;
    sample.clock = clock;
    sample.parts.resize(2);
    for (const auto& layer : layers)
        for (const auto& kernel : layer.kernels) add(sample.parts[kernel.tensor ? 0 : 1], kernel, power);
    return sample;
}

}  // namespace

model::PowerModel power_model(const config::Power& power, const Protocol& protocol) {
    return {power, protocol.data == Data::zeros ? power.zeros_activity : 1.0};
}

stats::Energy energy_of(const stats::KernelResult& kernel, const config::HwConfig& gpu, const Protocol& protocol) {
    if (!gpu.power) return {};
    model::Activity work;
    work.time = kernel.time;
    work.clock = kernel.clock;
    work.tensor_flops = kernel.tensor ? 2.0 * static_cast<double>(kernel.issued_macs) : 0.0;
    work.dtype = kernel.dtype;
    work.lanes = kernel.lanes;
    work.traffic = kernel.traffic;
    return power_model(*gpu.power, protocol).energy(work);
}

PhaseGovernor::PhaseGovernor(const config::Power& power, const Protocol& protocol, Hertz top)
    : power_(power), protocol_(protocol), search_(power_model(power, protocol), top) {}

double PhaseGovernor::seconds_at(Hertz clock) const {
    for (const auto& [ran, seconds] : runs_)
        if (ran == clock) return seconds;
    return loop_.seconds_top;
}

std::optional<Hertz> PhaseGovernor::next(std::span<const stats::LayerResult> layers, Hertz clock) {
    if (settled_) return std::nullopt;
    model::Sample sample = sample_of(layers, clock, power_model(power_, protocol_));
    if (runs_.empty()) {
        loop_.passes = static_cast<double>(protocol_.passes);
        loop_.seconds_top = sample.seconds();
        loop_.watts_top = search_.watts(sample);
        loop_.top = sample.parts[sample.parts[0].seconds >= sample.parts[1].seconds ? 0 : 1].top;
        // A loop that ends before the governor's average has risen to the limit is not slowed down. (P.5)
        if (protocol_.passes > 0 && loop_.passes * loop_.seconds_top <= model::free_seconds(power_, loop_.watts_top))
            return std::nullopt;
        tops_ = {sample.parts[0].top, sample.parts[1].top};
    }
    for (std::size_t i = 0; i < tops_.size(); ++i) sample.parts[i].top = tops_[i];
    runs_.emplace_back(clock, sample.seconds());
    if (const auto asked = search_.next(sample)) return asked;
    within_ = search_.watts(sample) <= static_cast<double>(power_.limit_w) || search_.found() > power_.clock_min;
    return settle(clock);
}

std::optional<Hertz> PhaseGovernor::settle(Hertz clock) {
    settled_ = true;
    Hertz stands = search_.found();
    if (loop_.passes > 0 && stands < loop_.top) {
        loop_.sustained = stands;
        loop_.seconds_sustained = seconds_at(stands);
        stands = model::average_clock(power_, loop_);
    }
    if (stands == clock) return std::nullopt;
    return stands;
}

}  // namespace rafter::engine
