// A streaming multiprocessor: resident CTAs, their wake-ups, and the pipes they share. docs/model/sm.md.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include <tlm_utils/simple_initiator_socket.h>

#include "sim/config/hw_config.h"
#include "sim/machine/grid.h"
#include "sim/machine/load_store_unit.h"
#include "sim/machine/pipes.h"
#include "sim/stats/cause.h"

namespace rafter::machine {

class SmCta;

/// What begin_kernel needs to know of the launch.
struct SmKernel {
    Fs epoch{0};  ///< absolute simulation time of kernel time 0
    Fs start{0};  ///< kernel time at which CTAs may be placed
    Hertz clk{};
    std::int64_t slots{0};  ///< CTAs resident at a time
    std::int64_t l1_lines{0};
};

/// Where an SM finds its lines: the L2's map, and the partition it is in.
struct SmPlace {
    const model::Placement& placement;
    std::uint32_t partition{0};
};

class Sm : public sc_core::sc_module {
public:
    SC_HAS_PROCESS(Sm);
    Sm(const sc_core::sc_module_name& name, const config::HwConfig& gpu, Grid& grid, const SmPlace& place);
    ~Sm() override;

    LoadStoreUnit::Socket memory;

    void begin_kernel(const SmKernel& launch);
    bool has_free_slot() const { return !free_.empty(); }
    /// Starts a CTA in a free slot; launches on one SM are some clocks apart.
    void place(std::int64_t cta, Fs at);
    void wake(int slot, Fs at, stats::Cause cause);
    /// Charges what is left of the kernel and returns the SM's books.
    void end_kernel(Fs end);

    const stats::Breakdown& breakdown() const { return breakdown_; }
    Fs resident_time(Fs now) const { return resident_time_ + (resident_ > 0 ? now - resident_since_ : 0); }
    bool busy() const { return resident_ > 0; }
    bool used() const { return ran_ > 0; }  ///< has had a CTA
    const LoadStoreUnit::Counters& memory_counters() const { return load_store_.counters(); }
    std::int64_t shared_bytes() const { return pipes_.shared_bytes(); }
    const stats::LaneWork& lane_work() const { return pipes_.lane_work(); }
    std::int64_t events() const { return events_; }

private:
    friend class SmCta;
    struct Alarm {
        Fs at;
        std::uint64_t order;
        int slot;
        stats::Cause cause;
        bool operator<(const Alarm& o) const { return at != o.at ? at > o.at : order > o.order; }  // for a min-heap
    };

    void run();
    void step(const Alarm& alarm);
    void finish(int slot, Fs now);
    void charge(Fs until, stats::Cause cause);
    void set_alarm(Fs now);
    Fs now() const { return static_cast<Fs>(sc_core::sc_time_stamp().value()) - launch_.epoch; }

    const config::HwConfig& gpu_;
    Grid& grid_;
    LoadStoreUnit load_store_;
    Pipes pipes_;
    sc_core::sc_event wake_;
    SmKernel launch_;
    std::vector<std::unique_ptr<SmCta>> ctas_;
    std::vector<int> free_;
    std::vector<Alarm> alarms_;
    std::uint64_t order_{0};
    Fs next_launch_{0};
    Fs launch_interval_{0};
    Fs resident_since_{0}, resident_time_{0};
    Fs drained_{0};
    stats::Cause drain_cause_{stats::Cause::tail};
    std::int64_t resident_{0}, ran_{0}, events_{0};
    stats::Breakdown breakdown_;
};

}  // namespace rafter::machine
