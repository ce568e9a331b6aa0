// A resident CTA: the machine's side of program::Cta.
#pragma once

#include "sim/machine/sm.h"
#include "sim/program/cta.h"
#include "sim/program/task.h"

namespace rafter::machine {

class SmCta final : public program::Cta {
public:
    SmCta(Sm& sm, int slot) : sm_(sm), slot_(slot) {}

    void start(std::int64_t index, const program::Kernel& kernel, const std::vector<program::Buffer>& buffers);
    /// Runs to the next suspension; true while there is more to do.
    bool resume(Fs now);
    Fs drained() const { return drained_.ready_fs; }
    stats::Cause drain_cause() const { return static_cast<stats::Cause>(drained_.cause); }

    std::int64_t index() const override { return index_; }
    std::int64_t step(std::int64_t step, std::int64_t steps, std::int64_t period) override;
    std::int64_t next_unit(std::int64_t unit, std::int64_t stride) override;
    program::Ticket load(const program::Access& access, program::Path path) override;
    program::Ticket store(const program::Access& access) override;
    program::Ticket atomic_add(const program::Access& access) override;
    program::Ticket mma_async(const program::Mma& mma) override;
    program::Suspend wait(const program::Ticket& ticket) override;
    program::Suspend mma(const program::Mma& mma) override;
    program::Suspend vector(const program::Vector& work) override;
    program::Suspend shared(std::int64_t bytes) override;
    program::Suspend barrier() override;
    program::Suspend grid_sync() override;

private:
    void count(std::int64_t lines);
    program::Suspend until(Fs at, stats::Cause cause);
    program::Ticket remember(const program::Ticket& ticket);
    program::Ticket store(const program::Access& access, Kind kind);

    Sm& sm_;
    int slot_;
    std::int64_t index_{0};
    std::int64_t newest_unit_{-1};  ///< that a persistent program has left behind
    Fs now_{0};
    Loop loop_;
    program::Ticket drained_;
    program::Ticket left_;  ///< when its latest store left the SM
    bool ended_{false};     ///< the program is done, its stores have not left
    program::TileProgram program_;
};

}  // namespace rafter::machine
