// The execution pipes the resident CTAs of an SM share. Plain C++ on kernel time. docs/model/sm.md, equations (S.4)-(S.7).
#pragma once

#include <array>
#include <cstdint>

#include "sim/config/hw_config.h"
#include "sim/model/calendar.h"
#include "sim/program/cta.h"
#include "sim/stats/cause.h"
#include "sim/stats/result.h"

namespace rafter::machine {

using model::Fs;

/// FLOP of one SM a clock in products of `dtype`: its tensor cores, or its vector lanes. Errors: InternalError when there are
/// none for it.
std::int64_t flop_per_clk(const config::HwConfig& gpu, DType dtype, bool tensor);

class Pipes {
public:
    explicit Pipes(const config::HwConfig& gpu) : gpu_(gpu) {}

    void begin_kernel(Hertz clk);

    struct Done {
        Fs at{0};
        stats::Cause cause{stats::Cause::tensor};
    };
    /// A CTA-wide matrix product behind the earlier ones (S.4). Errors: InternalError when the dtype has no tensor rate here.
    Done mma(const program::Mma& mma, Fs now);
    Done vector(const program::Vector& work, Fs now);  ///< (S.5)
    Done shared(std::int64_t bytes, Fs now);           ///< (S.6)
    Fs barrier(Fs now) const { return now + barrier_; }

    struct Busy {
        Fs from, to;
        stats::Cause cause;
    };
    /// Latest busy period of each pipe, in the order in which time is charged to them.
    std::array<Busy, 4> busy() const;
    std::int64_t shared_bytes() const { return shared_bytes_; }
    const stats::LaneWork& lane_work() const { return lanes_; }

private:
    void count(const program::Vector& work);
    Fs at_rate(std::int64_t amount, std::int64_t per_clk) const;

    const config::HwConfig& gpu_;
    Hertz clk_{1};
    Fs barrier_{0}, tensor_latency_{0}, fma_latency_{0}, shared_latency_{0};
    model::Pipe tensor_, fma_, integer_, sfu_, shared_, issue_;
    std::int64_t shared_bytes_{0};
    stats::LaneWork lanes_;
};

}  // namespace rafter::machine
