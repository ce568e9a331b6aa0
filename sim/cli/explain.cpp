#include <algorithm>

#include <fmt/format.h>

#include "sim/cli/arithmetic.h"
#include "sim/cli/cli.h"
#include "sim/config/loader.h"
#include "sim/config/reader.h"
#include "sim/lowering/lower.h"
#include "sim/stats/roofline.h"
#include "sim/workload/builder.h"
#include "sim/workload/model.h"

namespace rafter::cli {

namespace {

std::string joined(const std::vector<std::string>& names) {
    std::string text;
    for (const auto& n : names) text += (text.empty() ? "" : ", ") + n;
    return text;
}

[[noreturn]] void unknown(const std::string& what, const std::string& given, const std::vector<std::string>& known) {
    const std::string near = nearest_name(given, known);
    throw Error(fmt::format("error: unknown {} '{}'{}; known: {}", what, given,
                            near.empty() ? "" : fmt::format(" (did you mean '{}'?)", near), joined(known)));
}

/// The layer of `--op gemm --m 4096 ...`, read by the same reader as a workload file.
workload::Layer make_layer(const LayerArguments& a) {
    const auto& operations = workload::operation_names();
    if (std::find(operations.begin(), operations.end(), a.op) == operations.end()) unknown("op", a.op, operations);
    const auto dtype = parse_dtype(a.dtype);
    if (!dtype) unknown("dtype", a.dtype, dtype_names());
    std::string text = fmt::format("{{name: layer, op: {}", a.op);
    for (const std::string& field : a.fields) {
        const auto equals = field.find('=');
        text += fmt::format(", {}: {}", field.substr(0, equals), field.substr(equals + 1));
    }
    const auto document = config::Document::parse(text + "}", "command line");
    const workload::Dims dims;
    workload::Scope scope;
    scope.dims = &dims;
    scope.directory = ".";
    scope.formats = {*dtype, *dtype, *dtype};
    auto layer = workload::read_layer(document.root(), scope);
    document.finish();
    return layer;
}

void print_kernels(const workload::Layer& layer, const config::HwConfig& gpu) {
    for (const auto& launch : lowering::lower(layer, gpu)) {
        const auto& k = launch.kernel;
        std::string limiter;
        const auto resident = lowering::ctas_per_sm(k.resources, gpu.sm, &limiter);
        fmt::print("  kernel {} x{}: grid {}, {} threads, {} registers, {} B shared, {} CTAs an SM (limited by {})\n", k.name,
                   launch.repeat, k.grid, k.resources.threads, k.resources.registers_per_thread, k.resources.shared_memory.value,
                   resident, limiter);
    }
}

/// What stats needs to know of a layer to name its roof.
stats::LayerResult roofline_row(const workload::Layer& layer, const config::HwConfig& gpu) {
    stats::LayerResult row;
    row.dtype = workload::compute_dtype(layer);
    row.kernels.resize(1);
    for (const auto& launch : lowering::lower(layer, gpu)) row.kernels[0].tensor |= launch.kernel.tensor;
    return row;
}

void print_roofline(const workload::Counts& counts, const stats::LayerResult& row, const config::HwConfig& gpu) {
    const double peak = stats::peak_flops(gpu, row), bandwidth = gpu.dram.peak_bytes_per_s(),
                 ridge = stats::ridge_point(gpu, row);
    const auto flops = static_cast<double>(counts.flops);
    const auto reads = counts.read_bytes().value, bytes = counts.total_bytes().value;
    const double intensity = counts.intensity();
    fmt::print("arithmetic intensity = {} FLOP / {} B = {:.4f} FLOP/byte ({:.4f} counting reads only)\n", exact(counts.flops),
               bytes, intensity, reads > 0 ? flops / static_cast<double>(reads) : 0.0);
    fmt::print("ridge = peak / bandwidth = {:.4g} FLOP/s / {:.4g} B/s = {:.1f} FLOP/byte ({} {})\n", peak, bandwidth, ridge,
               name(row.dtype), row.kernels[0].tensor ? "on tensor cores" : "roof");
    fmt::print("compute time >= FLOPs / peak = {:.4g} s\n", flops / peak);
    fmt::print("memory time  >= bytes / bandwidth = {:.4g} s (every byte once)\n", static_cast<double>(bytes) / bandwidth);
    fmt::print("verdict: {}: {:.4g} FLOP/byte is {} of the ridge\n", intensity < ridge ? "memory-bound" : "compute-bound",
               intensity, intensity < ridge ? "left" : "right");
}

}  // namespace

int explain_layer(const LayerArguments& a) {
    const auto gpu = config::load_gpu(a.gpu, {});
    const auto layer = make_layer(a);
    const auto counts = workload::count(layer);
    const auto row = roofline_row(layer, gpu);
    fmt::print("{} in {} on {}\n", layer.op, name(row.dtype), gpu.name);
    for (const auto& line : work_formula(layer, counts)) fmt::print("{}\n", line);
    for (const auto& line : byte_formula(layer, counts)) fmt::print("{}\n", line);
    print_roofline(counts, row, gpu);
    fmt::print("kernels:\n");
    print_kernels(layer, gpu);
    return 0;
}

int explain_kernels(const std::string& gpu_name, const std::string& workload_name, const std::vector<std::string>& set) {
    const Settings settings = sort_settings(set);
    const auto gpu = config::load_gpu(gpu_name, settings.gpu);
    const auto model = workload::load(workload_name, settings.workload);
    for (const auto& phase : model.phases) {
        fmt::print("-- {}\n", phase.name);
        for (const auto& block : phase.blocks) {
            for (std::size_t i = 0; i < block.layers.size(); ++i) {
                const auto layer = phase.layer_at(block, i, 0, 0);
                fmt::print("{}{} ({})\n", block.name.empty() ? "" : block.name + "/", layer.name, layer.op);
                print_kernels(layer, gpu);
            }
        }
    }
    return 0;
}

}  // namespace rafter::cli
