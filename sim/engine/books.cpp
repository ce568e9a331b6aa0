#include "sim/engine/books.h"

#include <algorithm>

#include "sim/engine/governor.h"
#include "sim/stats/roofline.h"

namespace rafter::engine {

void add(stats::KernelResult& result, const machine::KernelMeasurement& measured, std::int64_t times, Femtoseconds gap) {
    result.count += times;
    result.time += measured.time * times;
    result.launch += gap * times;
    for (std::size_t i = 0; i < stats::kCauses; ++i) result.causes[i] += measured.causes[i] * times;
    result.traffic += measured.traffic * times;
    result.lanes += measured.lanes * times;
    result.clock = measured.clock;
    result.line_requests += measured.line_requests * times;
    result.events += measured.events * times;
    result.resident += measured.resident * times;
}

void close_layer(stats::LayerResult& row, const config::HwConfig& gpu, const Protocol& protocol) {
    const std::int64_t chain = row.parallelism.chain_length;
    const stats::KernelResult* longest = nullptr;
    for (auto& kernel : row.kernels) {
        kernel.parallelism.busy_sms =
            static_cast<double>(kernel.resident.value) / static_cast<double>(std::max<std::int64_t>(1, kernel.time.value));
        for (std::size_t i = 0; i < stats::kCauses; ++i) row.causes[i] += kernel.causes[i];
        row.traffic += kernel.traffic;
        kernel.energy = energy_of(kernel, gpu, protocol);
        row.energy += kernel.energy;
        if (longest == nullptr || kernel.time > longest->time) longest = &kernel;
    }
    if (longest != nullptr) row.parallelism = longest->parallelism, row.clock = longest->clock;
    row.parallelism.chain_length = chain;
    stats::finish_layer(row, gpu);
}

}  // namespace rafter::engine
