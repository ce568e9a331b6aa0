#include "sim/stats/cause.h"

#include "sim/core/error.h"

namespace rafter::stats {

namespace {

struct Text {
    std::string_view name, description;
};

constexpr std::array<Text, kCauses> kTexts{{
    {"tensor", "computes on tensor cores"},
    {"fma", "computes on vector lanes"},
    {"sfu", "computes special functions"},
    {"shared_memory", "waits on shared-memory bandwidth"},
    {"l1", "waits on the load/store path"},
    {"crossbar", "waits on its crossbar port"},
    {"l2_bandwidth", "waits on L2 bandwidth"},
    {"l2_latency", "waits on L2 latency"},
    {"hbm_bandwidth", "waits on HBM bandwidth"},
    {"hbm_latency", "waits on HBM latency"},
    {"link", "waits on the link to the host or a peer"},
    {"dependency", "waits on the result of an instruction"},
    {"barrier", "waits at a barrier"},
    {"launch", "waits for a kernel launch"},
    {"tail", "has finished while other SMs work"},
    {"idle", "never got a CTA"},
}};

}  // namespace

std::string_view name(Cause cause) { return kTexts[static_cast<std::size_t>(cause)].name; }
std::string_view description(Cause cause) { return kTexts[static_cast<std::size_t>(cause)].description; }

std::string_view name(Bound bound) {
    constexpr std::array<std::string_view, 7> names{"compute", "memory_bandwidth", "memory_latency", "dependency",
                                                    "launch",  "parallelism",      "capacity"};
    return names[static_cast<std::size_t>(bound)];
}

void Breakdown::charge(Femtoseconds until, Cause cause) {
    RAFTER_CHECK(until >= accounted_, "time charged twice");
    times_[static_cast<std::size_t>(cause)] += until - accounted_;
    accounted_ = until;
}

}  // namespace rafter::stats
