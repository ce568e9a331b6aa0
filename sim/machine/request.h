// The payloads: a burst of lines from an SM to the crossbar, one 128-byte line from there to L2 slice and DRAM.
#pragma once

#include <array>
#include <cstdint>
#include <systemc>
#include <tlm>

#include "sim/model/calendar.h"
#include "sim/model/in_flight.h"
#include "sim/model/tag_array.h"
#include "sim/stats/cause.h"

namespace rafter::machine {

using model::Fs;

enum class Kind : std::uint8_t { read, write, atomic };

/// Bytes of the sectors in a mask.
constexpr std::int64_t sectors_in(model::SectorMask mask) {
    constexpr std::array<std::int64_t, 16> kOnes{0, 1, 1, 2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4};
    return kOnes[mask & 0xF];
}

/// One line on its way to an L2 slice and the DRAM. The owner keeps it for ever, so a request allocates nothing; the annotated
/// time of b_transport lives here in femtoseconds of kernel time, since making an sc_time for every hop costs more than the hop;
/// and it derives from the payload, since looking up an extension costs as much as the hop.
struct Request : tlm::tlm_generic_payload {
    Kind kind{Kind::read};
    model::SectorMask sectors{0};
    std::uint64_t line{0};
    std::uint64_t local{0};  ///< index of the line inside its L2 slice, set by the crossbar
    Fs time{0};              ///< moved on by every hop

    // Shares of the latency, stamped by the hops.
    Fs crossbar_wait{0}, l2_wait{0}, l2_latency{0}, hbm_wait{0}, hbm_latency{0};

    void begin(Kind k, std::uint64_t l, model::SectorMask s, Fs at) {
        kind = k;
        line = l;
        sectors = s;
        time = at;
        crossbar_wait = l2_wait = l2_latency = hbm_wait = hbm_latency = 0;
    }
};

/// SM -> crossbar: lines of one access, walked in order. The budget of the requester decides when each may leave.
struct Burst : tlm::tlm_generic_payload {
    static constexpr std::size_t kMost = 32;
    struct Line {
        std::uint64_t line;
        model::SectorMask sectors;
        Fs leave;            ///< earliest departure
        Fs done;             ///< set by the crossbar: data at the SM, or the write accepted
        stats::Cause cause;  ///< set by the crossbar: the largest share of its latency
    };
    Kind kind{Kind::read};
    Fs issued{0};  ///< when the SM asked
    model::InFlight* budget{nullptr};
    std::size_t count{0};
    std::array<Line, kMost> lines;
};

// Everything sent on these sockets was made by this module's components, so the casts cannot fail.
inline Request& request_of(tlm::tlm_generic_payload& transaction) { return static_cast<Request&>(transaction); }
inline Burst& burst_of(tlm::tlm_generic_payload& transaction) { return static_cast<Burst&>(transaction); }

}  // namespace rafter::machine
