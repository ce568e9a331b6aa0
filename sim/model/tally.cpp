#include "sim/model/tally.h"

namespace rafter::model {

using stats::Traffic;

namespace {

__extension__ using Wide = __int128;

/// Applies `change(mine, other)` to every count but the clock.
template <class Change>
void for_each_count(Tally& mine, const Tally& o, Change change) {
    change(mine.time, o.time);
    change(mine.progress, o.progress);
    for (std::size_t i = 0; i < stats::kCauses; ++i) change(mine.causes[i].value, o.causes[i].value);
    change(mine.traffic.l1_read.value, o.traffic.l1_read.value);
    change(mine.traffic.l1_write.value, o.traffic.l1_write.value);
    change(mine.traffic.l2_read.value, o.traffic.l2_read.value);
    change(mine.traffic.l2_write.value, o.traffic.l2_write.value);
    change(mine.traffic.hbm_read.value, o.traffic.hbm_read.value);
    change(mine.traffic.hbm_write.value, o.traffic.hbm_write.value);
    change(mine.traffic.link_read.value, o.traffic.link_read.value);
    change(mine.traffic.link_write.value, o.traffic.link_write.value);
    change(mine.lanes.fp64_flops, o.lanes.fp64_flops);
    change(mine.lanes.fp32_flops, o.lanes.fp32_flops);
    change(mine.lanes.fp16_flops, o.lanes.fp16_flops);
    change(mine.lanes.operations, o.lanes.operations);
    change(mine.resident, o.resident);
    change(mine.lines, o.lines);
    change(mine.events, o.events);
    change(mine.fills, o.fills);
    change(mine.units, o.units);
    change(mine.unit_lines, o.unit_lines);
    change(mine.hbm_capacity, o.hbm_capacity);
    change(mine.shared, o.shared);
    change(mine.step_lines, o.step_lines);
    change(mine.step_shared, o.step_shared);
}

}  // namespace

Tally& Tally::operator+=(const Tally& o) {
    for_each_count(*this, o, [](std::int64_t& a, std::int64_t b) { a += b; });
    return *this;
}

Tally Tally::operator-(const Tally& o) const {
    Tally difference = *this;
    for_each_count(difference, o, [](std::int64_t& a, std::int64_t b) { a -= b; });
    return difference;
}

Tally Tally::of_steps() const {
    Tally exact = *this;
    if (lines == 0) return exact;
    const auto scale = [this](std::int64_t count) { return static_cast<std::int64_t>(Wide{count} * step_lines / lines); };
    exact.lines = step_lines;
    exact.shared = step_shared;
    exact.fills = scale(fills);
    exact.traffic.l1_read = Bytes(scale(traffic.l1_read.value - shared) + step_shared);
    for (Bytes Traffic::*bytes : {&Traffic::l1_write, &Traffic::l2_read, &Traffic::l2_write, &Traffic::hbm_read,
                                  &Traffic::hbm_write, &Traffic::link_read, &Traffic::link_write})
        exact.traffic.*bytes = Bytes(scale((traffic.*bytes).value));
    exact.lanes = {scale(lanes.fp64_flops), scale(lanes.fp32_flops), scale(lanes.fp16_flops), scale(lanes.operations)};
    return exact;
}

Tally Tally::scaled(std::int64_t n, std::int64_t d) const {
    Tally part = *this;
    for_each_count(part, part, [&](std::int64_t& a, std::int64_t) { a = static_cast<std::int64_t>(Wide{a} * n / d); });
    return part;
}

}  // namespace rafter::model
