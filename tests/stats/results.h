// Hand-made results: a GPU of round numbers (2 SMs, 1 TFLOP/s, 100 GB/s: ridge 10) and layers on it.
#pragma once

#include "sim/stats/result.h"
#include "sim/stats/roofline.h"

namespace rafter::test {

inline Femtoseconds us(std::int64_t n) { return Femtoseconds(n * 1'000'000'000); }

inline config::HwConfig round_gpu() {
    config::HwConfig g;
    g.name = "round", g.title = "Round numbers", g.hash = "0123456789abcdef";
    g.boost = g.tensor_peak = Hertz(1'000'000'000);
    g.sm.count = 2;
    g.sm.fp32_fma_per_clk = 25;                      // 2 x 2 SMs x 25 x 1 GHz = 100 GFLOP/s
    g.tensor.flop_per_clk = {{DType::fp16, 500}};    // 2 SMs x 500 x 1 GHz = 1 TFLOP/s
    g.dram.channels = 1, g.dram.channel_bits = 100;  // 100 bit x 8 Gbit/s = 100 GB/s
    g.dram.data_rate_bps = 8'000'000'000;
    g.dram.capacity = Bytes(1'000'000'000);
    g.dram.access_granularity = Bytes(64);
    config::Power& p = g.power.emplace();
    p.limit_w = 50, p.static_w = 10, p.reference = g.boost;
    g.effective = {{"sm.count", "2", config::Standing::datasheet, "a test"}};
    return g;
}

inline stats::CauseTimes causes(std::initializer_list<std::pair<stats::Cause, Femtoseconds>> shares) {
    stats::CauseTimes times{};
    for (const auto& [cause, time] : shares) times[static_cast<std::size_t>(cause)] = time;
    return times;
}

/// A layer of one kernel; `shares` sum to time x 2 SMs.
inline stats::LayerResult layer(const std::string& name, Femtoseconds time, const stats::CauseTimes& shares) {
    stats::LayerResult l;
    l.phase = "forward", l.name = name, l.op = "gemm", l.family = "mlp";
    l.time = time, l.causes = shares;
    l.parallelism = {4, 2.0, 0.5, 1.5, 1};
    l.clock = Hertz(900'000'000);
    const double s = seconds(time);  // 40 W
    l.energy = {10 * s, 2 * s, 15 * s, s, 4 * s, 3 * s, 5 * s, 0};
    stats::KernelResult k;
    k.name = name + "_kernel", k.grid = 4, k.tensor = true, k.threads = 128, k.time = time, k.causes = shares;
    k.parallelism = l.parallelism, k.clock = l.clock, k.energy = l.energy;
    l.kernels.push_back(k);
    return l;
}

inline void set_work(stats::LayerResult& l, Count macs, Count flops, std::int64_t read, std::int64_t written) {
    l.macs = macs, l.flops = flops;
    l.algorithmic_read = Bytes(read), l.algorithmic_write = Bytes(written);
    l.traffic = {Bytes(4 * read), Bytes(written), Bytes(2 * read), Bytes(written), Bytes(read), Bytes(written)};
    l.kernels[0].traffic = l.traffic;
}

/// 10 us: 4 M MACs, 8 M FLOPs at 1 TFLOP/s take 8 us; 0.1 MB at 100 GB/s take 1 us. Intensity 80, right of the ridge at 10.
inline stats::LayerResult compute_layer() {
    auto l = layer("fc", us(10),
                   causes({{stats::Cause::tensor, us(16)}, {stats::Cause::hbm_bandwidth, us(3)}, {stats::Cause::tail, us(1)}}));
    set_work(l, 4'000'000, 8'000'000, 60'000, 40'000);
    stats::finish_layer(l, round_gpu());
    return l;
}

/// 20 us: 1 M FLOPs over 1 MB: intensity 1, left of the ridge; 91 % of SM time waits on HBM.
inline stats::LayerResult memory_layer() {
    auto l = layer("scale", us(20),
                   causes({{stats::Cause::hbm_bandwidth, us(36) + us(2) / 5}, {stats::Cause::launch, us(3) + us(3) / 5}}));
    set_work(l, 0, 1'000'000, 600'000, 400'000);
    stats::finish_layer(l, round_gpu());
    return l;
}

inline stats::RunResult two_layers() {
    stats::RunResult r;
    r.gpu = round_gpu();
    r.workload_name = "two", r.workload_family = "mlp";
    r.dims = {{"batch", 2}};
    r.notes = {"seed 1"};
    r.layers = {compute_layer(), memory_layer()};
    stats::PhaseResult forward;
    forward.name = "forward", forward.time = us(30);
    forward.clock = Hertz(900'000'000), forward.clock_by = "power", forward.energy = r.total_energy();
    r.phases = {forward};
    r.memory = {{"weights", Bytes(500'000'000)}};
    r.simulator = {1.5, 10, 20, 30'000'000, 2, 2, "memo"};
    return r;
}

}  // namespace rafter::test
