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
    Fs resident{0};                        ///< time with a CTA, summed over the SMs
    std::int64_t lines{0}, events{0};      ///< requests beyond the L1; wake-ups
    std::int64_t fills{0};                 ///< lines that entered the L2
    std::int64_t units{0}, unit_lines{0};  ///< units of work that have ended, and their requests
    std::int64_t hbm_capacity{0};          ///< bytes the DRAM could have moved

    Tally& operator+=(const Tally& o);
    Tally operator-(const Tally& o) const;
    /// n / d of every count, rounded down; the clock stays.
    Tally scaled(std::int64_t n, std::int64_t d) const;
};

}  // namespace rafter::model
