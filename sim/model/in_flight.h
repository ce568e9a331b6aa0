// The bounded number of requests a unit may have outstanding (Little's law lives here). docs/model/sm.md, equation (S.2).
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "sim/model/arena.h"
#include "sim/model/calendar.h"

namespace rafter::model {

/// Slots are handed out in order: request i may leave when request i - capacity has come back.
class InFlight {
public:
    explicit InFlight(std::int64_t capacity) : done_(static_cast<std::size_t>(capacity > 0 ? capacity : 1), 0) {}

    /// When the slot of the next request is free.
    Fs next() const { return done_[head_]; }
    /// Why the latest request took as long as it did: the reason for which a full budget is full.
    std::uint8_t cause() const { return cause_; }
    void occupy(Fs done, std::uint8_t cause) {
        done_[head_] = done;
        cause_ = cause;
        if (++head_ == done_.size()) head_ = 0;
    }
    void reset() {
        std::fill(done_.begin(), done_.end(), Fs{0});
        head_ = 0;
        cause_ = 0;
    }

private:
    std::vector<Fs, ArenaAllocator<Fs>> done_;
    std::size_t head_{0};
    std::uint8_t cause_{0};
};

}  // namespace rafter::model
