// rafter-measure: times the suites on a real GPU, after it has checked every result. docs/measuring.md.
#include <algorithm>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "sim/core/error.h"
#include "validate/cuda/device.h"
#include "validate/host/csv.h"
#include "validate/host/program.h"
#include "validate/host/reference.h"
#include "validate/host/statistics.h"
#include "validate/measure/timing.h"

namespace rafter::validate {

namespace {

constexpr const char* kSource = "rafter-measure";

struct Arguments {
    std::string suite{"quick"}, out, machine, gpu;
    std::vector<std::string> only;
    std::uint64_t seed{1};
    bool list{false};
};

std::vector<Case> chosen(const Arguments& a) {
    std::vector<Case> cases;
    for (const Case& c : suite(a.suite)) {
        if (a.only.empty() || std::find(a.only.begin(), a.only.end(), c.op) != a.only.end()) cases.push_back(c);
    }
    return cases;
}

int list(const Arguments& a) {
    for (const Case& c : chosen(a)) {
        fmt::print("{} {} {} {} {}\n", c.op, name(c.dtype), c.shape.text(), text(c.protocol), c.kernel);
    }
    return 0;
}

/// Everything one run needs, and its rows.
class Measurement {
public:
    explicit Measurement(const Arguments& a)
        : machine_(describe_machine(sensors_)),
          gpu_(a.gpu.empty() ? gpu_file_name(machine_.device.name) : a.gpu),
          context_{machine_.device, stream_.get(), a.seed},
          rows_(a.out),
          log_(a.machine.empty() ? std::filesystem::path(a.out).replace_extension(".json").string() : a.machine, machine_,
               a.seed) {
        log_.save();
    }

    /// False when the result of a kernel was wrong or a call failed.
    bool run(const std::vector<Case>& cases) {
        bool good = true;
        for (const Case& c : cases) {
            if (rows_.has(RowFile::key(row(c)))) continue;
            try {
                good = measure(c) && good;
            } catch (const Skip& e) {
                fmt::print(stderr, "skipped: {}: {}\n", key(c), e.what());
            } catch (const CudaError& e) {
                if (e.code() == cudaErrorMemoryAllocation) {
                    fmt::print(stderr, "skipped: {}: not enough memory\n", key(c));
                    continue;
                }
                good = false;
                fmt::print(stderr, "failed: {}: {}\n", key(c), e.what());
                if (e.sticky()) {
                    fmt::print(stderr, "rafter-measure: the GPU cannot go on after this error; run again to measure the rest\n");
                    return false;
                }
            }
        }
        return good;
    }

private:
    CsvRow row(const Case& c) const {
        return {kSource, gpu_, c.op, std::string(name(c.dtype)), c.shape.text(), 0, text(c.protocol), "kernel=" + c.kernel};
    }

    bool measure(const Case& c) {
        const auto bench = make_bench(c, context_);
        bench->call(0);
        const double error = bench->error();
        if (!acceptable(error, tolerance(c.dtype))) {
            fmt::print(stderr, "failed: {}: relative error {:.3g}, at most {:.3g} is right\n", key(c), error, tolerance(c.dtype));
            return false;
        }
        const auto samples = time_bench(*bench, c.protocol, context_, sensors_);
        CsvRow result = row(c);
        result.notes += ";" + notes(c, *bench, samples, error);
        result.time_us = summary(samples).median;
        rows_.append(result);
        log_.add(key(c), samples);
        log_.save();
        fmt::print("{} {:.3f} us\n", key(c), result.time_us);
        std::fflush(stdout);
        return true;
    }

    static std::vector<double> times(const std::vector<Sample>& samples) {
        std::vector<double> list;
        for (const Sample& s : samples) list.push_back(s.time_us);
        return list;
    }
    static Summary summary(const std::vector<Sample>& samples) { return summarise(times(samples)); }

    std::string notes(const Case& c, const Bench& bench, const std::vector<Sample>& samples, double error) const {
        const Summary s = summary(samples);
        std::vector<double> clocks;
        for (const Sample& sample : samples) clocks.push_back(sample.reading.sm_clock_mhz);
        const double clock = summarise(clocks).median;
        std::string text =
            fmt::format("variant={};median_us={:.4f};iqr_us={:.4f};samples={};error={:.2e};sm_clock_mhz={}", bench.variant(),
                        s.median, s.range(), samples.size(), error, clock < 0 ? "unknown" : fmt::format("{:.0f}", clock));
        if (const int wrong = above_peak(machine_.device, work_of(c), times(samples)); wrong > 0) {
            text += fmt::format(";invalid=above_peak;above_peak_samples={}", wrong);
        }
        return text;
    }

    Sensors sensors_;
    Machine machine_;
    std::string gpu_;
    Stream stream_;
    Context context_;
    RowFile rows_;
    MachineLog log_;
};

void declare(CLI::App& app, Arguments& a) {
    app.add_option("--suite", a.suite, "which shapes: quick | full")->check(CLI::IsMember({"quick", "full"}));
    app.add_option("--only", a.only, "only this operation (repeatable)")->check(CLI::IsMember(operations()));
    app.add_option("--out", a.out, "CSV of measurements; one that exists is carried on");
    app.add_option("--machine", a.machine, "JSON of the machine and of every sample (default: beside the CSV)");
    app.add_option("--gpu", a.gpu, "name in the gpu column (default: from the device's name)");
    app.add_option("--seed", a.seed, "of the random data");
    app.add_flag("--list", a.list, "print the cases and end; needs no GPU");
}

int run(int argc, char** argv) {
    CLI::App app("Times rafter's CUDA kernels and NVIDIA's libraries on this machine's GPU", "rafter-measure");
    Arguments a;
    declare(app, a);
    try {
        app.parse(argc, argv);
        if (!a.list && a.out.empty()) throw CLI::RequiredError("--out (or --list)");
    } catch (const CLI::ParseError& e) {
        return app.exit(e) == 0 ? 0 : kUsageExit;
    }
    if (a.list) return list(a);
    if (const auto reason = why_no_gpu()) {
        fmt::print(stderr, "rafter-measure: {}.\n", *reason);
        return kNoGpuExit;
    }
    return Measurement(a).run(chosen(a)) ? 0 : kFailedExit;
}

}  // namespace

}  // namespace rafter::validate

int main(int argc, char** argv) {
    return rafter::validate::guarded("rafter-measure", [&] { return rafter::validate::run(argc, argv); });
}
