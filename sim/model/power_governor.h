// What work costs in energy, and the clock at which it stays below a power limit. Pure; docs/model/power.md, (P.1)-(P.6).
#pragma once

#include <optional>
#include <vector>

#include "sim/config/hw_config.h"
#include "sim/core/quantity.h"
#include "sim/stats/result.h"

namespace rafter::model {

/// What a kernel did at one clock.
struct Activity {
    Femtoseconds time{};
    Hertz clock{};
    double tensor_flops{0};
    DType dtype{DType::fp16};  ///< of the tensor FLOPs
    stats::LaneWork lanes;
    stats::Traffic traffic;
};

/// Energies of one board with operands of one kind.
class PowerModel {
public:
    /// `activity`: switching of the operands, 1 for random ones.
    PowerModel(const config::Power& power, double activity) : power_(&power), activity_(activity) {}

    /// Of the core at `clock`, relative to that at power.reference. (P.2)
    double voltage(Hertz clock) const;
    /// (P.1)
    stats::Energy energy(const Activity& work) const;
    const config::Power& power() const { return *power_; }

private:
    const config::Power* power_;
    double activity_;
};

/// Kernels that share a top clock, as they ran at one clock.
struct Part {
    Hertz top{};             ///< that their SMs can reach
    double seconds{0};       ///< at min(top, clock)
    double core_joules{0};   ///< of tensor cores, lanes, L1 and L2, as at the reference voltage
    double fixed_joules{0};  ///< DRAM and links
    double share{1};         ///< of the time that stretches as the clock falls
};

/// A stretch of work as it ran at one clock.
struct Sample {
    Hertz clock{};
    std::vector<Part> parts;
    double seconds() const;
};

/// Looks for the highest clock at which the average power of a stretch of work stays within the limit, by running it at few
/// clocks. (P.4)
class ClockSearch {
public:
    /// `top` is where the search has to begin. `power` and its file outlive the search.
    ClockSearch(const PowerModel& model, Hertz top);

    /// Takes a run at the clock asked for last; the next clock to run it at, or none when the search is over.
    std::optional<Hertz> next(const Sample& sample);
    /// The clock found. When even the least is above the limit, that.
    Hertz found() const { return found_; }
    /// Average power of `sample`, or an estimate of it at another clock. (P.3)
    double watts(const Sample& sample) const { return watts_at(sample, sample.clock); }
    double watts_at(const Sample& sample, Hertz clock) const;

private:
    Hertz down(Hertz clock, std::int64_t steps) const;
    Hertz estimate(const Sample& sample) const;
    void learn(Sample& sample) const;

    const PowerModel model_;
    Hertz top_, found_, above_{};  ///< found so far; the least clock seen above the limit
    bool any_within_{false};
    int runs_{0};
    std::optional<Sample> before_;
};

/// The average clock of a loop that begins on an idle board and takes `passes` passes: at `top` until the governor's average
/// reaches the limit, at `sustained` from then on. (P.5) `seconds_top`, `seconds_sustained`: a pass at either.
struct Loop {
    double passes{0}, seconds_top{0}, seconds_sustained{0}, watts_top{0};
    Hertz top{}, sustained{};
};
Hertz average_clock(const config::Power& power, const Loop& loop);
/// How long `watts` can be drawn from idle until the governor's average reaches the limit; infinite when it never does.
double free_seconds(const config::Power& power, double watts);

}  // namespace rafter::model
