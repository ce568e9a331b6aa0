// The payloads: a burst of lines from an SM to the crossbar, one 128-byte line from there to L2 slice and DRAM.
#pragma once

#include <array>
#include <cstdint>
#include <systemc>
#include <tlm>

#include "sim/model/calendar.h"
#include "sim/model/in_flight.h"
#include "sim/model/placement.h"
#include "sim/model/tag_array.h"
#include "sim/stats/cause.h"

namespace rafter::machine {

using model::Fs;

/// The last three are between crossbar and slices (L2.6): a look for a copy, its arrival, and its end because the line is
/// written.
enum class Kind : std::uint8_t { read, write, atomic, read_copy, fill_copy, drop_copy };

/// Bytes of the sectors in a mask.
constexpr std::int64_t sectors_in(model::SectorMask mask) {
    constexpr std::uint64_t kOnes = 0x4332322132212110;  // the number of ones of each mask, a digit each
    return static_cast<std::int64_t>(kOnes >> (mask & 0xF) * 4 & 0xF);
}

/// One line on its way to an L2 slice and the DRAM. The owner keeps it for ever, so a request allocates nothing; the annotated
/// time of b_transport lives here in femtoseconds of kernel time, since making an sc_time for every hop costs more than the hop;
/// and it derives from the payload, since looking up an extension costs as much as the hop.
struct Request : tlm::tlm_generic_payload {
    Kind kind{Kind::read};
    model::SectorMask sectors{0};
    std::uint64_t line{0};
    model::Placement::Spot spot;   ///< set by the crossbar
    Fs time{0};                    ///< moved on by every hop
    model::SectorMask missing{0};  ///< read_copy: sectors that are not there

    // Shares of the latency, stamped by the hops.
    Fs crossbar_wait{0}, l2_wait{0}, l2_latency{0}, hbm_wait{0}, hbm_latency{0}, link{0};

    void begin(Kind k, std::uint64_t l, model::SectorMask s, Fs at) {
        kind = k;
        line = l;
        sectors = s;
        time = at;
        crossbar_wait = l2_wait = l2_latency = hbm_wait = hbm_latency = link = 0;
    }
};

/// SM -> crossbar: lines of one access, walked in order. The budget of the requester decides when each may leave.
struct Burst : tlm::tlm_generic_payload {
    static constexpr std::size_t kMost = 32;
    struct Line {
        std::uint64_t line;
        model::SectorMask sectors;
        Fs leave;            ///< earliest departure; the crossbar makes it the real one
        Fs done;             ///< set by the crossbar: data at the SM, or the write accepted
        stats::Cause cause;  ///< set by the crossbar: the largest share of its latency
        model::Placement::Spot spot;
    };
    Kind kind{Kind::read};
    Fs issued{0};  ///< when the SM asked
    model::InFlight* budget{nullptr};
    std::size_t count{0};
    std::array<Line, kMost> lines;
};

/// A target that knows blocking calls only. It is the interface itself: the convenience sockets of tlm_utils put two more calls
/// in between.
class BlockingTarget : public virtual tlm::tlm_fw_transport_if<> {
public:
    tlm::tlm_sync_enum nb_transport_fw(tlm::tlm_generic_payload&, tlm::tlm_phase&, sc_core::sc_time&) override {
        return tlm::TLM_COMPLETED;
    }
    bool get_direct_mem_ptr(tlm::tlm_generic_payload&, tlm::tlm_dmi&) override { return false; }
    unsigned transport_dbg(tlm::tlm_generic_payload&) override { return 0; }
};

// Everything sent on these sockets was made by this module's components, so the casts cannot fail.
inline Request& request_of(tlm::tlm_generic_payload& transaction) { return static_cast<Request&>(transaction); }
inline Burst& burst_of(tlm::tlm_generic_payload& transaction) { return static_cast<Burst&>(transaction); }

}  // namespace rafter::machine
