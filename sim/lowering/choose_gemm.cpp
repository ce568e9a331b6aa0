#include "sim/lowering/choose_gemm.h"

#include <algorithm>
#include <set>

#include "sim/core/error.h"
#include "sim/lowering/library/sgemm.h"
#include "sim/lowering/lower.h"

namespace rafter::lowering {

using kernels::GemmParameters;
using kernels::Tile;

namespace {

constexpr std::int64_t kMostSplits = 32;
constexpr std::int64_t kLeastKPerSplit = 256;      // observed splits keep 256-512 of k
constexpr std::int64_t kWorkspaceBytes = 8 << 20;  // PyTorch's default cuBLAS workspace

/// What the estimate needs of the machine, in SM clocks.
struct Rates {
    double flops, fma_lanes, l2_bytes, hbm_bytes, latency, shared_bytes;
    static Rates of(const config::HwConfig& gpu, DType compute) {
        const auto tensor = gpu.tensor.flop_per_clk.find(compute);
        const std::int64_t lanes = compute == DType::fp64   ? gpu.sm.fp64_fma_per_clk
                                   : compute == DType::fp16 ? gpu.sm.fp16_fma_per_clk
                                                            : gpu.sm.fp32_fma_per_clk;
        const auto boost = static_cast<double>(gpu.boost.value);
        return {tensor == gpu.tensor.flop_per_clk.end() ? 2.0 * static_cast<double>(lanes) : static_cast<double>(tensor->second),
                static_cast<double>(gpu.sm.fp32_fma_per_clk),
                static_cast<double>(gpu.l2.bytes_per_clk),
                gpu.dram.peak_bytes_per_s() / boost * 0.9,
                static_cast<double>(gpu.l2.latency_far_clk) + seconds(gpu.dram.latency) * boost,
                static_cast<double>(gpu.sm.shared_bytes_per_clk)};
    }
};

/// Estimated clocks of one candidate.
class Estimate {
public:
    Estimate(const GemmParameters& p, const GemmKernel& kernel, const config::HwConfig& gpu)
        : p_(p), kernel_(kernel), gpu_(gpu), rates_(Rates::of(gpu, p.compute)), sms_(static_cast<double>(gpu.sm.count)) {}

    double clocks() const {
        const double units = static_cast<double>(p_.units());
        const double slots = static_cast<double>(ctas_per_sm(kernel_.resources, gpu_.sm));
        const double compute = wave_time(units, slots);
        const double memory = memory_time(std::min(slots, std::max(1.0, units / sms_)), std::min(units, sms_));
        const double issued = 2.0 * static_cast<double>(p_.issued_macs()) / (rates_.flops * sms_);
        return std::max(compute, memory) + 0.1 * std::min(compute, memory) + 0.2 * issued + rates_.latency + reduction_time();
    }

private:
    double k_blocks() const { return static_cast<double>(p_.blocks_per_split()); }

    /// Full waves keep every slot busy; the last one spreads what is left over the SMs.
    double wave_time(double units, double slots) const {
        const Tile& t = p_.tile;
        const auto m = static_cast<double>(t.issued_m(std::min(t.m, p_.m))),
                   n = static_cast<double>(t.issued_n(std::min(t.n, p_.n)));
        const auto k = static_cast<double>(t.k);
        const double operands = static_cast<double>(t.operand_bytes(
            t.issued_m(std::min(t.m, p_.m)), t.issued_n(std::min(t.n, p_.n)), t.k, bits(p_.compute), bits(p_.compute)));
        const double step = std::max(2.0 * m * n * k / rates_.flops / kernel_.efficiency, operands / rates_.shared_bytes);
        const double alone =
            t.feed == kernels::Feed::simt
                ? static_cast<double>(t.k * gpu_.sm.fma_latency_clk)
                : static_cast<double>(ceil_div(t.k, t.unit_k) * gpu_.tensor.latency_clk) * (t.overlaps() ? 0.5 : 1.0);
        const auto barrier = static_cast<double>(gpu_.sm.barrier_latency_clk);
        const double serial = alone + barrier;
        const double fixed =
            (kernel_.persistent && t.pingpong ? 0.3 : 1.0) * (rates_.latency + static_cast<double>(t.m * t.n) / 64.0);
        const auto of = [&](double resident) {
            return k_blocks() * (std::max(resident * step, serial) + 0.25 * barrier) + fixed;
        };
        const double full = static_cast<double>(static_cast<std::int64_t>(units / (sms_ * slots)));
        const double rest = units - full * sms_ * slots;
        const double last = rest > 0 ? of(static_cast<double>(ceil_div(static_cast<std::int64_t>(rest), gpu_.sm.count))) : 0.0;
        return full * of(slots) + last;
    }

    double memory_time(double resident, double active) const {
        const Tile& t = p_.tile;
        const double a = static_cast<double>(bits(p_.a)) / 8, b = static_cast<double>(bits(p_.b)) / 8;
        const auto m = static_cast<double>(p_.m), n = static_cast<double>(p_.n), k = static_cast<double>(p_.k);
        const auto batch = static_cast<double>(p_.batch);
        const double out = batch * m * n * (p_.splits > 1 ? 4.0 * static_cast<double>(p_.splits) : 2.0);
        const double l2 = batch * k *
                              (m * a * static_cast<double>(p_.tiles_n()) +
                               n * b * static_cast<double>(p_.tiles_m()) / static_cast<double>(p_.cluster)) +
                          out;
        const double hbm = batch * k * (m * a + n * b) + out;
        const double stage = (static_cast<double>(std::min(t.m, p_.m)) * a + static_cast<double>(std::min(t.n, p_.n)) * b) *
                             static_cast<double>(std::min(t.k, p_.k));
        const double in_flight = std::min(resident * static_cast<double>(t.stages - 1) * stage,
                                          128.0 * static_cast<double>(gpu_.sm.async_lines_in_flight));
        const double bandwidth = std::min(rates_.hbm_bytes, active * in_flight / rates_.latency);
        const double idle = 1.0 - active / sms_;  // few SMs reach less of the bandwidth
        return std::max(l2 / rates_.l2_bytes, hbm / bandwidth) * (1.0 + 0.05 * idle);
    }

    /// Another launch, and the partial sums read back.
    double reduction_time() const {
        if (p_.splits == 1) return 0.0;
        const double bytes = static_cast<double>(p_.batch * p_.m * p_.n) * 4.0 * static_cast<double>(p_.splits);
        return seconds(gpu_.launch.stream_gap) * static_cast<double>(gpu_.boost.value) + 2.0 * rates_.latency +
               bytes / rates_.l2_bytes;
    }

    const GemmParameters& p_;
    const GemmKernel& kernel_;
    const config::HwConfig& gpu_;
    Rates rates_;
    double sms_;
};

std::int64_t most_splits(const GemmParameters& p) {
    const std::int64_t by_workspace = kWorkspaceBytes / std::max<std::int64_t>(1, p.batch * p.m * p.n * 4);
    return std::clamp<std::int64_t>(std::min(by_workspace, p.k / kLeastKPerSplit), 1, kMostSplits);
}

}  // namespace

void unsupported(const std::string& layer, DType dtype, const config::HwConfig& gpu) {
    std::set<std::string> names;
    for (const auto& [t, rate] : gpu.tensor.flop_per_clk) names.insert(std::string(name(t)));
    if (gpu.sm.fp32_fma_per_clk > 0) names.insert("fp32");
    if (gpu.sm.fp64_fma_per_clk > 0) names.insert("fp64");
    if (gpu.sm.fp16_fma_per_clk > 0) names.insert("fp16");
    std::string list;
    for (const std::string& n : names) list += (list.empty() ? "" : ", ") + n;
    throw Error("error: layer '" + layer + "' multiplies in " + std::string(name(dtype)) + ", which " +
                (gpu.title.empty() ? gpu.name : gpu.title) + " has no units for (it has " + list + ")");
}

std::int64_t cluster_of(const GemmParameters& p, const GemmKernel& kernel) {
    return kernel.tile.feed == kernels::Feed::tma && p.tiles_m() > 1 ? 2 : 1;
}

GemmChoice choose_gemm(const GemmParameters& shape, const config::HwConfig& gpu, const std::string& layer, bool may_split,
                       Family family) {
    std::vector<GemmKernel> candidates = gemm_kernels(gpu, shape.compute);
    if (candidates.empty()) unsupported(layer, shape.compute, gpu);
    candidates = family == Family::product ? sgemm_kernels(std::move(candidates), shape, gpu)
                 : gpu.has_tensor(shape.compute) || shape.compute != DType::fp32 ? candidates
                                                                                 : sconv_kernels(std::move(candidates), shape);
    GemmChoice best;
    double least = -1.0;
    for (const GemmKernel& kernel : candidates) {
        GemmParameters p = shape;
        p.tile = kernel.tile;
        p.splits = 1;
        p.cluster = cluster_of(p, kernel);
        const std::int64_t blocks = ceil_div(p.k, p.tile.k), slots = gpu.sm.count * ctas_per_sm(kernel.resources, gpu.sm);
        const bool fills = p.units() >= slots;
        const std::int64_t most = may_split && !fills ? most_splits(p) : 1;
        for (std::int64_t wanted = 1; wanted <= most; ++wanted) {
            p.splits = kernels::even_splits(blocks, wanted);
            if (p.splits != wanted) continue;
            const double clocks = Estimate(p, kernel, gpu).clocks();
            if (least >= 0.0 && clocks >= least) continue;
            least = clocks;
            best = {kernel, p.splits, p.cluster, kernel.persistent ? std::min(p.units(), slots) : p.units()};
        }
    }
    return best;
}

}  // namespace rafter::lowering
