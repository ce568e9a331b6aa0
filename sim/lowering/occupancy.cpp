// How many CTAs of a kernel an SM holds (CUDA occupancy calculator rules).
#include <algorithm>

#include "sim/core/quantity.h"
#include "sim/lowering/lower.h"

namespace rafter::lowering {

namespace {

constexpr std::int64_t kWarp = 32;
constexpr std::int64_t kRegisterUnit = 256;  // registers are handed to a warp in units of this
constexpr std::int64_t kSharedUnit = 128;    // bytes

std::int64_t round_to(std::int64_t value, std::int64_t unit) { return ceil_div(value, unit) * unit; }

}  // namespace

std::int64_t ctas_per_sm(const program::Resources& resources, const config::Sm& sm, std::string* limiter) {
    const std::int64_t warps = ceil_div(std::max<std::int64_t>(resources.threads, 1), kWarp);
    const std::int64_t registers = round_to(std::max<std::int64_t>(resources.registers_per_thread, 1) * kWarp, kRegisterUnit);
    const std::int64_t shared = round_to(resources.shared_memory.value + sm.shared_memory_reserved_per_cta.value, kSharedUnit);

    struct Limit {
        std::int64_t ctas;
        const char* name;
    };
    const Limit limits[] = {
        {resources.registers_per_thread > sm.max_registers_per_thread ? 0 : sm.registers / registers / warps, "registers"},
        {shared == 0 ? sm.max_ctas : (sm.shared_memory.value) / shared, "shared memory"},
        {sm.max_threads / (warps * kWarp), "threads"},
        {sm.max_ctas, "CTA slots"},
    };
    const Limit* least = &limits[0];
    for (const Limit& limit : limits) {
        if (limit.ctas < least->ctas) least = &limit;
    }
    const bool too_large = resources.shared_memory > sm.shared_memory_per_cta;
    if (limiter != nullptr) *limiter = too_large ? "shared memory" : least->name;
    return too_large ? 0 : least->ctas;
}

}  // namespace rafter::lowering
