// The machine's books, and what is added to them for work that is left out. docs/model/steady.md.
#include <algorithm>

#include "sim/machine/gpu.h"
#include "sim/program/access.h"

namespace rafter::machine {

model::Tally Gpu::simulated(Fs now) const {
    model::Tally tally;
    tally.clock = tally.time = now;
    for (const auto& sm : sms_) {
        const auto& times = sm->breakdown().times();
        for (std::size_t i = 0; i < times.size(); ++i) tally.causes[i] += times[i];
        const auto& counters = sm->memory_counters();
        tally.lines += counters.lines;
        tally.events += sm->events();
        tally.traffic.l1_read += Bytes(counters.l1_read + sm->shared_bytes());
        tally.shared += sm->shared_bytes();
        tally.traffic.l1_write += Bytes(counters.l1_write);
        tally.lanes += sm->lane_work();
        tally.resident += sm->resident_time(now);
    }
    tally.traffic.l2_read = Bytes(crossbar_.read_bytes());
    tally.traffic.l2_write = Bytes(crossbar_.write_bytes());
    tally.traffic.link_read = Bytes(crossbar_.link_read_bytes());
    tally.traffic.link_write = Bytes(crossbar_.link_write_bytes());
    tally.traffic.hbm_read = Bytes(dram_.read_bytes());
    tally.traffic.hbm_write = Bytes(dram_.write_bytes());
    for (const auto& slice : slices_) tally.fills += slice->tags().fills();
    return tally;
}

model::Tally Gpu::read(Fs now) const {
    model::Tally tally = simulated(now);
    tally += left_out_;
    tally.hbm_capacity = static_cast<std::int64_t>(hbm_bytes(tally.time));
    return tally;
}

void Gpu::leave_out(const model::Tally& sample, std::int64_t n, std::int64_t d, Fs now) {
    model::Tally part = sample.scaled(n, d);
    balance(part);
    age_l2(sample, part, now);
    left_out_ += part;
}

// The SMs' books were last written at different moments, so that a sample's causes are a little more or less than its time: those
// of SMs with CTAs are scaled to it, and an SM without has waited. (T.5)
void Gpu::balance(model::Tally& part) const {
    std::int64_t active = 0;
    stats::CauseTimes waits{};
    for (const auto& sm : sms_) {
        active += sm->busy() ? 1 : 0;
        if (!sm->busy()) waits[static_cast<std::size_t>(sm->used() ? stats::Cause::tail : stats::Cause::idle)].value += part.time;
    }
    __extension__ using Wide = __int128;
    std::int64_t sum = 0, left = active * part.time;
    for (const auto cause : part.causes) sum += cause.value;
    std::size_t largest = 0;
    for (std::size_t i = 0; i < stats::kCauses; ++i) {
        std::int64_t& share = part.causes[i].value;
        share = sum > 0 ? static_cast<std::int64_t>(Wide{share} * active * part.time / sum) : 0;
        left -= share;
        if (share > part.causes[largest].value) largest = i;
    }
    part.causes[largest].value += left;
    for (std::size_t i = 0; i < stats::kCauses; ++i) part.causes[i] += waits[i];
    part.resident = active * part.time;
}

// What enters the L2 makes others leave it; what they still owe the DRAM is written. (T.6)
void Gpu::age_l2(const model::Tally& sample, model::Tally& part, Fs now) {
    const auto slices = static_cast<std::int64_t>(slices_.size());
    std::int64_t replaced = 0, sectors = 0;
    const std::int64_t stored = sample.traffic.l2_write.value / program::kLineBytes;
    model::TagArray::Entering entering;
    entering.dirty = sample.fills > 0 ? std::min<std::int64_t>(1024, stored * 1024 / sample.fills) : 0;
    entering.since = sample.clock;
    entering.now = now;
    for (std::int64_t i = 0; i < slices; ++i) {
        entering.lines = part.fills * (i + 1) / slices - part.fills * i / slices;
        const auto aged = slices_[static_cast<std::size_t>(i)]->tags().age(entering);
        replaced += aged.replaced;
        sectors += aged.written_sectors;
    }
    if (replaced == 0 || replaced * 20 < std::min(part.fills, l2_lines()))
        return;  // the sample itself turned the L2 over: its writes are typical
    __extension__ using Wide = __int128;
    const std::int64_t entered = std::min(part.traffic.l2_write.value, part.fills * program::kLineBytes);
    const std::int64_t passed = std::max<std::int64_t>(0, part.fills - replaced);  // entered, and have left again
    const auto left = static_cast<std::int64_t>(Wide{entered} * passed / part.fills);
    part.traffic.hbm_write = Bytes(sectors * program::kSectorBytes + left);
}

// A sample is off by a little either way; its sum must not make the kernel faster than every SM at its full rate. (T.7)
void Gpu::hold_to_peak(const program::Kernel& kernel) {
    if (left_out_.time == 0) return;
    const Count macs = kernel.tensor ? kernel.issued_macs : kernel.lane_macs;
    if (macs == 0) return;
    constexpr Count kFemto = 1'000'000'000'000'000;
    const auto sms = static_cast<std::int64_t>(sms_.size());
    const Count flop_per_s = static_cast<Count>(flop_per_clk(gpu_, kernel.dtype, kernel.tensor)) * static_cast<Count>(sms) *
                             static_cast<Count>(clk_.value);
    const auto least = static_cast<Fs>((2 * macs * kFemto + flop_per_s - 1) / flop_per_s);
    const Fs missing = grid_.start() + least - grid_.end() - left_out_.time;
    if (missing <= 0) return;
    left_out_.time += missing;
    left_out_.resident += missing * sms;
    left_out_.causes[static_cast<std::size_t>(kernel.tensor ? stats::Cause::tensor : stats::Cause::fma)].value += missing * sms;
}

std::int64_t Gpu::l2_lines() const {
    std::int64_t lines = 0;
    for (const auto& slice : slices_) lines += slice->tags().capacity_lines();
    return lines;
}

double Gpu::hbm_bytes(Fs time) const { return gpu_.dram.peak_bytes_per_s() * static_cast<double>(time) * 1e-15; }

}  // namespace rafter::machine
