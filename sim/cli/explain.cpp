#include <fmt/format.h>

#include "sim/cli/cli.h"
#include "sim/config/loader.h"
#include "sim/config/reader.h"
#include "sim/lowering/lower.h"
#include "sim/stats/roofline.h"
#include "sim/workload/builder.h"
#include "sim/workload/model.h"

namespace rafter::cli {

namespace {

std::string count(Count n) {
    if (n <= static_cast<Count>(~std::uint64_t{0})) return fmt::format("{}", static_cast<std::uint64_t>(n));
    return fmt::format("{:.6e}", static_cast<double>(n));
}

/// The layer of `--op gemm --m 4096 ...`, read by the same reader as a workload file.
workload::Layer make_layer(const LayerArguments& a) {
    std::string text = fmt::format("{{name: layer, op: {}", a.op);
    for (const std::string& field : a.fields) {
        const auto equals = field.find('=');
        text += fmt::format(", {}: {}", field.substr(0, equals), field.substr(equals + 1));
    }
    const auto document = config::Document::parse(text + "}", "command line");
    workload::Dims dims;
    workload::Scope scope;
    scope.dims = &dims;
    scope.directory = ".";
    const auto dtype = parse_dtype(a.dtype);
    if (!dtype) {
        std::string known;
        for (const auto& n : dtype_names()) known += (known.empty() ? "" : ", ") + n;
        throw Error(fmt::format("error: unknown dtype '{}'; known: {}", a.dtype, known));
    }
    scope.formats = {*dtype, *dtype, *dtype};
    auto layer = workload::read_layer(document.root(), scope);
    document.finish();
    return layer;
}

std::string formula(const workload::Layer& layer) {
    if (const auto* g = std::get_if<workload::Gemm>(&layer.operation)) {
        return fmt::format("MACs = batch x m x n x k = {} x {} x {} x {}", g->batch, g->m, g->n, g->k);
    }
    if (const auto* c = std::get_if<workload::Conv2d>(&layer.operation)) {
        return fmt::format("MACs = n x k x p x q x c/groups x r x s = {} x {} x {} x {} x {} x {} x {}", c->n, c->k, c->p, c->q,
                           c->c / c->groups, c->r, c->s);
    }
    if (const auto* t = std::get_if<workload::Attention>(&layer.operation)) {
        return fmt::format("MACs = batch x heads x unmasked pairs x (head_dim + head_dim_v) = {} x {} x pairs({} x {}{}) x {}",
                           t->batch, t->heads, t->seq_q, t->seq_kv, t->causal ? ", causal" : "", t->head_dim + t->head_dim_v);
    }
    if (const auto* r = std::get_if<workload::Rnn>(&layer.operation)) {
        return fmt::format(
            "MACs = batch x steps x sum over layers of gates x hidden x (input + hidden); batch {}, steps {}, input {}, hidden "
            "{}",
            r->batch, r->steps, r->input, r->hidden);
    }
    return "MACs = 0: no products; FLOPs are one per element and operation";
}

void print_kernels(const workload::Layer& layer, const config::HwConfig& gpu) {
    for (const auto& launch : lowering::lower(layer, gpu)) {
        const auto& k = launch.kernel;
        fmt::print("  kernel {} x{}: grid {}, {} threads, {} registers, {} B shared, {} CTAs an SM\n", k.name, launch.repeat,
                   k.grid, k.resources.threads, k.resources.registers_per_thread, k.resources.shared_memory.value,
                   lowering::ctas_per_sm(k.resources, gpu.sm));
    }
}

}  // namespace

int explain_layer(const LayerArguments& a) {
    const auto gpu = config::load_gpu(a.gpu, {});
    const auto layer = make_layer(a);
    const auto counts = workload::count(layer);
    stats::LayerResult row;
    row.dtype = workload::compute_dtype(layer);
    bool tensor = false;
    for (const auto& launch : lowering::lower(layer, gpu)) tensor = tensor || launch.kernel.tensor;
    row.kernels.resize(1);
    row.kernels[0].tensor = tensor;
    const double peak = stats::peak_flops(gpu, row), bandwidth = gpu.dram.peak_bytes_per_s(),
                 ridge = stats::ridge_point(gpu, row);
    const auto flops = static_cast<double>(counts.flops), bytes = static_cast<double>(counts.total_bytes().value);
    fmt::print("{} {} on {}\n", layer.op, name(row.dtype), gpu.name);
    fmt::print("  {} = {}\n", formula(layer), count(counts.macs));
    fmt::print("  FLOPs = {}{}\n", counts.macs > 0 ? "2 x MACs = " : "", count(counts.flops));
    fmt::print("  bytes read  = inputs {} + parameters {} = {}\n", counts.input_bytes.value, counts.parameter_bytes.value,
               counts.read_bytes().value);
    fmt::print("  bytes written = {}\n", counts.output_bytes.value);
    fmt::print("  bytes = {} ({} B read only)\n", counts.total_bytes().value, counts.read_bytes().value);
    fmt::print("  arithmetic intensity = {} / {} = {:.4f} FLOP/byte ({:.4f} counting reads only)\n", count(counts.flops),
               counts.total_bytes().value, counts.intensity(),
               counts.read_bytes().value > 0 ? flops / static_cast<double>(counts.read_bytes().value) : 0.0);
    fmt::print("  ridge = {:.4g} FLOP/s / {:.4g} B/s = {:.1f} FLOP/byte\n", peak, bandwidth, ridge);
    fmt::print("  compute time >= {:.4g} s, memory time >= {:.4g} s (every byte once, at peak)\n", flops / peak,
               bytes / bandwidth);
    fmt::print("  verdict: {}: {:.4g} is {} of the ridge\n", counts.intensity() < ridge ? "memory-bound" : "compute-bound",
               counts.intensity(), counts.intensity() < ridge ? "left" : "right");
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
