#include "sim/machine/sm.h"

#include <algorithm>

#include "sim/core/error.h"
#include "sim/machine/sm_cta.h"

namespace rafter::machine {

using stats::Cause;

Sm::Sm(const sc_core::sc_module_name& name, const config::HwConfig& gpu, Grid& grid, const SmPlace& place)
    : sc_module(name),
      memory("memory"),
      gpu_(gpu),
      grid_(grid),
      load_store_(gpu, memory, place.placement, place.partition),
      pipes_(gpu) {
    const auto slots = static_cast<std::size_t>(gpu.sm.max_ctas);
    for (std::size_t i = 0; i < slots; ++i) ctas_.push_back(std::make_unique<SmCta>(*this, static_cast<int>(i)));
    free_.reserve(slots);
    alarms_.reserve(slots * 2);
    SC_METHOD(run);
    sensitive << wake_;
    dont_initialize();
}

Sm::~Sm() = default;

void Sm::begin_kernel(const SmKernel& launch) {
    launch_ = launch;
    load_store_.begin_kernel(launch.clk, launch.l1_lines);
    pipes_.begin_kernel(launch.clk);
    free_.clear();
    for (std::int64_t i = launch.slots; i > 0; --i) free_.push_back(static_cast<int>(i - 1));
    alarms_.clear();
    launch_interval_ = clocks(gpu_.launch.cta_dispatch_clk, launch.clk).value;
    next_launch_ = launch.start;
    resident_since_ = resident_time_ = drained_ = 0;
    resident_ = ran_ = events_ = 0;
    drain_cause_ = Cause::tail;
    breakdown_ = stats::Breakdown();
    breakdown_.charge(Femtoseconds(launch.start), Cause::launch);
}

void Sm::place(std::int64_t cta, Fs at) {
    const int slot = free_.back();
    free_.pop_back();
    const Fs start = std::max(at, next_launch_);
    next_launch_ = start + launch_interval_;
    if (resident_++ == 0) resident_since_ = start;
    ++ran_;
    ctas_[static_cast<std::size_t>(slot)]->start(cta, grid_.kernel(), grid_.buffers());
    wake(slot, start, Cause::launch);
}

void Sm::wake(int slot, Fs at, Cause cause) {
    const bool earliest = alarms_.empty() || at < alarms_.front().at;
    alarms_.push_back({at, order_++, slot, cause});
    std::push_heap(alarms_.begin(), alarms_.end());
    if (earliest) set_alarm(now());
}

void Sm::set_alarm(Fs now) {
    wake_.notify(sc_core::sc_time::from_value(static_cast<sc_dt::uint64>(std::max<Fs>(alarms_.front().at - now, 0))));
}

void Sm::run() {
    const Fs time = now();
    while (!alarms_.empty() && alarms_.front().at <= time) {
        const Alarm alarm = alarms_.front();
        std::pop_heap(alarms_.begin(), alarms_.end());
        alarms_.pop_back();
        step(alarm);
    }
    if (!alarms_.empty()) set_alarm(time);
}

void Sm::step(const Alarm& alarm) {
    ++events_;
    charge(alarm.at, alarm.cause);
    if (!ctas_[static_cast<std::size_t>(alarm.slot)]->resume(alarm.at)) finish(alarm.slot, alarm.at);
}

void Sm::finish(int slot, Fs now) {
    const SmCta& cta = *ctas_[static_cast<std::size_t>(slot)];
    if (cta.drained() > drained_) {
        drained_ = cta.drained();
        drain_cause_ = cta.drain_cause();
    }
    grid_.finished(std::max(now, cta.drained()));
    free_.push_back(slot);
    if (--resident_ == 0) resident_time_ += now - resident_since_;
    if (!grid_.exhausted()) place(grid_.take(now), now);
}

// Whatever pipe is busy has the time first; what is left belongs to the wake-up that ends the interval. (S.8)
void Sm::charge(Fs until, Cause cause) {
    for (const Pipes::Busy& busy : pipes_.busy()) {
        const Fs from = breakdown_.accounted().value;
        if (busy.from <= from && busy.to > from) breakdown_.charge(Femtoseconds(std::min(until, busy.to)), busy.cause);
    }
    if (breakdown_.accounted().value < until) breakdown_.charge(Femtoseconds(until), cause);
}

void Sm::end_kernel(Fs end) {
    if (ran_ == 0) {
        charge(end, Cause::idle);
        return;
    }
    if (drained_ > breakdown_.accounted().value) charge(std::min(drained_, end), drain_cause_);
    charge(end, Cause::tail);
}

}  // namespace rafter::machine
