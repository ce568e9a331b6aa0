#include "sim/machine/gpu.h"

#include <algorithm>

#include <fmt/format.h>

#include "sim/core/error.h"
#include "sim/core/mix.h"
#include "sim/machine/residency.h"
#include "sim/program/access.h"

namespace rafter::machine {

Gpu::Gpu(const sc_core::sc_module_name& name, const config::HwConfig& gpu)
    : sc_module(name), gpu_(gpu), crossbar_("crossbar", gpu_), dram_("dram", gpu_) {
    for (std::int64_t i = 0; i < gpu_.sm.count; ++i) {
        sms_.push_back(
            std::make_unique<Sm>(fmt::format("sm{}", i).c_str(), gpu_, grid_,
                                 SmPlace{crossbar_.placement(), crossbar_.partition_of_sm(static_cast<std::size_t>(i))}));
        sms_.back()->memory.bind(crossbar_.sms[static_cast<std::size_t>(i)]);
    }
    for (std::int64_t i = 0; i < gpu_.l2.slices; ++i) {
        const auto index = static_cast<std::size_t>(i);
        slices_.push_back(
            std::make_unique<L2Slice>(fmt::format("l2_{}", i).c_str(), static_cast<int>(i), gpu_, crossbar_.placement()));
        crossbar_.slices[index].bind(slices_.back()->socket);
        crossbar_.placement().watch(index, slices_.back()->tags());
        slices_.back()->dram.bind(dram_.sockets[index]);
    }
    SC_METHOD(dispatch);
    sensitive << launch_;
    dont_initialize();
}

void Gpu::reset(const KernelRun& run) {
    clk_ = std::min(run.kernel->tensor ? gpu_.tensor_peak : gpu_.boost, run.clock);
    const Hertz core = std::min(gpu_.boost, run.clock);
    crossbar_.set_clock(gpu_, core);
    for (auto& slice : slices_) slice->set_clock(gpu_, core);
    crossbar_.reset();
    dram_.reset();
    for (auto& slice : slices_) slice->reset();
    for (std::size_t i = 0; i < run.warm.size(); ++i) install(run.warm[i], static_cast<Fs>(i) - static_cast<Fs>(run.warm.size()));
    for (auto& slice : slices_) slice->tags().count_from_here();  // what was there before has not entered in this kernel
    crossbar_.reset();
    dram_.reset();  // installing evicts nothing that counts
    SmKernel launch;
    launch.epoch = static_cast<Fs>(sc_core::sc_time_stamp().value());
    launch.start = run.launch_gap.value;
    launch.clk = clk_;
    launch.slots = run.ctas_per_sm;
    launch.l1_lines = run.l1_lines;
    for (auto& sm : sms_) sm->begin_kernel(launch);
    left_out_ = {};
    grid_.begin(*run.kernel, run.buffers, gpu_.launch.grid_sync.value, run.ctas_per_sm * gpu_.sm.count,
                run.steady ? this : nullptr);
}

// Ranges come oldest first: each was used a microsecond after the one before it.
void Gpu::install(const WarmRange& range, Fs order) {
    constexpr Fs kMicrosecond = 1'000'000'000;
    const auto first = static_cast<std::uint64_t>(range.base / program::kLineBytes);
    const auto last = static_cast<std::uint64_t>(ceil_div(range.base + range.size, program::kLineBytes));
    for (std::uint64_t line = first; line < last; ++line) {
        const model::Placement& placement = crossbar_.placement();
        const auto spot = placement.decode(line);
        slices_[spot.home]->install(spot.local, range.dirty, order * kMicrosecond);
        if (static_cast<std::int64_t>(mix(line) >> 54) >= range.copied_of_1024) continue;
        for (std::uint32_t side = 0; side < placement.partitions(); ++side) {
            const std::uint32_t slice = placement.counterpart(spot.home, side);
            if (slice != spot.home) slices_[slice]->install(spot.local, false, order * kMicrosecond);
        }
    }
}

// Breadth first: a CTA to every SM before the second to any.
void Gpu::dispatch() {
    const Fs now = grid_.start();
    bool placed = true;
    while (placed && !grid_.exhausted()) {
        placed = false;
        for (auto& sm : sms_) {
            if (grid_.exhausted()) break;
            if (!sm->has_free_slot()) continue;
            sm->place(grid_.take(now), now);
            placed = true;
        }
    }
}

KernelMeasurement Gpu::run(const KernelRun& run) {
    reset(run);
    grid_.set_start(run.launch_gap.value);
    launch_.notify(sc_core::sc_time::from_value(static_cast<sc_dt::uint64>(run.launch_gap.value)));
    sc_core::sc_start();
    if (!grid_.complete()) throw InternalError(grid_.describe_stall());
    for (auto& sm : sms_) sm->end_kernel(grid_.end());
    hold_to_peak(*run.kernel);
    return measure(run);
}

KernelMeasurement Gpu::measure(const KernelRun& run) const {
    const model::Tally total = read(grid_.end());
    KernelMeasurement result;
    result.time = Femtoseconds(total.time);
    result.causes = total.causes;
    result.traffic = total.traffic;
    result.lanes = total.lanes;
    result.clock = clk_;
    result.resident = Femtoseconds(total.resident);
    result.line_requests = total.lines;
    result.events = total.events;
    result.simulated_lines = total.lines - left_out_.lines;
    result.simulated_events = total.events - left_out_.events;
    result.units = grid_.units().ended();
    result.simulated_units = result.units - grid_.units().left_out();
    count_residency(run, result);
    return result;
}

void Gpu::count_residency(const KernelRun& run, KernelMeasurement& result) const {
    ResidencyCounter counter(run);
    for (const auto& slice : slices_) {
        slice->tags().for_each([&](std::uint64_t local, model::SectorMask, model::SectorMask dirty) {
            counter.add(slice->global_line(local), slice->is_home(local), dirty != 0);
        });
    }
    counter.collect(result);
}

struct Machine::Impl {
    explicit Impl(const config::HwConfig& config) : gpu("gpu", config) {}
    Gpu gpu;
};

Machine::Machine(const config::HwConfig& gpu) {
    sc_core::sc_set_time_resolution(1, sc_core::SC_FS);
    impl_ = std::make_unique<Impl>(gpu);
}

Machine::~Machine() = default;

KernelMeasurement Machine::run(const KernelRun& run) { return impl_->gpu.run(run); }

}  // namespace rafter::machine
