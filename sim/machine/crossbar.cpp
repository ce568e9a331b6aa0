#include "sim/machine/crossbar.h"

#include "sim/core/error.h"
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
    largest = std::max(largest, pack(r.link, Cause::link));
    largest = std::max(largest, pack(issue_wait, Cause::l1));
    largest = std::max(largest, pack(budget_wait, budget_cause));
    return static_cast<Cause>(largest & 0xF);
}

/// SMs are numbered across the GPCs, as CTAs are handed out, and the GPCs lie in all partitions. (X.2)
std::vector<std::uint32_t> partition_of_sms(std::int64_t count, std::int64_t partitions) {
    std::vector<std::uint32_t> side(static_cast<std::size_t>(count));
    for (std::int64_t i = 0; i < count; ++i) side[static_cast<std::size_t>(i)] = static_cast<std::uint32_t>(i % partitions);
    return side;
}

constexpr std::uint64_t kOutside = program::kHostBase / program::kLineBytes, kPeer = program::kPeerBase / program::kLineBytes;

std::optional<model::Link> link_of(const std::optional<config::Link>& link) {
    return link ? std::optional<model::Link>(*link) : std::nullopt;
}

std::vector<std::uint32_t> partition_of(std::int64_t count, std::int64_t partitions) {
    std::vector<std::uint32_t> side(static_cast<std::size_t>(count));
    for (std::int64_t i = 0; i < count; ++i)
        side[static_cast<std::size_t>(i)] = static_cast<std::uint32_t>(i * partitions / count);
    return side;
}

}  // namespace

Crossbar::Crossbar(const sc_core::sc_module_name& name, const config::HwConfig& gpu)
    : sc_module(name),
      sms("sm", static_cast<std::size_t>(gpu.sm.count)),
      slices("slice", static_cast<std::size_t>(gpu.l2.slices)),
      placement_(static_cast<std::uint64_t>(gpu.l2.slices), static_cast<std::uint64_t>(gpu.l2.copies() ? gpu.l2.partitions : 1)),
      sm_partition_(partition_of_sms(gpu.sm.count, gpu.l2.partitions)),
      slice_partition_(partition_of(gpu.l2.slices, gpu.l2.partitions)),
      host_link_(link_of(gpu.host_link)),
      peer_link_(link_of(gpu.peer_link)) {
    set_clock(gpu, gpu.boost);
    read_ports_.assign(sms.size(), model::Calendar(read_sector_ * 4));
    write_ports_.assign(sms.size(), model::Calendar(write_sector_ * 4));
    links_.assign(static_cast<std::size_t>(gpu.l2.partitions),
                  model::Calendar(link_sector_ * 64, 1024));  // fast and asked far ahead: wide buckets
    for (std::size_t i = 0; i < sms.size(); ++i) sms[i].register_b_transport(this, &Crossbar::b_transport, static_cast<int>(i));
}

void Crossbar::set_clock(const config::HwConfig& gpu, Hertz clk) {
    link_sector_ = gpu.l2.copies() ? port_time(gpu.l2.link_bytes_per_clk, clk) : 1;
    read_sector_ = port_time(gpu.crossbar.sm_read_bytes_per_clk, clk);
    write_sector_ = port_time(gpu.crossbar.sm_write_bytes_per_clk, clk);
    near_ = clocks(gpu.l2.latency_near_clk, clk).value;
    far_ = clocks(gpu.l2.latency_far_clk, clk).value;
}

// Asking a socket for its target costs more than the call.
void Crossbar::end_of_elaboration() {
    for (auto& slice : slices) targets_.push_back(slice.operator->());
}

Fs Crossbar::latency(std::uint32_t side, std::uint32_t slice) const { return side == slice_partition_[slice] ? near_ : far_; }

void Crossbar::b_transport(int sm, tlm::tlm_generic_payload& transaction, sc_core::sc_time&) {
    Burst& burst = burst_of(transaction);
    for (std::size_t i = 0; i < burst.count; ++i) walk(sm, burst.lines[i], burst);
}

void Crossbar::walk(int sm, Burst::Line& line, const Burst& burst) {
    const Fs leave = std::max(line.leave, burst.budget->next());  // (S.2)
    Request& request = line_;
    request.begin(burst.kind, line.line, line.sectors, leave);
    request.spot = line.spot;
    const std::int64_t sectors = sectors_in(line.sectors);
    const std::int64_t to_l2 = line.line < kOutside ? sectors * program::kSectorBytes : 0;
    if (burst.kind == Kind::read) {
        read_bytes_ += to_l2;
    } else {
        write_bytes_ += to_l2;
        pass(write_ports_[static_cast<std::size_t>(sm)], sectors * write_sector_, request);
    }
    if (line.line >= kOutside) {
        outside(request);
    } else {
        visit(sm_partition_[static_cast<std::size_t>(sm)], request);
    }
    if (burst.kind == Kind::read) pass(read_ports_[static_cast<std::size_t>(sm)], sectors * read_sector_, request);
    line.done = request.time;
    line.cause = largest_share(request, line.leave - burst.issued, leave - line.leave, static_cast<Cause>(burst.budget->cause()));
    line.leave = leave;
    burst.budget->occupy(line.done, static_cast<std::uint8_t>(line.cause));
}

/// Over the link to the host or a peer, past the L2. (K.1)
void Crossbar::outside(Request& request) {
    std::optional<model::Link>& link = request.line >= kPeer ? peer_link_ : host_link_;
    RAFTER_CHECK(link.has_value(), "memory behind a link that is not there");
    const auto outcome =
        link->access(request.time, sectors_in(request.sectors) * program::kSectorBytes, request.kind != Kind::read);
    request.link = outcome.done - request.time;
    request.time = outcome.done;
}

/// To the slice that has the line, and back.
void Crossbar::visit(std::uint32_t side, Request& request) {
    const bool far = request.spot.near != request.spot.home;
    if (request.kind != Kind::read && placement_.partitions() > 1) drop_copies(request);
    if (far && request.kind == Kind::read) return read_far(side, request);
    if (far) return write_far(request);
    const Fs hit = latency(side, request.spot.home), there = hit / 2;
    request.l2_latency = hit;
    request.time += there;
    send(request.spot.home, request);
    request.time += hit - there;
}

/// A read looks in its own partition first; what is not there comes from the line's home over the link and stays. (L2.6)
void Crossbar::read_far(std::uint32_t side, Request& request) {
    const auto asked = request.sectors;
    const Fs there = near_ / 2, across = (far_ - near_) / 2;
    request.l2_latency = near_;
    request.time += there;
    request.kind = Kind::read_copy;
    send(request.spot.near, request);
    request.kind = Kind::read;
    if (request.missing != 0) {
        request.sectors = request.missing;
        request.l2_latency = far_;
        request.time += across;
        send(request.spot.home, request);
        request.time += far_ - near_ - across;
        pass(links_[side], sectors_in(request.sectors) * link_sector_, request);
        request.sectors = asked;
        request.kind = Kind::fill_copy;
        send(request.spot.near, request);
        request.kind = Kind::read;
    }
    request.time += near_ - there;
}

void Crossbar::write_far(Request& request) {
    const Fs there = far_ / 2;
    request.l2_latency = far_;
    request.time += there;
    pass(links_[slice_partition_[request.spot.home]], sectors_in(request.sectors) * link_sector_, request);
    send(request.spot.home, request);
    request.time += far_ - there;
}

/// What is written is no longer what the copies hold.
void Crossbar::drop_copies(Request& request) {
    const Kind kind = request.kind;
    request.kind = Kind::drop_copy;
    for (std::uint32_t side = 0; side < placement_.partitions(); ++side) {
        if (side != slice_partition_[request.spot.home]) send(placement_.counterpart(request.spot.home, side), request);
    }
    request.kind = kind;
}

void Crossbar::send(std::uint32_t slice, Request& request) {
    sc_core::sc_time delay;
    targets_[slice]->b_transport(request, delay);
}

void Crossbar::pass(model::Calendar& port, Fs service, Request& request) {
    const Fs start = port.reserve(request.time, service) - service;
    request.crossbar_wait += start - request.time;
    request.time = start;
}

void Crossbar::reset() {
    for (auto& port : read_ports_) port.reset();
    for (auto& port : write_ports_) port.reset();
    for (auto& link : links_) link.reset();
    for (auto* link : {&host_link_, &peer_link_}) {
        if (*link) (*link)->reset();
    }
    read_bytes_ = write_bytes_ = 0;
}

}  // namespace rafter::machine
