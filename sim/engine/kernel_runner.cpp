#include "sim/engine/kernel_runner.h"

#include <algorithm>

#include <fmt/format.h>

#include "sim/core/error.h"
#include "sim/engine/kernel_cache.h"
#include "sim/lowering/lower.h"

namespace rafter::engine {

namespace {

constexpr std::int64_t kPage = 2 << 20;  // cudaMalloc hands out 2 MiB pages

std::int64_t base_of(program::Tier tier) {
    return tier == program::Tier::hbm ? 0 : tier == program::Tier::host ? program::kHostBase : program::kPeerBase;
}

/// The first free page of a tier.
std::int64_t end_of(const std::vector<program::Buffer>& buffers, program::Tier tier = program::Tier::hbm) {
    const std::int64_t base = base_of(tier), above = tier == program::Tier::host ? program::kPeerBase : base + program::kHostBase;
    std::int64_t end = base;
    for (const auto& buffer : buffers) {
        if (buffer.base >= base && buffer.base < above) end = std::max(end, buffer.base + buffer.size);
    }
    return ceil_div(end, kPage) * kPage;
}

/// What the shared-memory carve-out of the resident CTAs leaves to the L1.
std::int64_t l1_lines(const program::Resources& resources, std::int64_t resident, const config::Sm& sm) {
    const Bytes per_cta = resources.shared_memory + sm.shared_memory_reserved_per_cta;
    const std::int64_t left = sm.l1_and_shared.value - per_cta.value * resident;
    return std::max<std::int64_t>(0, left) / program::kLineBytes;
}

}  // namespace

std::vector<program::Buffer> assign_addresses(const program::Kernel& kernel) {
    std::vector<program::Buffer> buffers;
    for (const auto& argument : kernel.arguments) {
        const auto same = std::find_if(buffers.begin(), buffers.end(), [&](const auto& b) { return b.id == argument.tensor; });
        if (same != buffers.end()) {
            same->size = std::max(same->size, argument.size);
            buffers.push_back({argument.tensor, same->base, argument.size});
        } else {
            buffers.push_back({argument.tensor, end_of(buffers, argument.tier), argument.size});
        }
    }
    return buffers;
}

KernelRunner::KernelRunner(const config::HwConfig& gpu, const RunOptions& options)
    : gpu_(gpu), options_(options), clock_(gpu.locked.value_or(gpu.boost)) {}

const machine::KernelMeasurement& KernelRunner::run(const program::Kernel& kernel, const StartState& start, Femtoseconds gap) {
    if (options_.exact) return latest_ = simulate(kernel, start, gap);
    const std::string key = fmt::format("{}|{}|{}|{}", kernel.signature, clock_.value, gap.value, start.key());
    const auto known = memo_.find(key);
    if (known != memo_.end()) return known->second;
    return memo_.emplace(key, find_or_simulate(key, kernel, start, gap)).first->second;
}

machine::KernelMeasurement KernelRunner::find_or_simulate(const std::string& key, const program::Kernel& kernel,
                                                          const StartState& start, Femtoseconds gap) {
    if (options_.cache == nullptr) return simulate(kernel, start, gap);
    const std::string all = gpu_.hash + "|" + key;
    if (auto known = options_.cache->find(all)) {
        ++cached_;
        count(*known);
        return *known;
    }
    const auto measured = simulate(kernel, start, gap);
    options_.cache->keep(all, measured);
    return measured;
}

void KernelRunner::count(const machine::KernelMeasurement& measured) {
    events_ += measured.simulated_events;
    line_requests_ += measured.simulated_lines;
    lines_ += measured.line_requests;
    units_ += measured.units;
    simulated_units_ += measured.simulated_units;
}

machine::KernelMeasurement KernelRunner::simulate(const program::Kernel& kernel, const StartState& start, Femtoseconds gap) {
    std::string limiter;
    const std::int64_t resident = lowering::ctas_per_sm(kernel.resources, gpu_.sm, &limiter);
    if (resident == 0) throw Error(fmt::format("error: kernel {} does not fit an SM of {}: {}", kernel.name, gpu_.name, limiter));
    if (kernel.cooperative && kernel.grid > resident * gpu_.sm.count) {
        throw InternalError(
            fmt::format("cooperative kernel {} has {} CTAs, {} fit", kernel.name, kernel.grid, resident * gpu_.sm.count));
    }
    machine::KernelRun run;
    run.kernel = &kernel;
    run.buffers = assign_addresses(kernel);
    run.launch_gap = gap;
    run.clock = clock_;
    run.ctas_per_sm = resident;
    run.l1_lines = l1_lines(kernel.resources, resident, gpu_.sm);
    run.steady = !options_.exact;
    if (start.foreign_dirty > 0) run.warm.push_back({end_of(run.buffers), start.foreign_dirty, true});
    for (std::size_t i = 0; i < start.arguments.size(); ++i) {
        const auto& argument = start.arguments[i];
        const auto& buffer = run.buffers[i];
        if (argument.resident == 0) continue;
        // A streaming kernel leaves the end of a tensor behind.
        const std::int64_t from = buffer.base + (buffer.size - argument.resident) / program::kLineBytes * program::kLineBytes;
        run.warm.push_back({from, buffer.base + buffer.size - from, argument.dirty, argument.copied_quarters * 256});
    }
    if (!machine_) machine_.emplace(gpu_);
    const auto measured = machine_->run(run);
    ++simulated_;
    count(measured);
    return measured;
}

}  // namespace rafter::engine
