// The load/store path of an SM: cuts accesses into lines, keeps the L1 tags, holds the in-flight budgets. docs/model/sm.md.
#pragma once

#include <tlm_utils/simple_initiator_socket.h>

#include "sim/config/hw_config.h"
#include "sim/machine/request.h"
#include "sim/model/calendar.h"
#include "sim/model/in_flight.h"
#include "sim/model/tag_array.h"
#include "sim/program/access.h"
#include "sim/program/cta.h"
#include "sim/stats/cause.h"

namespace rafter::machine {

class LoadStoreUnit {
public:
    using Socket = tlm_utils::simple_initiator_socket<class Sm>;

    struct Counters {
        std::int64_t lines{0}, l1_read{0}, l1_write{0};
    };

    LoadStoreUnit(const config::HwConfig& gpu, Socket& socket, const model::Placement& placement, std::uint32_t partition);

    /// `clk` is the clock of the kernel; `l1_lines` what the shared-memory carve-out leaves to the L1.
    void begin_kernel(Hertz clk, std::int64_t l1_lines);

    program::Ticket load(const program::Access& access, program::Path path, Fs now);
    program::Ticket store(const program::Access& access, Kind kind, Fs now);
    /// When the last line of the latest access left the SM: a full budget holds it back.
    Fs left() const { return left_; }
    const Counters& counters() const { return counters_; }

private:
    struct Done {
        Fs at{0};
        stats::Cause cause{stats::Cause::l1};
    };
    template <class PerLine>
    static void for_each_line(const program::Access& access, PerLine per_line);
    model::SectorMask through_l1(std::uint64_t line, model::SectorMask sectors, Fs now);
    void open(Kind kind, model::InFlight& budget, Fs now);
    void add(std::uint64_t line, model::SectorMask sectors);
    void flush(bool fill_l1);
    void finish(const Done& done);

    const config::HwConfig& gpu_;
    Socket& socket_;
    const model::Placement& placement_;
    std::uint32_t partition_;  ///< of the L2, in which this SM looks first
    Burst burst_;
    Done last_;  ///< latest of the access being walked
    Fs left_{0};
    model::TagArray l1_;
    model::InFlight register_loads_, async_loads_, stores_;
    model::Pipe issue_;
    Fs sector_issue_{1};
    Fs l1_latency_{0};
    Counters counters_;
};

}  // namespace rafter::machine
