// Rules in words of 32,224 linear and 87,623 batched products profiled on P100, P4, V100, T4, A100, L4 and H100 (PyTorch 2.1,
// CUDA 12.1; NeuSight, MIT), with their share of hits in docs/model/lowering.md. A rule belongs to a generation, not to a part.
#include "sim/lowering/library/sgemm.h"

#include <algorithm>
#include <optional>

namespace rafter::lowering {

using config::TensorGeneration;
using kernels::GemmParameters;

namespace {

/// Rows and columns of the output a CTA covers. cuBLAS counts columns first: its 128x64 is {64, 128}.
struct Patch {
    std::int64_t m, n;
};

constexpr Patch k128x128{128, 128}, k128x64{64, 128}, k64x128{128, 64}, k64x64{64, 64}, k32x128{128, 32}, k128x32{32, 128},
    k32x32{32, 32};

class Rule {
public:
    Rule(const GemmParameters& p, const config::HwConfig& gpu)
        : p_(p),
          gpu_(gpu),
          work_(2.0 * static_cast<double>(p.batch) * static_cast<double>(p.m) * static_cast<double>(p.n) *
                static_cast<double>(p.k)) {}

    std::optional<Patch> pick() const { return p_.batch > 1 ? batched() : single(); }

private:
    double per_sm(Patch t) const {
        return static_cast<double>(p_.batch * ceil_div(p_.m, t.m) * ceil_div(p_.n, t.n)) / static_cast<double>(gpu_.sm.count);
    }
    /// How full the waves of these tiles are.
    double fill(Patch t) const {
        const double waves = per_sm(t);
        return waves / static_cast<double>(ceil_div(static_cast<std::int64_t>(waves * 1e6), 1'000'000));
    }
    double wasted_columns(std::int64_t tile) const {
        return static_cast<double>(ceil_div(p_.n, tile) * tile) / static_cast<double>(p_.n);
    }
    bool gp100() const { return gpu_.sm.fp16_fma_per_clk > 0; }
    bool ada() const { return gpu_.sm.fp32_fma_per_clk > 64; }

    Patch batched() const {
        switch (gpu_.tensor.generation) {
            case TensorGeneration::none:
                return gp100() || p_.n <= 1024 ? k128x64 : k128x128;
            case TensorGeneration::volta:
                if (per_sm(k32x128) <= 1.3) return k128x32;
                if (p_.m <= 64) return k64x64;
                return wasted_columns(32) < wasted_columns(64) ? k32x128 : k64x64;
            case TensorGeneration::turing:
                if (p_.n <= 64) return k64x64;
                return wasted_columns(32) * 1.2 < wasted_columns(128) ? k32x128 : k128x64;
            case TensorGeneration::hopper:
            case TensorGeneration::blackwell:
                if (p_.n <= 64 && p_.m >= 128) return k64x128;
                return (work_ > 3e10 && p_.batch > 128) || p_.k > 384 ? k128x128 : k64x64;
            default:
                return k128x128;
        }
    }

    std::optional<Patch> single() const {
        switch (gpu_.tensor.generation) {
            case TensorGeneration::none:
                return pascal();
            case TensorGeneration::turing:
                return work_ <= 2.25e10 && !(fill(k128x128) > 0.945 && p_.k > 310) ? k128x64 : k128x128;
            case TensorGeneration::ampere:
                return ada() ? (p_.k <= 4096 && work_ <= 4e10 ? k128x64 : k128x128) : ampere();
            case TensorGeneration::hopper:
            case TensorGeneration::blackwell: {
                const double depth = static_cast<double>(p_.k) / (static_cast<double>(p_.m) * static_cast<double>(p_.n));
                if (fill(k128x128) > 0.77) return k128x128;
                return depth <= 0.026 ? std::optional<Patch>(k64x64) : std::nullopt;
            }
            default:
                return std::nullopt;
        }
    }

    std::optional<Patch> pascal() const {
        const double out = static_cast<double>(p_.m) * static_cast<double>(p_.n);
        if (!gp100()) return out <= 655'000 ? k128x64 : k128x128;
        if (per_sm(k32x128) <= 1.25) return k128x32;
        return out <= 3.1e6 ? k64x64 : k32x128;
    }

    Patch ampere() const {
        if (fill(k128x64) > 0.96) return k128x64;
        if (per_sm(k32x32) <= 12.6) return k32x32;
        return static_cast<double>(p_.n) <= 1.2 * static_cast<double>(p_.m) ? k32x128 : k128x32;
    }

    const GemmParameters& p_;
    const config::HwConfig& gpu_;
    double work_;
};

std::vector<GemmKernel> only(std::vector<GemmKernel> kernels, Patch patch) {
    std::vector<GemmKernel> found;
    for (const GemmKernel& k : kernels) {
        if (k.tile.m == patch.m && k.tile.n == patch.n) found.push_back(k);
    }
    return found.empty() ? kernels : found;
}

}  // namespace

std::vector<GemmKernel> sgemm_kernels(std::vector<GemmKernel> kernels, const GemmParameters& shape, const config::HwConfig& gpu) {
    if (shape.compute != DType::fp32 || gpu.has_tensor(DType::fp32)) return kernels;
    const auto patch = Rule(shape, gpu).pick();
    return patch ? only(std::move(kernels), *patch) : kernels;
}

std::vector<GemmKernel> sconv_kernels(std::vector<GemmKernel> kernels, const GemmParameters& shape) {
    const double padded = static_cast<double>(kernels::round_up(shape.n, 64)) / static_cast<double>(shape.n);
    const bool narrow = shape.n <= 32 || padded > 1.27;
    const bool wide = shape.n >= 128 && shape.m >= 128 * 256;
    return only(std::move(kernels), narrow ? k32x128 : wide ? k128x128 : k64x128);
}

}  // namespace rafter::lowering
