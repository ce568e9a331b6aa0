#include "sim/model/calendar.h"

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
    const std::int64_t from = bucket;
    if (bucket >= full_from_ && bucket < full_to_) bucket = full_to_;
    advance(bucket);
    while (at(bucket) >= width()) advance(++bucket);
    if (from >= full_from_ && from <= full_to_) {
        full_to_ = std::max(full_to_, bucket);
    } else if (bucket - from > full_to_ - full_from_) {
        full_from_ = from;
        full_to_ = bucket;
    }
    return bucket;
}

// Keeps `bucket` inside the ring: the oldest buckets are forgotten (nothing arrives that long ago any more).
void Calendar::advance(std::int64_t bucket) {
    const std::int64_t lowest = bucket - static_cast<std::int64_t>(mask_);
    if (lowest <= base_) return;
    const std::int64_t stale_end = std::min(lowest, base_ + static_cast<std::int64_t>(mask_) + 1);
    for (std::int64_t b = base_; b < stale_end; ++b) at(b) = 0;
    base_ = lowest;
}

}  // namespace rafter::model
