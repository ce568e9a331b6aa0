#include "sim/stats/result.h"

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
