// One slice of the L2: its bandwidth, its tags, its port to the DRAM.
#pragma once

#include <tlm_utils/simple_initiator_socket.h>

#include "sim/config/hw_config.h"
#include "sim/machine/request.h"
#include "sim/model/calendar.h"
#include "sim/model/divider.h"
#include "sim/model/tag_array.h"

namespace rafter::machine {

class L2Slice : public sc_core::sc_module, private BlockingTarget {
public:
    L2Slice(const sc_core::sc_module_name& name, int index, const config::HwConfig& gpu, const model::Placement& placement);

    tlm::tlm_target_socket<> socket;
    tlm_utils::simple_initiator_socket<L2Slice> dram;

    void reset();
    void set_clock(const config::HwConfig& gpu, Hertz clk);
    /// Marks a line as held and last used at `when` (before the kernel: negative).
    void install(std::uint64_t local, bool dirty, Fs when);
    const model::TagArray& tags() const { return tags_; }
    model::TagArray& tags() { return tags_; }
    std::uint64_t global_line(std::uint64_t local) const { return placement_.line(static_cast<std::uint32_t>(index_), local); }
    bool is_home(std::uint64_t local) const { return placement_.is_home(static_cast<std::uint32_t>(index_), local); }

private:
    void b_transport(tlm::tlm_generic_payload& transaction, sc_core::sc_time& delay) override;
    void end_of_elaboration() override { dram_ = dram.operator->(); }
    void fetch(tlm::tlm_generic_payload& transaction, Request& request, model::SectorMask missing, sc_core::sc_time& delay);
    Fs write_back(const model::TagArray::Outcome& outcome, Fs at);
    void copy(Request& request);
    void follow(Request& request);
    static void hold(Request& request, Fs until, Fs& share);

    int index_;
    const model::Placement& placement_;
    tlm::tlm_fw_transport_if<>* dram_{nullptr};
    Fs sector_service_;
    Fs atomic_interval_;  ///< between two atomics on one line
    std::uint64_t last_atomic_{~std::uint64_t{0}};
    Fs last_atomic_time_{0};
    Fs write_queue_;  ///< how far the DRAM may lag behind before a write waits for it
    model::Calendar bandwidth_;
    model::TagArray tags_;
    Request eviction_;
};

}  // namespace rafter::machine
