#include <algorithm>
#include <memory>

#include <fmt/format.h>

#include "sim/curves/curves.h"
#include "sim/engine/kernel_runner.h"
#include "sim/kernels/probe/chase.h"

namespace rafter::curves {

namespace {

using kernels::Chase;
using kernels::RowRead;
using kernels::SetRead;

constexpr std::int64_t kBlockThreads = 1024, kThreadBytes = 16;
constexpr std::int64_t kStepBytes = kBlockThreads * kThreadBytes;  ///< that a CTA of 1024 threads has in flight

class Bench {
public:
    explicit Bench(const config::HwConfig& gpu) : gpu_(gpu), runner_(gpu, options_) {}

    double value(const std::string& curve, double x) {
        const auto whole = static_cast<std::int64_t>(x + 0.5);
        if (curve == "chase") return chase(whole * 1024);
        if (curve == "size") return set_read(whole * 1024);
        if (curve == "ctas") return stream(whole);
        return gather(whole);
    }

private:
    /// Seconds of a kernel over `bytes` of memory, from a cold L2, launch left out.
    double time(std::shared_ptr<const program::Code> code, std::int64_t ctas, std::int64_t threads, std::int64_t bytes) {
        program::Kernel kernel;
        kernel.name = "probe";
        kernel.signature = fmt::format("probe {}", ++runs_);  // nothing is remembered
        kernel.grid = ctas;
        kernel.resources = {threads, 32, Bytes(0)};
        kernel.arguments = {{"memory", bytes, program::Use::read}};
        kernel.code = std::move(code);
        kernel.dtype = DType::fp32;
        engine::StartState cold;
        cold.arguments.resize(1);
        return seconds(runner_.run(kernel, cold, Femtoseconds(0)).time);
    }

    /// Of such a set the L2 keeps nothing until it is read again.
    bool far_beyond(std::int64_t bytes) const { return bytes > 4 * gpu_.l2.capacity.value; }

    /// Clocks a load: two runs that differ by so many loads.
    double chase(std::int64_t bytes) {
        constexpr std::int64_t kSteps = 1000;
        const std::int64_t lines = std::max<std::int64_t>(1, bytes / program::kLineBytes);
        const auto run = [&](std::int64_t steps) {
            return time(std::make_shared<Chase>(Chase::Parameters{lines, steps, !far_beyond(bytes)}), 1, 32,
                        lines * program::kLineBytes);
        };
        return (run(kSteps) - run(0)) / kSteps * static_cast<double>(gpu_.boost.value);
    }

    /// GB/s of the passes behind those that bring the set near.
    double set_read(std::int64_t bytes) {
        constexpr std::int64_t kPieceBytes = 512 * 1024, kPasses = 2;
        const std::int64_t ctas = gpu_.sm.count * std::max<std::int64_t>(1, gpu_.sm.max_threads / kBlockThreads);
        SetRead::Parameters p{bytes, std::min(kPieceBytes, bytes), ceil_div(ceil_div(bytes, kPieceBytes), ctas), ctas,
                              kStepBytes};
        const auto run = [&] { return time(std::make_shared<SetRead>(p), ctas, kBlockThreads, bytes); };
        if (far_beyond(bytes)) p.passes = 1;
        const double before = run();
        p.passes += kPasses;
        return static_cast<double>(kPasses * ctas * p.piece_bytes) / (run() - before) * 1e-9;
    }

    double stream(std::int64_t ctas) {
        const std::int64_t steps = std::max<std::int64_t>(64, 40'000 / ctas);
        const std::int64_t rows = ctas * steps;
        const double t = time(std::make_shared<RowRead>(RowRead::Parameters{rows, kStepBytes, ctas, steps, 1, false}), ctas,
                              kBlockThreads, rows * kStepBytes);
        return static_cast<double>(rows * kStepBytes) / t * 1e-9;
    }

    /// Useful bytes as a share of the DRAM's peak: as many rows in flight as a step of the stream has bytes.
    double gather(std::int64_t row_bytes) {
        const std::int64_t depth = std::max<std::int64_t>(1, 8192 / row_bytes);
        const std::int64_t ctas = gpu_.sm.count * std::max<std::int64_t>(1, gpu_.sm.max_threads / 256);
        const std::int64_t steps = 24, table = std::int64_t{4} << 30;
        const double t =
            time(std::make_shared<RowRead>(RowRead::Parameters{table / row_bytes, row_bytes, ctas, steps, depth, true}), ctas,
                 256, table);
        return static_cast<double>(ctas * steps * depth * row_bytes) / t / gpu_.dram.peak_bytes_per_s() * 100;
    }

    const config::HwConfig& gpu_;
    engine::RunOptions options_;
    engine::KernelRunner runner_;
    std::int64_t runs_{0};
};

}  // namespace

void simulate(std::vector<Curve>& curves, const config::HwConfig& gpu) {
    Bench bench(gpu);
    for (Curve& curve : curves) {
        for (Point& point : curve.points) point.simulated = bench.value(curve.name, point.x);
    }
}

}  // namespace rafter::curves
