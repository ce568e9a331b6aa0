#include "sim/machine/grid.h"

#include <algorithm>

#include <fmt/format.h>

#include "sim/machine/sm.h"

namespace rafter::machine {

namespace {

constexpr std::int64_t kFewWaves = 4;  // what is wrong with a sample does not even out over so few

}  // namespace

void Grid::begin(const program::Kernel& kernel, const std::vector<program::Buffer>& buffers, Fs grid_sync, std::int64_t slots,
                 model::Meter* meter) {
    kernel_ = &kernel;
    buffers_ = &buffers;
    grid_sync_ = grid_sync;
    end_ = latest_arrival_ = next_ = finished_ = 0;
    cuts_.clear();
    newest_ = kernel.grid - 1;
    units_.begin(*kernel.code, kernel.grid, std::min(slots, kernel.grid), meter);
    std::int64_t units = kernel.grid;
    for (const program::Repeat& repeat : kernel.code->repeats(0)) units = std::max(units, repeat.end);
    loops_.begin(meter, units <= kFewWaves * std::min(slots, kernel.grid));
    waiting_.clear();
    waiting_.reserve(static_cast<std::size_t>(kernel.cooperative ? kernel.grid : 0));
}

std::int64_t Grid::take(Fs now) {
    const std::int64_t left_out = units_.before(next_, 0, now);
    next_ += left_out;
    finished_ += left_out;
    return next_++;
}

// A CTA passes each cut once: with the unit that was to be at or behind its beginning.
std::int64_t Grid::next_unit(std::int64_t unit, std::int64_t stride, Fs now) {
    std::int64_t next = unit + stride;
    for (const Cut& cut : cuts_) {
        if (unit < cut.from && next >= cut.from) next += cut.units;
    }
    if (next <= newest_) return next;
    newest_ = next;
    const std::int64_t left_out = units_.before(next, stride, now);
    if (left_out == 0) return next;
    cuts_.push_back({next, left_out});
    newest_ += left_out;
    return newest_;
}

void Grid::finished(Fs drained) {
    ++finished_;
    end_ = std::max(end_, drained);
}

void Grid::arrive(Sm& sm, int slot, Fs now) {
    waiting_.push_back({&sm, slot});
    latest_arrival_ = std::max(latest_arrival_, now);
    if (static_cast<std::int64_t>(waiting_.size()) < kernel_->grid) return;
    const Fs release = latest_arrival_ + grid_sync_;
    for (const Waiter& waiter : waiting_) waiter.sm->wake(waiter.slot, release, stats::Cause::barrier);
    waiting_.clear();
}

std::string Grid::describe_stall() const {
    std::string text = fmt::format("kernel {} made no progress: {} of {} CTAs finished, {} never started", kernel_->name,
                                   finished_, kernel_->grid, kernel_->grid - next_);
    if (!waiting_.empty()) {
        text += fmt::format("; {} wait at the grid barrier for the other {}", waiting_.size(),
                            kernel_->grid - static_cast<std::int64_t>(waiting_.size()));
    }
    return text;
}

}  // namespace rafter::machine
