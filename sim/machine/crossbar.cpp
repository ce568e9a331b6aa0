#include "sim/machine/crossbar.h"

#include "sim/program/access.h"

namespace rafter::machine {

using stats::Cause;

namespace {

Fs port_time(std::int64_t bytes_per_clk, Hertz clock) {
    return std::max<Fs>(1, ceil_div(clocks(program::kSectorBytes, clock).value, bytes_per_clk));
}

/// The hop with the largest share of a request's latency (S.3); a tie goes to the later cause. A share and its cause are one
/// number, so that choosing takes no branch.
Cause largest_share(const Request& r, Fs issue_wait, Fs budget_wait, Cause budget_cause) {
    const auto pack = [](Fs share, Cause cause) { return share << 4 | static_cast<Fs>(cause); };
    Fs largest = pack(r.l2_latency, Cause::l2_latency);
    largest = std::max(largest, pack(r.hbm_latency, Cause::hbm_latency));
    largest = std::max(largest, pack(r.hbm_wait, Cause::hbm_bandwidth));
    largest = std::max(largest, pack(r.l2_wait, Cause::l2_bandwidth));
    largest = std::max(largest, pack(r.crossbar_wait, Cause::crossbar));
    largest = std::max(largest, pack(issue_wait, Cause::l1));
    largest = std::max(largest, pack(budget_wait, budget_cause));
    return static_cast<Cause>(largest & 0xF);
}

std::vector<std::int64_t> partition_of(std::int64_t count, std::int64_t partitions) {
    std::vector<std::int64_t> side(static_cast<std::size_t>(count));
    for (std::int64_t i = 0; i < count; ++i) side[static_cast<std::size_t>(i)] = i * partitions / count;
    return side;
}

}  // namespace

Crossbar::Crossbar(const sc_core::sc_module_name& name, const config::HwConfig& gpu)
    : sc_module(name),
      sms("sm", static_cast<std::size_t>(gpu.sm.count)),
      slices("slice", static_cast<std::size_t>(gpu.l2.slices)),
      placement_(static_cast<std::uint64_t>(gpu.l2.slices)),
      sm_partition_(partition_of(gpu.sm.count, gpu.l2.partitions)),
      slice_partition_(partition_of(gpu.l2.slices, gpu.l2.partitions)),
      read_sector_(port_time(gpu.crossbar.sm_read_bytes_per_clk, gpu.boost)),
      write_sector_(port_time(gpu.crossbar.sm_write_bytes_per_clk, gpu.boost)),
      near_(clocks(gpu.l2.latency_near_clk, gpu.boost).value),
      far_(clocks(gpu.l2.latency_far_clk, gpu.boost).value) {
    read_ports_.assign(sms.size(), model::Calendar(read_sector_ * 4));
    write_ports_.assign(sms.size(), model::Calendar(write_sector_ * 4));
    for (std::size_t i = 0; i < sms.size(); ++i) sms[i].register_b_transport(this, &Crossbar::b_transport, static_cast<int>(i));
}

// Asking a socket for its target costs more than the call.
void Crossbar::end_of_elaboration() {
    for (auto& slice : slices) targets_.push_back(slice.operator->());
}

Fs Crossbar::latency(int sm, std::size_t slice) const {
    return sm_partition_[static_cast<std::size_t>(sm)] == slice_partition_[slice] ? near_ : far_;
}

void Crossbar::b_transport(int sm, tlm::tlm_generic_payload& transaction, sc_core::sc_time&) {
    Burst& burst = burst_of(transaction);
    for (std::size_t i = 0; i < burst.count; ++i) walk(sm, burst.lines[i], burst);
}

void Crossbar::walk(int sm, Burst::Line& line, const Burst& burst) {
    const Fs leave = std::max(line.leave, burst.budget->next());  // (S.2)
    Request& request = line_;
    request.begin(burst.kind, line.line, line.sectors, leave);
    request.spot = line.spot;
    const Fs hit = latency(sm, line.spot.slice);
    const Fs there = hit / 2;
    const std::int64_t sectors = sectors_in(line.sectors);
    request.l2_latency = hit;
    if (burst.kind == Kind::read) {
        read_bytes_ += sectors * program::kSectorBytes;
    } else {
        write_bytes_ += sectors * program::kSectorBytes;
        pass(write_ports_[static_cast<std::size_t>(sm)], sectors * write_sector_, request);
    }
    request.time += there;
    sc_core::sc_time delay;
    targets_[line.spot.slice]->b_transport(line_, delay);
    request.time += hit - there;
    if (burst.kind == Kind::read) pass(read_ports_[static_cast<std::size_t>(sm)], sectors * read_sector_, request);
    line.done = request.time;
    line.cause = largest_share(request, line.leave - burst.issued, leave - line.leave, static_cast<Cause>(burst.budget->cause()));
    burst.budget->occupy(line.done, static_cast<std::uint8_t>(line.cause));
}

void Crossbar::pass(model::Calendar& port, Fs service, Request& request) {
    const Fs start = port.reserve(request.time, service) - service;
    request.crossbar_wait += start - request.time;
    request.time = start;
}

void Crossbar::reset() {
    for (auto& port : read_ports_) port.reset();
    for (auto& port : write_ports_) port.reset();
    read_bytes_ = write_bytes_ = 0;
}

}  // namespace rafter::machine
