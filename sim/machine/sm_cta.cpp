#include "sim/machine/sm_cta.h"

namespace rafter::machine {

using program::Suspend;
using program::Ticket;
using stats::Cause;

void SmCta::start(std::int64_t index, const program::Kernel& kernel, const std::vector<program::Buffer>& buffers) {
    index_ = index;
    drained_ = {};
    program_ = kernel.code->run(*this, buffers);
}

bool SmCta::resume(Fs now) {
    now_ = now;
    if (program_.resume()) return true;
    program_ = {};
    return false;
}

Ticket SmCta::load(const program::Access& access, program::Path path) { return sm_.load_store_.load(access, path, now_); }

Ticket SmCta::remember(const Ticket& ticket) {
    if (ticket.ready_fs > drained_.ready_fs) drained_ = ticket;
    return ticket;
}

Ticket SmCta::store(const program::Access& access) { return remember(sm_.load_store_.store(access, Kind::write, now_)); }

Ticket SmCta::atomic_add(const program::Access& access) { return remember(sm_.load_store_.store(access, Kind::atomic, now_)); }

Ticket SmCta::mma_async(const program::Mma& mma) {
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
    const auto done = sm_.pipes_.mma(mma, now_);
    return until(done.at, done.cause);
}

Suspend SmCta::vector(const program::Vector& work) {
    const auto done = sm_.pipes_.vector(work, now_);
    return until(done.at, done.cause);
}

Suspend SmCta::shared(std::int64_t bytes) {
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
