// The crossbar: a socket per SM, a socket per L2 slice, a port rate per SM in each direction. docs/model/crossbar.md.
#pragma once

#include <array>
#include <vector>

#include <tlm_utils/simple_initiator_socket.h>
#include <tlm_utils/simple_target_socket.h>

#include "sim/config/hw_config.h"
#include "sim/machine/request.h"
#include "sim/model/calendar.h"
#include "sim/model/divider.h"

namespace rafter::machine {

class Crossbar : public sc_core::sc_module {
public:
    Crossbar(const sc_core::sc_module_name& name, const config::HwConfig& gpu);

    sc_core::sc_vector<tlm_utils::simple_target_socket_tagged<Crossbar>> sms;
    sc_core::sc_vector<tlm_utils::simple_initiator_socket<Crossbar>> slices;

    /// Lets the crossbar bring the host's cache lines of a slice's tags near before they are needed.
    void watch(std::size_t slice, const model::TagArray& tags) { tags_[slice] = &tags; }
    void reset();
    std::size_t slice_of(std::uint64_t line) const { return interleave_(line).place; }
    std::uint64_t local_of(std::uint64_t line) const { return interleave_(line).local; }
    std::int64_t read_bytes() const { return read_bytes_; }
    std::int64_t write_bytes() const { return write_bytes_; }

private:
    void b_transport(int sm, tlm::tlm_generic_payload& transaction, sc_core::sc_time& delay);
    void walk(int sm, const model::Interleave::Spot& spot, Burst::Line& line, const Burst& burst);
    Fs latency(int sm, std::size_t slice) const;
    static void pass(model::Calendar& port, Fs service, Request& request);

    model::Interleave interleave_;
    std::vector<model::Calendar> read_ports_, write_ports_;
    std::vector<std::int64_t> sm_partition_, slice_partition_;
    Fs read_sector_, write_sector_;  ///< port time of a 32-byte sector
    Fs near_, far_;                  ///< load-to-use latency of an L2 hit
    std::vector<const model::TagArray*> tags_;
    std::array<model::Interleave::Spot, Burst::kMost> spots_;
    Request line_;
    std::int64_t read_bytes_{0}, write_bytes_{0};
};

}  // namespace rafter::machine
