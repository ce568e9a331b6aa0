#include "sim/stats/result.h"

#include <algorithm>

namespace rafter::stats {

Traffic& Traffic::operator+=(const Traffic& o) {
    l1_read += o.l1_read;
    l1_write += o.l1_write;
    l2_read += o.l2_read;
    l2_write += o.l2_write;
    hbm_read += o.hbm_read;
    hbm_write += o.hbm_write;
    link_read += o.link_read;
    link_write += o.link_write;
    return *this;
}

Traffic Traffic::operator*(std::int64_t n) const {
    return {l1_read * n, l1_write * n, l2_read * n, l2_write * n, hbm_read * n, hbm_write * n, link_read * n, link_write * n};
}

LaneWork& LaneWork::operator+=(const LaneWork& o) {
    fp64_flops += o.fp64_flops;
    fp32_flops += o.fp32_flops;
    fp16_flops += o.fp16_flops;
    operations += o.operations;
    return *this;
}

LaneWork LaneWork::operator*(std::int64_t n) const { return {fp64_flops * n, fp32_flops * n, fp16_flops * n, operations * n}; }

Energy& Energy::operator+=(const Energy& o) {
    static_j += o.static_j;
    clock_j += o.clock_j;
    tensor_j += o.tensor_j;
    vector_j += o.vector_j;
    l1_j += o.l1_j;
    l2_j += o.l2_j;
    dram_j += o.dram_j;
    link_j += o.link_j;
    return *this;
}

Energy Energy::operator*(double n) const {
    return {static_j * n, clock_j * n, tensor_j * n, vector_j * n, l1_j * n, l2_j * n, dram_j * n, link_j * n};
}

namespace {

double watts(const Energy& energy, Femtoseconds time) { return time.value > 0 ? energy.total() / seconds(time) : 0.0; }

}  // namespace

Energy RunResult::total_energy() const {
    Energy total;
    for (const auto& layer : layers) total += layer.energy;
    return total;
}

double RunResult::average_w() const { return watts(total_energy(), total_time()); }

double RunResult::peak_w() const {
    double peak = 0;
    for (const auto& layer : layers) peak = std::max(peak, watts(layer.energy, layer.time));
    return peak;
}

Femtoseconds RunResult::total_time() const {
    Femtoseconds total{};
    for (const auto& layer : layers) total += layer.time;
    return total;
}

Traffic RunResult::total_traffic() const {
    Traffic total;
    for (const auto& layer : layers) total += layer.traffic;
    return total;
}

Count RunResult::total_macs() const {
    Count total{};
    for (const auto& layer : layers) total += layer.macs;
    return total;
}

Count RunResult::total_flops() const {
    Count total{};
    for (const auto& layer : layers) total += layer.flops;
    return total;
}

}  // namespace rafter::stats
