// Runs kernels on the machine, each from an explicit cache state, and remembers what it has run.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>

#include "sim/config/hw_config.h"
#include "sim/engine/l2_state.h"
#include "sim/engine/run.h"
#include "sim/machine/machine.h"

namespace rafter::engine {

class KernelRunner {
public:
    KernelRunner(const config::HwConfig& gpu, const RunOptions& options);

    /// The measurement of one launch from `start`, `gap` before its first CTA included. Equal signatures in equal states give the
    /// remembered one unless --exact.
    const machine::KernelMeasurement& run(const program::Kernel& kernel, const StartState& start, Femtoseconds gap);

    /// The core's clock from here on; the SMs' top clocks hold as well.
    void set_clock(Hertz clock) { clock_ = clock; }

    std::int64_t simulated() const { return simulated_; }
    std::int64_t cached() const { return cached_; }  ///< read from the disk
    std::int64_t events() const { return events_; }
    std::int64_t line_requests() const { return line_requests_; }
    /// Of the kernels simulated, now or by the run that cached them: units of work (CTAs, tiles of persistent ones) and line
    /// requests that were run, as shares of all.
    double cta_share() const { return share(simulated_units_, units_); }
    double line_share() const { return share(line_requests_, lines_); }

private:
    machine::KernelMeasurement find_or_simulate(const std::string& key, const program::Kernel& kernel, const StartState& start,
                                                Femtoseconds gap);
    void count(const machine::KernelMeasurement& measured);
    machine::KernelMeasurement simulate(const program::Kernel& kernel, const StartState& start, Femtoseconds gap);

    const config::HwConfig& gpu_;
    const RunOptions& options_;
    std::optional<machine::Machine> machine_;  ///< elaborated when the first kernel has to be simulated
    std::unordered_map<std::string, machine::KernelMeasurement> memo_;
    machine::KernelMeasurement latest_;
    Hertz clock_;
    static double share(std::int64_t part, std::int64_t all) {
        return all == 0 ? 1.0 : static_cast<double>(part) / static_cast<double>(all);
    }
    std::int64_t simulated_{0}, cached_{0}, events_{0}, line_requests_{0}, lines_{0}, units_{0}, simulated_units_{0};
};

/// Addresses for a kernel's arguments: in order, each on a page of its own; equal tensors share one.
std::vector<program::Buffer> assign_addresses(const program::Kernel& kernel);

}  // namespace rafter::engine
