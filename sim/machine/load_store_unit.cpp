#include "sim/machine/load_store_unit.h"

namespace rafter::machine {

using program::kLineBytes;
using program::kSectorBytes;
using stats::Cause;

namespace {

/// Sectors of `line` that [from, to) touches.
model::SectorMask sectors_of(std::int64_t line, std::int64_t from, std::int64_t to) {
    const std::int64_t base = line * kLineBytes;
    const std::int64_t first = std::max<std::int64_t>(from - base, 0) / kSectorBytes;
    const std::int64_t last = (std::min(to - base, kLineBytes) - 1) / kSectorBytes;
    return static_cast<model::SectorMask>(((1 << (last - first + 1)) - 1) << first);
}

}  // namespace

LoadStoreUnit::LoadStoreUnit(const config::HwConfig& gpu, Socket& socket, const model::Placement& placement,
                             std::uint32_t partition)
    : gpu_(gpu),
      socket_(socket),
      placement_(placement),
      partition_(partition),
      l1_(gpu.sm.l1_and_shared.value / kLineBytes, gpu.sm.l1_ways),
      register_loads_(gpu.sm.lines_in_flight),
      async_loads_(gpu.sm.async_lines_in_flight),
      stores_(gpu.sm.lines_in_flight) {}

void LoadStoreUnit::begin_kernel(Hertz clk, std::int64_t l1_lines) {
    l1_.resize(l1_lines);
    register_loads_.reset();
    async_loads_.reset();
    stores_.reset();
    issue_.reset();
    sector_issue_ = std::max<Fs>(1, ceil_div(clocks(kSectorBytes, clk).value, gpu_.sm.l1_bytes_per_clk));
    l1_latency_ = clocks(gpu_.sm.l1_latency_clk, clk).value;
    counters_ = {};
}

// Cuts an access into lines; rows that follow each other in memory are one piece.
template <class PerLine>
void LoadStoreUnit::for_each_line(const program::Access& access, PerLine per_line) {
    const bool dense = access.pitch == access.row_bytes;
    const std::int64_t rows = dense ? 1 : access.rows;
    const std::int64_t row_bytes = dense ? access.rows * access.row_bytes : access.row_bytes;
    if (row_bytes <= 0) return;
    const bool whole = ((access.address | row_bytes | (rows > 1 ? access.pitch : 0)) & (kLineBytes - 1)) == 0;
    std::int64_t from = access.address;
    for (std::int64_t row = 0; row < rows; ++row, from += access.pitch) {
        const std::int64_t to = from + row_bytes, last = (to - 1) / kLineBytes;
        for (std::int64_t line = from / kLineBytes; line <= last; ++line) {
            per_line(static_cast<std::uint64_t>(line), whole ? model::kAllSectors : sectors_of(line, from, to));
        }
    }
}

program::Ticket LoadStoreUnit::load(const program::Access& access, program::Path path, Fs now) {
    counters_.l1_read += access.rows * access.row_bytes;
    last_ = {now, Cause::l1};
    const bool cached = path == program::Path::through_l1;
    open(Kind::read, path == program::Path::async_copy ? async_loads_ : register_loads_, now);
    if (cached) {
        for_each_line(access, [&](std::uint64_t line, model::SectorMask sectors) {
            const auto missing = through_l1(line, sectors, now);
            if (missing != 0) add(line, missing);
            flush(true);  // its arrival must be known before the next line may hit it
        });
    } else {
        for_each_line(access, [&](std::uint64_t line, model::SectorMask sectors) { add(line, sectors); });
    }
    flush(false);
    return {last_.at, static_cast<std::uint8_t>(last_.cause)};
}

program::Ticket LoadStoreUnit::store(const program::Access& access, Kind kind, Fs now) {
    counters_.l1_write += access.rows * access.row_bytes;
    last_ = {now, Cause::l1};
    open(kind, stores_, now);
    for_each_line(access, [&](std::uint64_t line, model::SectorMask sectors) { add(line, sectors); });
    flush(false);
    return {last_.at, static_cast<std::uint8_t>(last_.cause)};
}

/// Sectors the L1 does not have; what it has is timed here.
model::SectorMask LoadStoreUnit::through_l1(std::uint64_t line, model::SectorMask sectors, Fs now) {
    const auto tags = l1_.read(line, sectors, now);
    const auto held = static_cast<model::SectorMask>(sectors & ~tags.missing);
    if (held != 0) {
        const Fs data = issue_.reserve(now, sectors_in(held) * sector_issue_) + l1_latency_;
        finish({std::max(data, tags.ready), tags.ready > data ? Cause::l2_latency : Cause::l1});
    }
    return tags.missing;
}

void LoadStoreUnit::open(Kind kind, model::InFlight& budget, Fs now) {
    burst_.kind = kind;
    burst_.budget = &budget;
    burst_.issued = left_ = now;
    burst_.count = 0;
}

void LoadStoreUnit::add(std::uint64_t line, model::SectorMask sectors) {
    const Fs service = sectors_in(sectors) * sector_issue_;
    burst_.lines[burst_.count++] = {line, sectors,   issue_.reserve(burst_.issued, service) - service,
                                    0,    Cause::l1, placement_.decode(line, partition_)};
    if (burst_.count == Burst::kMost) flush(false);
}

void LoadStoreUnit::flush(bool fill_l1) {
    if (burst_.count == 0) return;
    sc_core::sc_time delay;
    socket_->b_transport(burst_, delay);
    counters_.lines += static_cast<std::int64_t>(burst_.count);
    for (std::size_t i = 0; i < burst_.count; ++i) finish({burst_.lines[i].done, burst_.lines[i].cause});
    left_ = std::max(left_, burst_.lines[burst_.count - 1].leave);
    if (fill_l1) l1_.set_ready(burst_.lines[0].done);
    burst_.count = 0;
}

void LoadStoreUnit::finish(const Done& done) {
    if (done.at > last_.at) last_ = done;
}

}  // namespace rafter::machine
