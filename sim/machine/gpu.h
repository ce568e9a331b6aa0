// The GPU: elaborates and binds SMs, crossbar, L2 slices and DRAM, and runs one grid at a time.
#pragma once

#include <memory>
#include <vector>

#include "sim/config/hw_config.h"
#include "sim/machine/crossbar.h"
#include "sim/machine/dram.h"
#include "sim/machine/grid.h"
#include "sim/machine/l2_slice.h"
#include "sim/machine/machine.h"
#include "sim/machine/sm.h"
#include "sim/model/meter.h"

namespace rafter::machine {

class Gpu : public sc_core::sc_module, private model::Meter {
public:
    SC_HAS_PROCESS(Gpu);
    Gpu(const sc_core::sc_module_name& name, const config::HwConfig& gpu);

    KernelMeasurement run(const KernelRun& run);

private:
    model::Tally read(Fs now) const override;
    void leave_out(const model::Tally& sample, std::int64_t n, std::int64_t d, Fs now) override;
    std::int64_t l2_lines() const override;
    double hbm_bytes(Fs time) const override;

    model::Tally simulated(Fs now) const;
    void hold_to_peak(const program::Kernel& kernel);
    void balance(model::Tally& part) const;
    void age_l2(const model::Tally& sample, model::Tally& part, Fs now);
    void dispatch();  ///< the command processor's work: the launch gap is over, hand out the first CTAs
    void reset(const KernelRun& run);
    void install(const WarmRange& range, Fs order);
    KernelMeasurement measure(const KernelRun& run) const;
    void count_residency(const KernelRun& run, KernelMeasurement& result) const;

    const config::HwConfig gpu_;
    Grid grid_;
    sc_core::sc_event launch_;
    std::vector<std::unique_ptr<Sm>> sms_;
    Crossbar crossbar_;
    std::vector<std::unique_ptr<L2Slice>> slices_;
    Dram dram_;
    model::Tally left_out_;
    Hertz clk_{};  ///< of the SMs in this kernel
};

}  // namespace rafter::machine
