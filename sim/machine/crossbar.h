// The crossbar: a socket per SM, a socket per L2 slice, a port rate per SM in each direction. docs/model/crossbar.md.
#pragma once

#include <optional>
#include <vector>

#include <tlm_utils/simple_initiator_socket.h>
#include <tlm_utils/simple_target_socket.h>

#include "sim/config/hw_config.h"
#include "sim/machine/request.h"
#include "sim/model/calendar.h"
#include "sim/model/link.h"
#include "sim/model/placement.h"

namespace rafter::machine {

class Crossbar : public sc_core::sc_module {
public:
    Crossbar(const sc_core::sc_module_name& name, const config::HwConfig& gpu);

    sc_core::sc_vector<tlm_utils::simple_target_socket_tagged<Crossbar>> sms;
    sc_core::sc_vector<tlm_utils::simple_initiator_socket<Crossbar>> slices;

    model::Placement& placement() { return placement_; }
    const model::Placement& placement() const { return placement_; }
    std::uint32_t partition_of_sm(std::size_t sm) const { return sm_partition_[sm]; }
    void reset();
    /// The clock of ports, links and latencies; that of the GPU file until then.
    void set_clock(const config::HwConfig& gpu, Hertz clk);
    std::int64_t link_read_bytes() const { return over_links(&model::Link::read_bytes); }
    std::int64_t link_write_bytes() const { return over_links(&model::Link::write_bytes); }
    std::int64_t read_bytes() const { return read_bytes_; }
    std::int64_t write_bytes() const { return write_bytes_; }

private:
    void b_transport(int sm, tlm::tlm_generic_payload& transaction, sc_core::sc_time& delay);
    void end_of_elaboration() override;
    void walk(int sm, Burst::Line& line, const Burst& burst);
    void outside(Request& request);
    void visit(std::uint32_t side, Request& request);
    void read_far(std::uint32_t side, Request& request);
    void write_far(Request& request);
    void drop_copies(Request& request);
    void send(std::uint32_t slice, Request& request);
    Fs latency(std::uint32_t side, std::uint32_t slice) const;
    std::int64_t over_links(std::int64_t (model::Link::*bytes)() const) const {
        return (host_link_ ? ((*host_link_).*bytes)() : 0) + (peer_link_ ? ((*peer_link_).*bytes)() : 0);
    }
    static void pass(model::Calendar& port, Fs service, Request& request);

    model::Placement placement_;
    std::vector<tlm::tlm_fw_transport_if<>*> targets_;  ///< of `slices`
    std::vector<model::Calendar> read_ports_, write_ports_;
    std::vector<model::Calendar> links_;  ///< into each partition, from the others
    std::vector<std::uint32_t> sm_partition_, slice_partition_;
    Fs link_sector_{1};
    Fs read_sector_{1}, write_sector_{1};  ///< port time of a 32-byte sector
    std::optional<model::Link> host_link_, peer_link_;
    Fs near_{0}, far_{0};  ///< load-to-use latency of an L2 hit
    Request line_;
    std::int64_t read_bytes_{0}, write_bytes_{0};
};

}  // namespace rafter::machine
