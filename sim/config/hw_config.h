// The hardware, as a plain value. Filled by config/loader from hw_configs/*.yaml; every number there has its standing.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "sim/core/dtype.h"
#include "sim/core/quantity.h"

namespace rafter::config {

enum class Standing : std::uint8_t { datasheet, measured, derived, estimate };

/// One leaf of the effective config: where its value came from.
struct Leaf {
    std::string path;   ///< "l2.capacity"
    std::string value;  ///< canonical text with unit, "41943040 B"
    Standing standing{Standing::estimate};
    std::string source;         ///< document or command the number came from
    bool standing_given{true};  ///< false: the file names no standing, estimate is assumed
};

/// How the tensor cores are fed: decides the rate a kernel of that instruction family reaches.
enum class TensorGeneration : std::uint8_t { none, volta, turing, ampere, cdna, hopper, blackwell };

struct Sm {
    std::int64_t count{};
    std::int64_t max_ctas{};
    std::int64_t max_threads{};
    std::int64_t registers{};  ///< 32-bit registers per SM
    std::int64_t max_registers_per_thread{};
    Bytes l1_and_shared{};                   ///< unified L1 data cache + shared memory
    Bytes shared_memory{};                   ///< largest shared-memory carve-out per SM
    Bytes shared_memory_per_cta{};           ///< largest opt-in per CTA
    Bytes shared_memory_reserved_per_cta{};  ///< taken by the system for each resident CTA
    std::int64_t shared_bytes_per_clk{};
    std::int64_t l1_bytes_per_clk{};  ///< L1 hit / load-store data path
    std::int64_t l1_ways{};
    std::int64_t fp32_fma_per_clk{};
    std::int64_t fp64_fma_per_clk{};
    std::int64_t fp16_fma_per_clk{};  ///< on the vector lanes, not the tensor cores
    std::int64_t int32_ops_per_clk{};
    std::int64_t sfu_ops_per_clk{};
    std::int64_t issue_slots_per_clk{};  ///< warp schedulers
    std::int64_t fma_latency_clk{};      ///< dependent FMA
    std::int64_t l1_latency_clk{};       ///< L1 hit, load to use
    std::int64_t shared_latency_clk{};
    std::int64_t barrier_latency_clk{};    ///< __syncthreads of a full CTA
    std::int64_t lines_in_flight{};        ///< outstanding 128-byte lines per SM, register loads
    std::int64_t async_lines_in_flight{};  ///< the same for cp.async / TMA
};

struct Tensor {
    TensorGeneration generation{TensorGeneration::none};
    /// Dense FLOP per clock per SM (1 FMA = 2 FLOP) with fp32 (int32) accumulation; absent = not supported.
    std::map<DType, std::int64_t> flop_per_clk;
    std::int64_t latency_clk{};  ///< issue to result of one dependent MMA instruction
};

struct Crossbar {
    std::int64_t sm_read_bytes_per_clk{};   ///< reply port of one SM
    std::int64_t sm_write_bytes_per_clk{};  ///< request port of one SM
};

struct L2 {
    Bytes capacity{};
    std::int64_t slices{};
    std::int64_t ways{};
    std::int64_t partitions{};
    std::int64_t bytes_per_clk{};     ///< sustained, all slices together
    std::int64_t latency_near_clk{};  ///< hit, load to use, SM and slice in one partition
    std::int64_t latency_far_clk{};
    Femtoseconds atomic_interval{};      ///< between two atomics on one word
    std::int64_t link_bytes_per_clk{0};  ///< into a partition from the others; 0: lines are not copied between partitions
    bool copies() const { return partitions > 1 && link_bytes_per_clk > 0; }
};

/// DRAM of any type (HBM2..3e, GDDR5X..7).
struct Dram {
    std::string type;
    Bytes capacity{};
    std::int64_t channels{};
    std::int64_t channel_bits{};
    std::int64_t data_rate_bps{};  ///< bits per second per pin
    Bytes access_granularity{};    ///< atom moved by one burst
    std::int64_t banks{};          ///< per channel
    Bytes row{};                   ///< row buffer per bank
    Femtoseconds t_rcd{}, t_rp{}, t_ras{}, t_rrd{}, t_faw{}, t_wtr{}, t_rtw{}, t_refi{}, t_rfc{};
    std::int64_t inline_ecc{0};  ///< data bytes moved for each byte of ECC that lies in the same memory; 0: none, or beside it
    std::int64_t write_batch{};  ///< bursts written per bus turnaround
    Femtoseconds latency{};      ///< L2 miss to data, unloaded, beyond the L2 hit latency, row open

    double peak_bytes_per_s() const {
        return static_cast<double>(channels) * static_cast<double>(channel_bits) * static_cast<double>(data_rate_bps) / 8.0;
    }
};

/// A link to memory outside of the GPU.
struct Link {
    std::int64_t bytes_per_s{};  ///< payload in one direction
    Femtoseconds latency{};      ///< of a read, nothing else on the link
};

struct Launch {
    Femtoseconds stream_gap{};        ///< end of a kernel to the first CTA of the next, same stream
    Femtoseconds graph_gap{};         ///< the same inside a replayed CUDA graph
    Femtoseconds null_kernel{};       ///< start to end of an empty kernel, as a profiler sees it
    Femtoseconds event_overhead{};    ///< a pair of events around a call, less what the kernels do
    Femtoseconds host_call{};         ///< the host's work for one call of an eager framework: a dispatch, an allocation
    Femtoseconds grid_sync{};         ///< cooperative-groups grid barrier
    std::int64_t cta_dispatch_clk{};  ///< clocks between two CTA launches on one SM
};

/// What the board draws and what its power limit does to the clock. Energies in J, at the voltage of `reference` and random
/// operands. docs/model/power.md.
struct Power {
    std::int64_t limit_w{};           ///< of the board, averaged over the governor's window
    std::int64_t static_w{};          ///< with the clocks up and nothing to do: leakage, idle DRAM, the board
    std::int64_t clock_w{};           ///< clock distribution at `reference`
    Hertz reference{};                ///< SM clock at whose voltage the energies are
    double voltage_per_ghz{};         ///< slope of the voltage over the clock, as a share of that at `reference`
    double voltage_min{};             ///< the least voltage, the same way
    Hertz clock_step{}, clock_min{};  /// the clocks the governor can set
    Femtoseconds window{};            ///< time constant of the average it holds to the limit
    double zeros_activity{};          ///< dynamic energy with constant operands, as a share of that with random ones
    std::map<DType, double> tensor_flop_j;
    double fp64_flop_j{}, fp32_flop_j{}, fp16_flop_j{};  ///< on the vector lanes
    double lane_operation_j{};                           ///< integer and special functions, a thread's
    double l1_byte_j{};                                  ///< between register file and L1 or shared memory
    double l2_byte_j{};                                  ///< between SM and L2, crossbar included
    double dram_byte_j{}, link_byte_j{};                 ///< do not follow the core's voltage
};

struct HwConfig {
    std::string name;
    std::string title;               ///< "NVIDIA A100-SXM4-80GB"
    std::string compute_capability;  ///< "8.0"
    Hertz boost{};                   ///< SM clock when nothing limits it
    Hertz tensor_peak{};             ///< clock at which the datasheet states its tensor peak
    std::optional<Hertz> locked;     ///< the core's clock is held here, whatever the power
    Sm sm;
    Tensor tensor;
    Crossbar crossbar;
    L2 l2;
    Dram dram;
    Launch launch;
    std::optional<Link> host_link, peer_link;  ///< absent: nothing can be placed there
    std::int64_t tdp_w{};
    std::optional<Power> power;      ///< absent: the file gives no energies; nothing limits the clock
    std::vector<Leaf> stated_peaks;  ///< "peaks.fp16_tensor", "peaks.dram_bandwidth": checked, never used, not in the hash
    std::string hash;                ///< of the effective config, names and comments left out
    std::vector<Leaf> effective;     ///< every leaf, defaults included, in schema order

    /// Peak FLOP/s for a dtype: the tensor cores at tensor_peak when they have it, else the vector lanes (fp64, fp32, fp16) at
    /// boost. fp32 never means tf32. 0 for a dtype the GPU has no unit for (fp8 on an A100, bf16 on a V100).
    double peak_flops(DType t) const;
    /// True when `t` runs on tensor cores here.
    bool has_tensor(DType t) const { return tensor.flop_per_clk.contains(t); }
};

}  // namespace rafter::config
