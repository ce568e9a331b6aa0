// The result of a run as a plain value. Reports read nothing else.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "sim/config/hw_config.h"
#include "sim/core/quantity.h"
#include "sim/stats/cause.h"

namespace rafter::stats {

/// Bytes at each level. l1: asked by the SMs' instructions (shared-memory operand fetches included); l2: moved between SM and L2;
/// hbm: moved between L2 and DRAM.
struct Traffic {
    Bytes l1_read{}, l1_write{}, l2_read{}, l2_write{}, hbm_read{}, hbm_write{};
    Bytes link_read{}, link_write{};  ///< of the host's or a peer's memory
    Traffic& operator+=(const Traffic& o);
    Traffic operator*(std::int64_t n) const;
};

/// Work of the vector lanes, a thread's operations.
struct LaneWork {
    std::int64_t fp64_flops{0}, fp32_flops{0}, fp16_flops{0};
    std::int64_t operations{0};  ///< integer and special functions
    LaneWork& operator+=(const LaneWork& o);
    LaneWork operator*(std::int64_t n) const;
};

/// Joules by where they went. docs/model/power.md, (P.1).
struct Energy {
    double static_j{0};  ///< leakage, idle DRAM, the board
    double clock_j{0};   ///< clock distribution
    double tensor_j{0}, vector_j{0}, l1_j{0}, l2_j{0}, dram_j{0}, link_j{0};
    double total() const { return static_j + clock_j + tensor_j + vector_j + l1_j + l2_j + dram_j + link_j; }
    Energy& operator+=(const Energy& o);
    Energy operator*(double n) const;
};

struct Parallelism {
    std::int64_t ctas{};
    double waves{};                ///< ctas / (SMs x resident CTAs per SM)
    double occupancy{};            ///< resident threads / thread slots of an SM, 0..1
    double busy_sms{};             ///< average over the elapsed time
    std::int64_t chain_length{1};  ///< dependent steps
};

/// One kernel, executed `count` times; times and bytes are totals over them.
struct KernelResult {
    std::string name;
    std::int64_t count{1};
    std::int64_t grid{};
    bool tensor{false};  ///< multiplies on tensor cores
    DType dtype{DType::fp16};
    Hertz clock{};  ///< of the SMs
    std::int64_t threads{}, registers_per_thread{}, shared_memory_bytes{}, ctas_per_sm{};
    Femtoseconds time{};      ///< launch gap included
    Femtoseconds launch{};    ///< the launch gap's share
    Femtoseconds resident{};  ///< time with a CTA, summed over the SMs
    CauseTimes causes{};      ///< sum = time x SMs
    Traffic traffic;
    LaneWork lanes;
    Energy energy;  ///< of all executions
    Parallelism parallelism;
    Count issued_macs{};
    std::int64_t line_requests{}, events{};
};

/// One layer, executed `count` times (repeats x steps); times, counts and bytes are totals over them.
struct LayerResult {
    std::string phase, name, op, family;
    std::int64_t count{1};
    Femtoseconds time{};
    Count macs{}, flops{};
    Bytes algorithmic_read{}, algorithmic_write{};
    Bytes parameters{};  ///< of algorithmic_read: weights, tables and caches
    Traffic traffic;
    Energy energy;
    Hertz clock{};                  ///< of the SMs in its longest kernel
    double arithmetic_intensity{};  ///< FLOP / algorithmic byte
    double ridge_point{};           ///< FLOP / byte of this GPU at the layer's dtype
    Femtoseconds roofline_time{};   ///< max(flops / peak, HBM bytes moved / peak bandwidth)
    Femtoseconds
        compulsory_time{};  ///< max(flops / peak, algorithmic bytes / peak bandwidth): the textbook roofline, cold caches
    Bound bound{Bound::compute};
    std::string sentence;  ///< why, in plain words
    CauseTimes causes{};
    Parallelism parallelism;        ///< of its longest kernel
    double reuse_l1{}, reuse_l2{};  ///< bytes asked above / bytes moved below (at least one sector)
    DType dtype{DType::fp16};
    std::vector<KernelResult> kernels;
};

struct StepResult {
    std::int64_t step{};
    std::int64_t context{};  ///< tokens in the KV cache after the step
    Femtoseconds time{};
    Bytes kv_read{};           ///< closed form: every cached token once
    bool interpolated{false};  ///< between two steps that were simulated
};

/// Layers of a block, over all repetitions and steps.
struct BlockResult {
    std::string name;
    std::int64_t repeat{1};
    std::size_t first{0}, layers{0};  ///< in RunResult::layers
    Femtoseconds time{};
};

/// Speeds of a phase; those that make no sense for it are absent. docs/results.md, (R.6)-(R.8).
struct PhaseMetrics {
    std::optional<double> ttft_s;         ///< phases that read a prompt: from the start of the run to their end
    std::optional<double> tpot_s;         ///< phases that generate
    std::optional<double> tokens_per_s;   ///< phases with attention
    std::optional<double> samples_per_s;  ///< phases that do not generate
    double mfu{0}, mbu{0};                ///< of the peak rates
};

struct PhaseResult {
    std::string name;
    std::int64_t steps{1};
    Femtoseconds time{};
    Hertz clock{};                  ///< of the core: no kernel's SMs are faster
    std::string clock_by{"boost"};  ///< what set it: "boost", "power" (the limit) or "locked"
    Energy energy;
    std::vector<StepResult> step_results;  ///< for phases whose cache grows
    std::int64_t steps_simulated{1};       ///< the others lie on lines between these
    double step_deviation{0};              ///< most by which a step that was tried lies off its line, of its time
    std::int64_t sequences{0};             ///< or samples, of a step; 0: not known
    std::int64_t tokens{0};                ///< of all sequences, of a step; 0 without attention
    bool prompt{false}, generates{false};  ///< reads a prompt; adds `tokens` to the caches of all sequences in a step
    std::vector<BlockResult> blocks{};
    PhaseMetrics metrics{};
};

struct MemoryEntry {
    std::string name;
    Bytes size{};
};

struct SimulatorInfo {
    double wall_s{};
    std::int64_t events{}, line_requests{}, peak_rss_bytes{};
    std::int64_t kernels_launched{}, kernels_simulated{};
    std::string mode;                    ///< "exact" | "memo"
    double cta_share{1}, line_share{1};  ///< of the kernels simulated: CTAs and line requests run, the others were left out
    std::int64_t kernels_cached{0};      ///< read from the disk instead of simulated
};

struct RunResult {
    config::HwConfig gpu;
    std::string workload_name, workload_family;
    std::string launch{"stream"};  ///< how kernels were launched and timed: "stream" | "graph" | "events" | "kernel-only"
    std::int64_t passes{0};        ///< back to back, as the power limit sees them; 0: without end
    std::string data{"random"};    ///< what the operands hold: "random" | "zeros"
    std::string caches{"cold"};    ///< "cold" | "warm" | "weights-cold" | "producer-warm"
    std::map<std::string, std::int64_t> dims;
    std::vector<std::string> notes;  ///< seeds, defaults a reader should know
    std::vector<LayerResult> layers;
    std::vector<PhaseResult> phases;
    std::vector<MemoryEntry> memory;
    SimulatorInfo simulator;

    Femtoseconds total_time() const;
    Traffic total_traffic() const;
    Count total_macs() const;
    Count total_flops() const;
    Energy total_energy() const;
    double average_w() const;  ///< 0 when the GPU file gives no energies
    double peak_w() const;     ///< average of the layer that draws most
};

}  // namespace rafter::stats
