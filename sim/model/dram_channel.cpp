#include "sim/model/dram_channel.h"

#include <algorithm>

#include "sim/model/divider.h"

namespace rafter::model {

namespace {

/// Reads and writes closer than this share the bus and pay for turning it round.
constexpr Fs kMixWindow = 1'000'000'000;  // 1 us: the drain interval of a write queue

Fs bus_time(const config::Dram& dram) {
    const double bytes_per_s = static_cast<double>(dram.channel_bits) * static_cast<double>(dram.data_rate_bps) / 8.0;
    const double burst = static_cast<double>(dram.access_granularity.value) / bytes_per_s * 1e15;
    const double refresh = static_cast<double>(dram.t_refi.value) / static_cast<double>(dram.t_refi.value - dram.t_rfc.value);
    const double ecc = dram.inline_ecc > 0 ? 1.0 + 1.0 / static_cast<double>(dram.inline_ecc) : 1.0;
    return std::max<Fs>(1, static_cast<Fs>(burst * refresh * ecc + 0.5));  // (H.1), (H.4), (H.7)
}

}  // namespace

DramChannel::DramChannel(const config::Dram& dram)
    : dram_(dram),
      fs_per_granule_(bus_time(dram)),
      granule_(dram.access_granularity.value),
      row_bytes_(dram.row.value),
      activate_interval_(std::max(dram.t_rrd.value, dram.t_faw.value / 4)),
      bus_(fs_per_granule_ * 2, 1024),
      activate_window_(activate_interval_) {
    const Bank bank{{}, Calendar(dram.t_ras.value + dram.t_rp.value, 64)};
    banks_.assign(static_cast<std::size_t>(dram.banks), bank);
}

bool DramChannel::find_row(Bank& bank, std::uint64_t row) {
    std::size_t i = 0;
    while (i < bank.rows.size() - 1 && bank.rows[i] != row + 1) ++i;
    const bool hit = bank.rows[i] == row + 1;
    std::rotate(bank.rows.begin(), bank.rows.begin() + static_cast<std::ptrdiff_t>(i),
                bank.rows.begin() + static_cast<std::ptrdiff_t>(i) + 1);
    bank.rows[0] = row + 1;
    return hit;
}

// A closed row waits for its bank (one activation per tRC) and for the channel's activation window, then tRP + tRCD (H.2), (H.3).
Fs DramChannel::activate(Bank& bank, Fs arrival) {
    const Fs cycle = dram_.t_ras.value + dram_.t_rp.value;
    const Fs bank_start = bank.activates.reserve(arrival, cycle) - cycle;
    const Fs start = activate_window_.reserve(bank_start, activate_interval_) - activate_interval_;
    return start + dram_.t_rp.value + dram_.t_rcd.value;
}

// A write queue drains in batches: each batch turns the bus twice, and only when reads are about as well (H.5).
Fs DramChannel::turnaround(Fs arrival, bool write) {
    Fs& mine = write ? last_write_ : last_read_;
    mine = std::max(mine, arrival);
    const Fs other = write ? last_read_ : last_write_;
    if (!write || other == 0 || arrival - other > kMixWindow) return 0;
    return (dram_.t_wtr.value + dram_.t_rtw.value) / std::max<std::int64_t>(1, dram_.write_batch);
}

DramChannel::Outcome DramChannel::access(Fs arrival, std::uint64_t local, std::int64_t bytes, bool write) {
    const std::uint64_t row_index = local / static_cast<std::uint64_t>(row_bytes_);
    Bank& bank = banks_[(mix(row_index) >> 32) * banks_.size() >> 32];
    Outcome outcome;
    outcome.row_hit = find_row(bank, row_index);
    const Fs ready = outcome.row_hit ? arrival : activate(bank, arrival);
    const std::int64_t granules = (bytes + granule_ - 1) / granule_;
    outcome.bytes = granules * granule_;
    const Fs service = granules * fs_per_granule_;
    const Fs on_bus = bus_.reserve(ready, service + granules * turnaround(arrival, write));
    const Fs open_row = outcome.row_hit ? 0 : dram_.t_rp.value + dram_.t_rcd.value;
    outcome.wait = on_bus - service - arrival - open_row;
    if (outcome.wait < 0) outcome.wait = 0;
    outcome.done = on_bus + (write ? 0 : dram_.latency.value);
    return outcome;
}

void DramChannel::reset() {
    bus_.reset();
    activate_window_.reset();
    for (Bank& bank : banks_) {
        bank.rows.fill(0);
        bank.activates.reset();
    }
    last_read_ = last_write_ = 0;
}

}  // namespace rafter::model
