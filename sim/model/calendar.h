// A contended server as a calendar of capacity. docs/model/calendar.md, equations (C.1)-(C.3).
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <vector>

#include "sim/model/arena.h"

namespace rafter::model {

/// Time in femtoseconds since the start of the kernel.
using Fs = std::int64_t;

/// Ring of time buckets, each with the capacity already taken. A request takes the first free capacity at or after its
/// arrival, whatever the order in which requests are made: reserving in issue order for future arrivals would serve them
/// in the wrong order and overstate queueing.
class Calendar {
public:
    /// `service` is the typical service time: a bucket is the power of two at or above 8 x service (at most 0.5 us), the ring
    /// holds `buckets` of them (rounded up to a power of two). Errors: none; service must be positive.
    explicit Calendar(Fs service, std::int64_t buckets = 256)
        : shift_(static_cast<int>(std::bit_width(static_cast<std::uint64_t>(std::clamp<Fs>(service * 8, 8, kLongest) - 1)))),
          mask_(std::bit_ceil(static_cast<std::uint64_t>(std::max(buckets, kBits))) - 1),
          words_((mask_ + 1) / kBits),
          ring_(words_ + mask_ + 1, 0) {}

    /// Takes `service` femtoseconds of the server at or after `arrival`; returns when the service is complete. (C.1)
    Fs reserve(Fs arrival, Fs service) {
        const std::int64_t bucket = std::max(arrival >> shift_, base_);
        if (bucket <= base_ + static_cast<std::int64_t>(mask_)) [[likely]] {
            std::uint32_t& taken = at(bucket);
            const Fs after = taken + service;
            if (after <= width()) [[likely]] {
                taken = static_cast<std::uint32_t>(after);
                return std::max(arrival + service, (bucket << shift_) + after);  // (C.2)
            }
        }
        return spill(bucket, arrival, service);
    }

    void reset() {
        std::fill(ring_.begin(), ring_.end(), 0U);
        base_ = 0;
    }

    Fs width() const { return Fs{1} << shift_; }

private:
    static constexpr Fs kLongest = Fs{1} << 29;  ///< so that a bucket fits 32 bits

    static constexpr std::int64_t kBits = 32;

    std::uint32_t& at(std::int64_t bucket) { return ring_[words_ + (static_cast<std::uint64_t>(bucket) & mask_)]; }
    std::uint32_t& full_word(std::int64_t bucket) { return ring_[(static_cast<std::uint64_t>(bucket) & mask_) / kBits]; }
    static std::uint32_t bit(std::int64_t bucket) { return 1U << (static_cast<std::uint64_t>(bucket) % kBits); }
    Fs spill(std::int64_t bucket, Fs arrival, Fs service);
    std::int64_t first_free(std::int64_t bucket);
    std::int64_t first_not_known_full(std::int64_t bucket);
    /// Keeps `bucket` inside the ring: the oldest buckets are forgotten (nothing arrives that long ago any more).
    void advance(std::int64_t bucket) {
        if (bucket - static_cast<std::int64_t>(mask_) > base_) forget(bucket - static_cast<std::int64_t>(mask_));
    }
    void forget(std::int64_t lowest);

    int shift_;
    std::uint64_t mask_;
    std::uint64_t words_;
    /// A bit for each bucket that is known to be full (they make a saturated server cheap), then what is taken of each.
    std::vector<std::uint32_t, ArenaAllocator<std::uint32_t>> ring_;
    std::int64_t base_{0};  ///< oldest bucket in the ring
};

/// A server used in the order of the calls, by one component with a monotone clock (a pipe inside an SM).
class Pipe {
public:
    /// Takes `service` behind what is queued; returns when it is complete.
    Fs reserve(Fs now, Fs service) {
        if (now > free_) busy_from_ = free_ = now;
        free_ += service;
        return free_;
    }
    Fs free_at() const { return free_; }
    Fs busy_from() const { return busy_from_; }  ///< start of the busy period that ends at free_at()
    void reset() { free_ = busy_from_ = 0; }

private:
    Fs free_{0}, busy_from_{0};
};

}  // namespace rafter::model
