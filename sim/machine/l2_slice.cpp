#include "sim/machine/l2_slice.h"

#include <algorithm>

#include "sim/program/access.h"

namespace rafter::machine {

namespace {

/// (L2.4): each slice serves its share of the chip's sustained bandwidth.
Fs sector_service(const config::HwConfig& gpu, Hertz clk) {
    const Femtoseconds all = clocks(program::kSectorBytes * gpu.l2.slices, clk);
    return std::max<Fs>(1, ceil_div(all.value, gpu.l2.bytes_per_clk));
}

std::int64_t lines_per_slice(const config::L2& l2) { return l2.capacity.value / program::kLineBytes / l2.slices; }

int granule_sectors(const config::Dram& dram) {
    return static_cast<int>(std::clamp<std::int64_t>(dram.access_granularity.value / program::kSectorBytes, 1, 4));
}

Fs burst_time(const config::Dram& dram) {
    return static_cast<Fs>(static_cast<double>(dram.access_granularity.value) * static_cast<double>(dram.channels) /
                           dram.peak_bytes_per_s() * 1e15);
}

}  // namespace

L2Slice::L2Slice(const sc_core::sc_module_name& name, int index, const config::HwConfig& gpu, const model::Placement& placement)
    : sc_module(name),
      socket("socket"),
      dram("dram"),
      index_(index),
      placement_(placement),
      sector_service_(sector_service(gpu, gpu.boost)),
      atomic_interval_(gpu.l2.atomic_interval.value),
      write_queue_(burst_time(gpu.dram) * gpu.dram.write_batch * 2),
      bandwidth_(sector_service_ * 4),
      tags_(lines_per_slice(gpu.l2), gpu.l2.ways, granule_sectors(gpu.dram)) {
    socket.bind(*this);
}

void L2Slice::b_transport(tlm::tlm_generic_payload& transaction, sc_core::sc_time& delay) {
    Request& request = request_of(transaction);
    if (request.kind >= Kind::read_copy) return copy(request);
    const Fs work = sectors_in(request.sectors) * sector_service_;
    // An atomic reads, adds and writes: it holds the slice twice as long (L2.5).
    const Fs service = request.kind == Kind::atomic ? 2 * work : work;
    const Fs start = bandwidth_.reserve(request.time, service) - service;
    request.l2_wait += start - request.time;
    request.time = start;
    if (request.kind == Kind::atomic) follow(request);

    auto outcome = request.kind == Kind::write ? tags_.write(request.spot.where, request.spot.local, request.sectors, start)
                                               : tags_.read(request.spot.where, request.spot.local, request.sectors, start);
    if (request.kind == Kind::atomic) {
        const auto written = tags_.write(request.spot.where, request.spot.local, request.sectors,
                                         start);  // evicts only where there is no cache at all
        if (written.evicted_dirty != 0) outcome = {outcome.missing, written.evicted_dirty, written.victim, outcome.ready};
    }
    if (outcome.evicted_dirty != 0) {
        const Fs accepted = write_back(outcome, start);
        if (request.kind != Kind::read) hold(request, accepted, request.hbm_wait);
    }
    if (outcome.missing != 0) {
        fetch(transaction, request, outcome.missing, delay);
    } else if (request.kind == Kind::read) {
        hold(request, outcome.ready, request.hbm_latency);  // hit under a miss: the fetch is on its way
    }
}

/// Atomics on one line take turns: each waits for what the one before it wrote. (L2.8)
void L2Slice::follow(Request& request) {
    if (request.spot.local == last_atomic_) hold(request, last_atomic_time_ + atomic_interval_, request.l2_wait);
    last_atomic_ = request.spot.local;
    last_atomic_time_ = request.time;
}

/// A copy of a line of another partition: never dirty, fetched by the crossbar from the line's home. (L2.6)
void L2Slice::copy(Request& request) {
    if (request.kind == Kind::drop_copy) return tags_.drop(request.spot.where);
    if (request.kind == Kind::fill_copy) return tags_.set_ready(request.time);
    const Fs service = sectors_in(request.sectors) * sector_service_;
    const Fs start = bandwidth_.reserve(request.time, service) - service;
    request.l2_wait += start - request.time;
    request.time = start;
    const auto outcome = tags_.read(request.spot.where, request.spot.local, request.sectors, start);
    if (outcome.evicted_dirty != 0) write_back(outcome, start);
    request.missing = outcome.missing;
    if (outcome.missing == 0) hold(request, outcome.ready, request.hbm_latency);
}

void L2Slice::hold(Request& request, Fs until, Fs& share) {
    if (until <= request.time) return;
    share += until - request.time;
    request.time = until;
}

void L2Slice::fetch(tlm::tlm_generic_payload& transaction, Request& request, model::SectorMask missing, sc_core::sc_time& delay) {
    const auto asked = request.sectors;
    const auto kind = request.kind;
    request.sectors = missing;
    request.kind = Kind::read;
    dram_->b_transport(transaction, delay);
    request.sectors = asked;
    request.kind = kind;
    tags_.set_ready(request.time);
}

/// Sends the victim's dirty sectors to the DRAM; returns when the evicting write may go on (the write queue holds it back when
/// full).
Fs L2Slice::write_back(const model::TagArray::Outcome& outcome, Fs at) {
    eviction_.begin(Kind::write, global_line(outcome.victim), outcome.evicted_dirty, at);
    sc_core::sc_time delay;
    dram_->b_transport(eviction_, delay);
    return eviction_.time - write_queue_;
}

void L2Slice::set_clock(const config::HwConfig& gpu, Hertz clk) { sector_service_ = sector_service(gpu, clk); }

void L2Slice::reset() {
    last_atomic_ = ~std::uint64_t{0};
    bandwidth_.reset();
    tags_.clear();
}

void L2Slice::install(std::uint64_t local, bool dirty, Fs when) {
    if (dirty) {
        tags_.write(local, model::kAllSectors, when);
    } else {
        tags_.read(local, model::kAllSectors, when);
    }
}

}  // namespace rafter::machine
