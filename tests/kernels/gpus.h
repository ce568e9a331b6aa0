// Small GPU descriptions for tests of kernels and lowering: data-sheet shapes, no timing.
#pragma once

#include "sim/config/hw_config.h"

namespace rafter::test {

inline config::HwConfig base_gpu() {
    config::HwConfig g;
    g.sm.max_ctas = 32, g.sm.max_threads = 2048, g.sm.registers = 65536, g.sm.max_registers_per_thread = 255;
    g.sm.shared_bytes_per_clk = 128, g.sm.l1_bytes_per_clk = 128, g.sm.l1_ways = 4;
    g.sm.fp32_fma_per_clk = 64, g.sm.fp64_fma_per_clk = 32, g.sm.fp16_fma_per_clk = 256, g.sm.int32_ops_per_clk = 64;
    g.sm.sfu_ops_per_clk = 16, g.sm.issue_slots_per_clk = 4, g.sm.fma_latency_clk = 4, g.sm.l1_latency_clk = 33;
    g.sm.shared_latency_clk = 29, g.sm.barrier_latency_clk = 20, g.sm.lines_in_flight = 512, g.sm.async_lines_in_flight = 1024;
    g.tensor.latency_clk = 33;
    g.l2.latency_near_clk = 211, g.l2.latency_far_clk = 357;
    g.launch.stream_gap = Femtoseconds(2'600'000'000), g.launch.graph_gap = Femtoseconds(1'340'000'000);
    g.dram.latency = Femtoseconds(240'000'000);
    return g;
}

inline config::HwConfig a100() {
    config::HwConfig g = base_gpu();
    g.name = "a100", g.title = "NVIDIA A100-SXM4-80GB", g.compute_capability = "8.0";
    g.boost = g.tensor_peak = Hertz(1'410'000'000);
    g.sm.count = 108;
    g.sm.l1_and_shared = Bytes(192 << 10), g.sm.shared_memory = Bytes(164 << 10), g.sm.shared_memory_per_cta = Bytes(163 << 10);
    g.sm.shared_memory_reserved_per_cta = Bytes(1024);
    g.tensor.generation = config::TensorGeneration::ampere;
    g.tensor.flop_per_clk = {
        {DType::fp16, 2048}, {DType::bf16, 2048}, {DType::tf32, 1024}, {DType::int8, 4096}, {DType::fp64, 128}};
    g.l2.capacity = Bytes(40 << 20), g.l2.slices = 80, g.l2.bytes_per_clk = 3200;
    g.dram.channels = 40, g.dram.channel_bits = 128, g.dram.data_rate_bps = 3'186'000'000;
    return g;
}

inline config::HwConfig v100() {
    config::HwConfig g = base_gpu();
    g.name = "v100", g.title = "NVIDIA V100-SXM2-16GB", g.compute_capability = "7.0";
    g.boost = g.tensor_peak = Hertz(1'530'000'000);
    g.sm.count = 80;
    g.sm.l1_and_shared = Bytes(128 << 10), g.sm.shared_memory = Bytes(96 << 10), g.sm.shared_memory_per_cta = Bytes(96 << 10);
    g.sm.fp16_fma_per_clk = 128;
    g.tensor.generation = config::TensorGeneration::volta;
    g.tensor.flop_per_clk = {{DType::fp16, 1024}};
    g.l2.capacity = Bytes(6 << 20), g.l2.slices = 64, g.l2.bytes_per_clk = 2048;
    g.dram.channels = 32, g.dram.channel_bits = 128, g.dram.data_rate_bps = 1'756'000'000;
    return g;
}

inline config::HwConfig h100() {
    config::HwConfig g = base_gpu();
    g.name = "h100", g.title = "NVIDIA H100-SXM5-80GB", g.compute_capability = "9.0";
    g.boost = Hertz(1'980'000'000), g.tensor_peak = Hertz(1'830'000'000);
    g.sm.count = 132, g.sm.fp32_fma_per_clk = 128;
    g.sm.l1_and_shared = Bytes(256 << 10), g.sm.shared_memory = Bytes(228 << 10), g.sm.shared_memory_per_cta = Bytes(227 << 10);
    g.sm.shared_memory_reserved_per_cta = Bytes(1024);
    g.tensor.generation = config::TensorGeneration::hopper;
    g.tensor.flop_per_clk = {{DType::fp16, 4096}, {DType::bf16, 4096}, {DType::tf32, 2048},
                             {DType::fp8, 8192},  {DType::int8, 8192}, {DType::fp64, 256}};
    g.l2.capacity = Bytes(50 << 20), g.l2.slices = 80, g.l2.bytes_per_clk = 4500;
    g.dram.channels = 40, g.dram.channel_bits = 128, g.dram.data_rate_bps = 5'230'000'000;
    return g;
}

}  // namespace rafter::test
