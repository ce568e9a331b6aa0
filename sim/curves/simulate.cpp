#include <algorithm>
#include <memory>
#include <utility>

#include <fmt/format.h>

#include "sim/core/error.h"
#include "sim/curves/curves.h"
#include "sim/engine/isolated.h"
#include "sim/engine/kernel_runner.h"
#include "sim/kernels/probe/chase.h"

namespace rafter::curves {

namespace {

using kernels::Chase;
using kernels::RowRead;
using kernels::SetRead;
using kernels::Stream;

constexpr std::int64_t kBlockThreads = 1024, kThreadBytes = 16;
constexpr std::int64_t kStepBytes = kBlockThreads * kThreadBytes;  ///< that a CTA of 1024 threads has in flight

/// Bytes of a stream before the timing begins, and while it goes on; whether the L2 holds the arrays when all begins. (C.1)
struct Amounts {
    std::int64_t before{0}, timed{0};
    bool warm{false};
};

/// What fits the L2 a few times is passed over once; of what is larger, as much as fills it, so that write-backs have begun. A
/// buffer that all CTAs read in step is found in the L2 by all but the first: only those that an L1 may keep need whole passes.
Amounts amounts(const Stream::Parameters& p, const config::HwConfig& gpu) {
    constexpr std::int64_t kLeast = 32 << 20;  // enough for every SM to settle
    const std::int64_t l1 = gpu.sm.l1_and_shared.value, l2 = gpu.l2.capacity.value;
    const std::int64_t footprint = p.array_bytes * (p.reads + p.writes);
    if (p.stride == 1 && p.grid > 1)
        return {footprint <= 4 * l1 ? footprint * p.grid + kLeast : kLeast, 2 * kLeast, footprint <= l2 * 3 / 8};
    if (footprint <= 3 * l2) return {footprint + kLeast, std::max(footprint, kLeast), false};
    return {l2 * 5 / 4 + kLeast, l2 * 3 / 2 + kLeast, false};
}

class Bench {
public:
    explicit Bench(const config::HwConfig& gpu) : gpu_(gpu), runner_(gpu, options_) {}

    double value(const std::string& curve, const Point& point) {
        if (point.stream) return stream(*point.stream);
        const double x = point.x;
        const auto whole = static_cast<std::int64_t>(x + 0.5);
        if (curve == "chase") return chase(whole * 1024);
        if (curve == "size") return set_read(whole * 1024);
        if (curve == "ctas") return ctas_read(whole);
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

    double ctas_read(std::int64_t ctas) {
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

    /// GB/s that the threads ask for in the long run: two runs that begin alike differ by whole waves of CTAs, or by steps.
    double stream(StreamProbe probe) {
        auto& p = probe.parameters;
        const Amounts need = amounts(p, gpu_);
        const std::int64_t slots = gpu_.sm.count * probe.ctas_per_sm;
        const auto grow = [&](std::int64_t bytes) {
            std::int64_t& amount = probe.loop ? p.steps : p.grid;
            amount = probe.loop ? 1 : slots;
            amount *= std::max<std::int64_t>(1, ceil_div(bytes, Stream::bytes(p)));
            program::Kernel kernel = kernels::stream_kernel(p);
            if (!probe.loop) kernel.resources.shared_memory = ballast(p.threads, probe.ctas_per_sm);
            engine::StartState start;
            start.arguments.resize(kernel.arguments.size());
            for (auto& argument : start.arguments) {
                if (need.warm) argument = {p.array_bytes, false, gpu_.l2.copies() ? 4 : 0};
            }
            return seconds(runner_.run(kernel, start, Femtoseconds(0)).time);
        };
        const double first = grow(need.before);
        const std::int64_t bytes = Stream::bytes(p);
        const double second = grow(bytes + need.timed);
        return static_cast<double>(Stream::bytes(p) - bytes) / (second - first) * 1e-9;
    }

    /// Shared memory that keeps more than `ctas` from an SM, as the benchmarks take it.
    Bytes ballast(std::int64_t threads, std::int64_t ctas) const {
        const auto& sm = gpu_.sm;
        if ((ctas + 1) * threads > sm.max_threads || ctas >= sm.max_ctas) return Bytes(0);
        const std::int64_t least = sm.shared_memory.value / (ctas + 1) - sm.shared_memory_reserved_per_cta.value + 256;
        return Bytes(std::clamp<std::int64_t>(least, 0, sm.shared_memory_per_cta.value));
    }

    const config::HwConfig& gpu_;
    engine::RunOptions options_;
    engine::KernelRunner runner_;
    std::int64_t runs_{0};
};

/// One point, as text for a pipe: a number, or what went wrong.
std::string work_in_child(const std::string& curve, const Point& point, const config::HwConfig& gpu) {
    try {
        return fmt::format("={:.17g}", Bench(gpu).value(curve, point));
    } catch (const std::exception& e) {
        return e.what();
    }
}

}  // namespace

void simulate(std::vector<Curve>& curves, const config::HwConfig& gpu) {
    Bench bench(gpu);
    for (Curve& curve : curves) {
        for (Point& point : curve.points) point.simulated = bench.value(curve.name, point);
    }
}

void simulate(std::vector<Curve>& curves, const config::HwConfig& gpu, const Workers& workers) {
    std::vector<std::pair<const Curve*, Point*>> points;
    for (Curve& curve : curves)
        for (Point& point : curve.points) points.emplace_back(&curve, &point);
    std::string problem;
    std::size_t done = 0;
    engine::run_isolated(
        points.size(), {workers.jobs, 600},
        [&](std::size_t i) { return work_in_child(points[i].first->name, *points[i].second, gpu); },
        [&](std::size_t i, const engine::Isolated& child) {
            if (child.finished && child.text.rfind('=', 0) == 0) {
                points[i].second->simulated = std::stod(child.text.substr(1));
            } else {
                problem = fmt::format("error: {}, point {:g}: {}", points[i].first->name, points[i].second->x,
                                      child.finished ? child.text : child.problem);
            }
            if (workers.progress) workers.progress(++done, points.size());
        });
    if (!problem.empty()) throw Error(problem);
}

}  // namespace rafter::curves
