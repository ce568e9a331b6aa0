// The closed set of reasons an SM is not (or is) doing work, and of what bounds a layer.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "sim/core/quantity.h"

namespace rafter::stats {

enum class Cause : std::uint8_t {
    tensor,
    fma,
    sfu,
    shared_memory,
    l1,
    crossbar,
    l2_bandwidth,
    l2_latency,
    hbm_bandwidth,
    hbm_latency,
    link,
    dependency,
    barrier,
    launch,
    tail,
    idle
};
inline constexpr std::size_t kCauses = 16;
std::string_view name(Cause cause);
std::string_view description(Cause cause);  ///< half a sentence for the report

enum class Bound : std::uint8_t { compute, memory_bandwidth, memory_latency, dependency, launch, parallelism, capacity };
std::string_view name(Bound bound);

/// SM time by cause, in femtoseconds summed over all SMs.
using CauseTimes = std::array<Femtoseconds, kCauses>;

/// A state machine with a clock: every femtosecond since `start` is charged to exactly one cause.
class Breakdown {
public:
    explicit Breakdown(Femtoseconds start = Femtoseconds{0}) : accounted_(start) {}
    /// Charges [accounted, until) to `cause`. Errors: until before the last call is a broken promise (InternalError).
    void charge(Femtoseconds until, Cause cause);
    Femtoseconds accounted() const { return accounted_; }
    const CauseTimes& times() const { return times_; }

private:
    Femtoseconds accounted_;
    CauseTimes times_{};
};

}  // namespace rafter::stats
