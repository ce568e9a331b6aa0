#include "sim/model/calendar.h"

#include <algorithm>
#include <bit>

namespace rafter::model {

// The service does not fit what is left of its first bucket: it goes on in the next ones with room. (C.3)
Fs Calendar::spill(std::int64_t bucket, Fs arrival, Fs service) {
    Fs left = service;
    bucket = first_free(bucket);
    for (;;) {
        std::uint32_t& taken = at(bucket);
        const Fs room = width() - taken;
        if (left <= room) {
            taken += static_cast<std::uint32_t>(left);
            return std::max(arrival + service, (bucket << shift_) + taken);
        }
        left -= room;
        taken = static_cast<std::uint32_t>(width());
        bucket = first_free(bucket + 1);
    }
}

std::int64_t Calendar::first_free(std::int64_t bucket) {
    for (;; ++bucket) {
        advance(bucket);
        bucket = first_not_known_full(bucket);
        advance(bucket);
        if (at(bucket) < width()) return bucket;
        full_word(bucket) |= bit(bucket);
    }
}

/// At most one behind the ring.
std::int64_t Calendar::first_not_known_full(std::int64_t bucket) {
    const std::int64_t end = base_ + static_cast<std::int64_t>(mask_) + 1;
    while (bucket < end) {
        const auto inside = static_cast<int>(static_cast<std::uint64_t>(bucket) % kBits);
        const int full = std::countr_one(full_word(bucket) >> inside);
        if (full < kBits - inside) return bucket + full;
        bucket += kBits - inside;
    }
    return end;
}

void Calendar::forget(std::int64_t lowest) {
    const std::int64_t stale_end = std::min(lowest, base_ + static_cast<std::int64_t>(mask_) + 1);
    for (std::int64_t b = base_; b < stale_end; ++b) {
        at(b) = 0;
        full_word(b) &= ~bit(b);
    }
    base_ = lowest;
}

}  // namespace rafter::model
