#include "sim/machine/grid.h"

#include <algorithm>

#include <fmt/format.h>

#include "sim/machine/sm.h"

namespace rafter::machine {

void Grid::begin(const program::Kernel& kernel, const std::vector<program::Buffer>& buffers, Fs grid_sync) {
    kernel_ = &kernel;
    buffers_ = &buffers;
    grid_sync_ = grid_sync;
    end_ = latest_arrival_ = next_ = finished_ = 0;
    waiting_.clear();
    waiting_.reserve(static_cast<std::size_t>(kernel.cooperative ? kernel.grid : 0));
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
