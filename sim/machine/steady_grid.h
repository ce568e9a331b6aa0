// Watches the units of work of a grid (CTAs, or the tiles of persistent ones) go out. When windows of like units take the same
// time, cause the same traffic and leave the L2 alone, units are left out in whole periods. docs/model/steady.md.
#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <tuple>

#include "sim/model/meter.h"
#include "sim/model/steady.h"
#include "sim/program/kernel.h"

namespace rafter::machine {

using model::Fs;

class SteadyGrid {
public:
    /// `slots`: units of `grid` under way at a time. meter null: every unit is run.
    void begin(const program::Code& code, std::int64_t grid, std::int64_t slots, model::Meter* meter);
    /// Unit `unit` is the next to start: how many units to leave out before it does. `stride` > 0: of persistent CTAs, each of
    /// which takes every stride-th unit.
    std::int64_t before(std::int64_t unit, std::int64_t stride, Fs now) { return unit < next_ ? 0 : check(unit, stride, now); }
    /// A unit has ended.
    void ended(std::int64_t lines) {
        ++units_;
        unit_lines_ += lines;
    }
    std::int64_t ended() const { return units_; }  ///< with those left out
    std::int64_t left_out() const { return left_out_; }

private:
    static constexpr std::int64_t kNever = std::numeric_limits<std::int64_t>::max();
    struct Level {
        program::Repeat repeat;
        std::int64_t window{0};     ///< units
        std::int64_t next{kNever};  ///< unit at which the window under way ends
        std::int64_t tail{0};       ///< units to be run at the end of the stretch
        model::Trend trend;
        model::Sample known;  ///< of earlier stretches with the same period
        model::Trust trust{16};
    };
    std::int64_t check(std::int64_t unit, std::int64_t stride, Fs now);
    void enter(std::int64_t unit);
    static void remember(Level& level, bool like);
    bool worthwhile(const program::Repeat& repeat, std::int64_t window) const;
    bool l2_settled(const Level& level, const model::Tally& sample, const model::Tally& so_far) const;
    std::int64_t try_cut(Level& level, std::int64_t unit, std::int64_t stride, const model::Tally& so_far);
    void leave_out(const model::Tally& sample, std::int64_t cut, Fs now);

    const program::Code* code_{nullptr};
    model::Meter* meter_{nullptr};
    std::int64_t grid_{0}, slots_{1}, next_{kNever}, until_{0};
    std::int64_t units_{0}, unit_lines_{0}, left_out_{0};
    std::array<Level, std::tuple_size_v<program::Repeats>> levels_;
};

}  // namespace rafter::machine
