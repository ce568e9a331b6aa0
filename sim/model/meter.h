// What watches for steady states reads and changes of the machine.
#pragma once

#include <cstdint>

#include "sim/model/tally.h"

namespace rafter::model {

class Meter {
public:
    virtual ~Meter() = default;
    /// All that has been counted until `now` (simulated time), with what was left out.
    virtual Tally read(Fs now) const = 0;
    /// Leaves out n / d times what `sample` did: adds its time and counts, and lets the L2 age by its fills.
    virtual void leave_out(const Tally& sample, std::int64_t n, std::int64_t d, Fs now) = 0;
    /// Lines the L2 holds.
    virtual std::int64_t l2_lines() const = 0;
    /// Most that the DRAM moves in `time`.
    virtual double hbm_bytes(Fs time) const = 0;
};

}  // namespace rafter::model
