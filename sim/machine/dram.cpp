#include "sim/machine/dram.h"

#include <bit>

#include "sim/program/access.h"

namespace rafter::machine {

Dram::Dram(const sc_core::sc_module_name& name, const config::HwConfig& gpu)
    : sc_module(name),
      sockets("socket", static_cast<std::size_t>(gpu.l2.slices)),
      interleave_(static_cast<std::uint64_t>(gpu.dram.channels)) {
    channels_.assign(static_cast<std::size_t>(gpu.dram.channels), model::DramChannel(gpu.dram));
    for (auto& socket : sockets) socket.bind(*this);
}

void Dram::b_transport(tlm::tlm_generic_payload& transaction, sc_core::sc_time&) {
    Request& request = request_of(transaction);
    const auto spot = interleave_(request.line);
    const auto first = static_cast<std::uint64_t>(std::countr_zero(request.sectors));
    const std::uint64_t local = spot.local * program::kLineBytes + first * program::kSectorBytes;
    const std::int64_t bytes = sectors_in(request.sectors) * program::kSectorBytes;
    const bool write = request.kind != Kind::read;
    const Fs arrival = request.time;
    const auto outcome = channels_[spot.place].access(arrival, local, bytes, write);
    (write ? write_bytes_ : read_bytes_) += outcome.bytes;
    request.hbm_wait += outcome.wait;
    request.hbm_latency += outcome.done - arrival - outcome.wait;
    request.time = outcome.done;
}

void Dram::reset() {
    for (auto& channel : channels_) channel.reset();
    read_bytes_ = write_bytes_ = 0;
}

}  // namespace rafter::machine
