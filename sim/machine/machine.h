// The machine as the engine sees it: one kernel at a time, from a given cache state, to a measurement. SystemC stays behind it.
#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <vector>

#include "sim/config/hw_config.h"
#include "sim/program/kernel.h"
#include "sim/stats/cause.h"
#include "sim/stats/result.h"

namespace rafter::machine {

/// Lines [base, base + size) that an earlier kernel left in the L2, oldest range first in the list.
struct WarmRange {
    std::int64_t base{0}, size{0};
    bool dirty{false};
    std::int64_t copied_of_1024{0};  ///< so many of its lines have copies in the other partitions
};

struct KernelRun {
    const program::Kernel* kernel{nullptr};
    std::vector<program::Buffer> buffers;  ///< one per argument; equal ids share an address
    std::vector<WarmRange> warm;
    Femtoseconds launch_gap{};
    Hertz clock{
        std::numeric_limits<std::int64_t>::max()};  ///< most that the core (SMs, crossbar, L2) runs at; the DRAM has its own
    std::int64_t ctas_per_sm{1};
    std::int64_t l1_lines{0};  ///< what the shared-memory carve-out leaves
    bool steady{true};         ///< leave out what repeats (docs/model/steady.md)
};

/// What a range of addresses holds in the L2 when the kernel has ended.
struct Residency {
    std::int64_t resident_lines{0}, dirty_lines{0};
    std::int64_t copied_lines{0};  ///< copies in partitions that are not a line's home
};

struct KernelMeasurement {
    Femtoseconds time{};         ///< launch gap included
    stats::CauseTimes causes{};  ///< sum = time x SMs
    stats::Traffic traffic;
    stats::LaneWork lanes;
    Hertz clock{};            ///< of the SMs
    Femtoseconds resident{};  ///< time with a CTA, summed over the SMs
    std::int64_t line_requests{0}, events{0};
    std::int64_t units{0};                                                     ///< CTAs, or tiles of persistent ones
    std::int64_t simulated_lines{0}, simulated_events{0}, simulated_units{0};  ///< the others were left out
    std::vector<Residency> buffers;                                            ///< same order as KernelRun::buffers
    std::vector<Residency> warm;  ///< same order as KernelRun::warm; 0 where the range lies in a buffer
};

class Machine {
public:
    /// Elaborates the GPU. One per process, inside sc_main.
    explicit Machine(const config::HwConfig& gpu);
    ~Machine();

    /// Errors: InternalError when a CTA never wakes (named), or a book does not balance.
    KernelMeasurement run(const KernelRun& run);

private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

}  // namespace rafter::machine
