// The grid of the running kernel: hands out CTAs, counts them home, and holds the cooperative barrier. Plain C++, one per
// machine.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sim/machine/steady_grid.h"
#include "sim/machine/steady_loop.h"
#include "sim/model/calendar.h"
#include "sim/program/kernel.h"

namespace rafter::machine {

using model::Fs;
class Sm;

class Grid {
public:
    /// `slots`: CTAs the machine holds at a time. meter null: nothing is left out.
    void begin(const program::Kernel& kernel, const std::vector<program::Buffer>& buffers, Fs grid_sync, std::int64_t slots,
               model::Meter* meter);

    void set_start(Fs start) { start_ = start; }
    Fs start() const { return start_; }  ///< kernel time at which the first CTAs may run
    bool exhausted() const { return next_ == kernel_->grid; }
    std::int64_t take(Fs now);
    /// A CTA has run to its end; `drained` is when the last of its stores reached the L2.
    void finished(Fs drained);
    /// program::Cta::next_unit.
    std::int64_t next_unit(std::int64_t unit, std::int64_t stride, Fs now);
    SteadyGrid& units() { return units_; }
    const SteadyGrid& units() const { return units_; }
    SteadyLoop& loops() { return loops_; }
    bool complete() const { return finished_ == kernel_->grid; }
    Fs end() const { return end_; }

    /// A CTA waits at the grid barrier; the last one releases all.
    void arrive(Sm& sm, int slot, Fs now);

    const program::Kernel& kernel() const { return *kernel_; }
    const std::vector<program::Buffer>& buffers() const { return *buffers_; }
    /// For the watchdog: who is missing and what the others wait for.
    std::string describe_stall() const;

private:
    struct Waiter {
        Sm* sm;
        int slot;
    };
    const program::Kernel* kernel_{nullptr};
    const std::vector<program::Buffer>* buffers_{nullptr};
    Fs grid_sync_{0};
    Fs start_{0}, end_{0};
    Fs latest_arrival_{0};
    std::int64_t next_{0}, finished_{0};
    struct Cut {
        std::int64_t from, units;
    };
    std::vector<Cut> cuts_;   ///< of the units of persistent CTAs
    std::int64_t newest_{0};  ///< unit of a persistent CTA that has started
    SteadyGrid units_;
    SteadyLoop loops_;
    std::vector<Waiter> waiting_;
};

}  // namespace rafter::machine
