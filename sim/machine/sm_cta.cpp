#include "sim/machine/sm_cta.h"

#include <utility>

namespace rafter::machine {

using program::Suspend;
using program::Ticket;
using stats::Cause;

void SmCta::start(std::int64_t index, const program::Kernel& kernel, const std::vector<program::Buffer>& buffers) {
    index_ = index;
    drained_ = left_ = {};
    ended_ = false;
    newest_unit_ = -1;
    sm_.grid_.loops().enter(loop_);
    program_ = kernel.code->run(*this, buffers);
}

bool SmCta::resume(Fs now) {
    now_ = now;
    if (!ended_ && program_.resume()) return true;
    program_ = {};
    if (!ended_ && left_.ready_fs > now) {  // its last stores still wait to leave the SM (S.9)
        ended_ = true;
        sm_.wake(slot_, left_.ready_fs, static_cast<Cause>(left_.cause));
        return true;
    }
    sm_.grid_.loops().leave(loop_);
    if (newest_unit_ < 0) sm_.grid_.units().ended(loop_.lines);
    return false;
}

std::int64_t SmCta::step(std::int64_t step, std::int64_t steps, std::int64_t period) {
    return sm_.grid_.loops().step(loop_, step, steps, period, now_);
}

std::int64_t SmCta::next_unit(std::int64_t unit, std::int64_t stride) {
    if (unit > newest_unit_) {
        newest_unit_ = unit;
        sm_.grid_.units().ended(std::exchange(loop_.lines, 0));
    }
    return sm_.grid_.next_unit(unit, stride, now_);
}

Ticket SmCta::load(const program::Access& access, program::Path path) {
    const std::int64_t before = sm_.load_store_.counters().lines;
    const Ticket ticket = sm_.load_store_.load(access, path, now_);
    count(sm_.load_store_.counters().lines - before);
    return ticket;
}

void SmCta::count(std::int64_t lines) {
    loop_.lines += lines;
    loop_.issued += lines;
}

Ticket SmCta::remember(const Ticket& ticket) {
    if (ticket.ready_fs > drained_.ready_fs) drained_ = ticket;
    return ticket;
}

Ticket SmCta::store(const program::Access& access, Kind kind) {
    const std::int64_t before = sm_.load_store_.counters().lines;
    const Ticket ticket = sm_.load_store_.store(access, kind, now_);
    count(sm_.load_store_.counters().lines - before);
    if (sm_.load_store_.left() > left_.ready_fs) left_ = {sm_.load_store_.left(), ticket.cause};
    return remember(ticket);
}

Ticket SmCta::store(const program::Access& access) { return store(access, Kind::write); }

Ticket SmCta::atomic_add(const program::Access& access) { return store(access, Kind::atomic); }

Ticket SmCta::mma_async(const program::Mma& mma) {
    loop_.shared += mma.shared_bytes;
    const auto done = sm_.pipes_.mma(mma, now_);
    return {done.at, static_cast<std::uint8_t>(done.cause)};
}

Suspend SmCta::until(Fs at, Cause cause) {
    if (at <= now_) return {true};
    sm_.wake(slot_, at, cause);
    return {false};
}

Suspend SmCta::wait(const Ticket& ticket) { return until(ticket.ready_fs, static_cast<Cause>(ticket.cause)); }

Suspend SmCta::mma(const program::Mma& mma) {
    loop_.shared += mma.shared_bytes;
    const auto done = sm_.pipes_.mma(mma, now_);
    return until(done.at, done.cause);
}

Suspend SmCta::vector(const program::Vector& work) {
    loop_.shared += work.shared_bytes;
    const auto done = sm_.pipes_.vector(work, now_);
    return until(done.at, done.cause);
}

Suspend SmCta::shared(std::int64_t bytes) {
    loop_.shared += bytes;
    const auto done = sm_.pipes_.shared(bytes, now_);
    return until(done.at, done.cause);
}

Suspend SmCta::barrier() { return until(sm_.pipes_.barrier(now_), Cause::barrier); }

Suspend SmCta::grid_sync() {
    // Writes must be visible to the other CTAs before they may go on.
    sm_.grid_.arrive(sm_, slot_, std::max(now_, drained_.ready_fs));
    return {false};
}

}  // namespace rafter::machine
