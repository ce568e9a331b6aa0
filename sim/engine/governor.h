// Power of what was simulated, and the clock a phase runs at. docs/model/power.md.
#pragma once

#include <array>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "sim/config/hw_config.h"
#include "sim/engine/protocol.h"
#include "sim/model/power_governor.h"
#include "sim/stats/result.h"

namespace rafter::engine {

/// Energies of the GPU with the protocol's data. `power` outlives it.
model::PowerModel power_model(const config::Power& power, const Protocol& protocol);
/// Of all executions of a kernel; zeros when the GPU file gives no energies.
stats::Energy energy_of(const stats::KernelResult& kernel, const config::HwConfig& gpu, const Protocol& protocol);

/// Finds the clock of one phase by having it simulated at few clocks.
class PhaseGovernor {
public:
    PhaseGovernor(const config::Power& power, const Protocol& protocol, Hertz top);

    /// Takes the layers of the phase as simulated at `clock` (at first the top one); the clock to simulate it at next, or none
    /// when the last one stands.
    std::optional<Hertz> next(std::span<const stats::LayerResult> layers, Hertz clock);
    /// False when even the least clock is above the limit.
    bool within() const { return within_; }

private:
    std::optional<Hertz> settle(Hertz clock);
    double seconds_at(Hertz clock) const;

    const config::Power& power_;
    const Protocol& protocol_;
    model::ClockSearch search_;
    model::Loop loop_;
    std::vector<std::pair<Hertz, double>> runs_;
    std::array<Hertz, 2> tops_{};
    bool settled_{false}, within_{true};
};

}  // namespace rafter::engine
