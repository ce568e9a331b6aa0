// Everything a machine has counted at one moment of a kernel, or between two moments.
#pragma once

#include <cstdint>

#include "sim/model/calendar.h"
#include "sim/stats/cause.h"
#include "sim/stats/result.h"

namespace rafter::model {

struct Tally {
    Fs clock{0};                 ///< simulated time
    Fs time{0};                  ///< kernel time: simulated and left out
    std::int64_t progress{0};    ///< of what repeats: loop steps, or line requests
    stats::CauseTimes causes{};  ///< over all SMs
    stats::Traffic traffic;
    stats::LaneWork lanes;
    Fs resident{0};                        ///< time with a CTA, summed over the SMs
    std::int64_t lines{0}, events{0};      ///< requests beyond the L1; wake-ups
    std::int64_t fills{0};                 ///< lines that entered the L2
    std::int64_t units{0}, unit_lines{0};  ///< units of work that have ended, and their requests
    std::int64_t hbm_capacity{0};          ///< bytes the DRAM could have moved
    std::int64_t shared{0};                ///< of traffic.l1_read: from shared memory
    std::int64_t step_lines{0},
        step_shared{0};  ///< requests and shared-memory bytes of the steps in `progress`, when it counts steps

    Tally& operator+=(const Tally& o);
    Tally operator-(const Tally& o) const;
    /// Of steps: what was counted for the machine while they went on, made into what belongs to them. A CTA may have issued more
    /// or less of its next step when a window ends.
    Tally of_steps() const;
    /// n / d of every count, rounded down; the clock stays.
    Tally scaled(std::int64_t n, std::int64_t d) const;
};

}  // namespace rafter::model
