#include "sim/cli/arithmetic.h"

#include <fmt/format.h>

namespace rafter::cli {

namespace {

using Lines = std::vector<std::string>;
using workload::Counts;

std::string macs(const std::string& names, const std::string& numbers, const Counts& counts) {
    return fmt::format("MACs = {} = {} = {}", names, numbers, exact(counts.macs));
}

/// Layers without products: FLOPs = elements x FLOPs of each.
Lines flops(const std::string& names, const std::string& numbers, const Counts& counts) {
    return {"MACs = 0 (no products)", fmt::format("FLOPs = {} = {} = {}", names, numbers, exact(counts.flops))};
}

Lines formula(const workload::Gemm& g, const Counts& c) {
    return {macs("batch x m x n x k", fmt::format("{} x {} x {} x {}", g.batch, g.m, g.n, g.k), c)};
}

Lines formula(const workload::Conv2d& v, const Counts& c) {
    return {fmt::format("output p = (h + pad - dilation x (r - 1) - 1) / stride + 1 = ({} + {} - {} x {} - 1) / {} + 1 = {}", v.h,
                        v.pad_top + v.pad_bottom, v.dilation_h, v.r - 1, v.stride_h, v.p),
            fmt::format("output q = (w + pad - dilation x (s - 1) - 1) / stride + 1 = ({} + {} - {} x {} - 1) / {} + 1 = {}", v.w,
                        v.pad_left + v.pad_right, v.dilation_w, v.s - 1, v.stride_w, v.q),
            macs("n x k x p x q x c/groups x r x s",
                 fmt::format("{} x {} x {} x {} x {}/{} x {} x {}", v.n, v.k, v.p, v.q, v.c, v.groups, v.r, v.s), c)};
}

Lines formula(const workload::Attention& a, const Counts& c) {
    const Count each = static_cast<Count>(a.batch) * static_cast<Count>(a.heads) * static_cast<Count>(a.head_dim + a.head_dim_v);
    const std::string pairs = exact(c.macs / each);
    const std::string mask =
        fmt::format("{}{}", a.causal ? "causal" : "every key", a.window > 0 ? fmt::format(", window {}", a.window) : "");
    return {fmt::format("pairs (query, key) left by the mask = {} of {} x {} ({})", pairs, a.seq_q, a.seq_kv, mask),
            macs("batch x heads x pairs x (head_dim + head_dim_v)",
                 fmt::format("{} x {} x {} x ({} + {})", a.batch, a.heads, pairs, a.head_dim, a.head_dim_v), c)};
}

Lines formula(const workload::EmbeddingBag& e, const Counts& c) {
    const std::int64_t rows = e.lookups(), filled = e.bag_lengths().filled(e.bags());
    const std::string read = e.lengths ? fmt::format("rows looked up = lengths of {} x {} bags, from {} to {} = {}", e.tables,
                                                     e.batch, e.lengths->min, e.lengths->max, rows)
                                       : fmt::format("rows looked up = tables x batch x pooling = {} x {} x {} = {}", e.tables,
                                                     e.batch, e.pooling, rows);
    Lines lines;
    if (e.pass == workload::Pass::backward) {
        const bool twice = e.mode == workload::BagMode::weighted, mean = e.mode == workload::BagMode::mean;
        const std::string times = twice ? " x 2" : "";
        lines = flops(fmt::format("(rows looked up{}) x dim", mean ? " + bags" : times),
                      fmt::format("({}{}) x {}", rows, mean ? fmt::format(" + {}", filled) : times, e.dim), c);
    } else if (e.mode == workload::BagMode::weighted) {
        lines = flops("(2 x rows looked up - bags) x dim", fmt::format("(2 x {} - {}) x {}", rows, filled, e.dim), c);
    } else if (e.mode == workload::BagMode::mean) {
        lines = flops("(rows looked up - bags + bags) x dim", fmt::format("{} x {}", rows, e.dim), c);
    } else if (e.lengths) {
        lines = flops("(rows looked up - bags) x dim", fmt::format("({} - {}) x {}", rows, filled, e.dim), c);
    } else {
        lines = flops("tables x batch x (pooling - 1) x dim",
                      fmt::format("{} x {} x ({} - 1) x {}", e.tables, e.batch, e.pooling, e.dim), c);
    }
    if (e.lengths) lines.push_back(fmt::format("bags that hold a row = {} of {}", filled, e.bags()));
    lines.push_back(read + "; their bytes count, not the table's");
    return lines;
}

Lines formula(const workload::Rnn& r, const Counts& c) {
    std::string sum;
    for (std::int64_t layer = 0; layer < r.layers; ++layer) {
        const std::int64_t input = r.input_gemm ? r.input_of(layer) : 0;
        sum += fmt::format("{}{} x {} x ({} + {})", layer == 0 ? "" : " + ", r.gates(), r.hidden, input, r.hidden);
    }
    const bool both = r.pass == workload::RnnPass::backward;
    const std::string twice = both ? "2 x " : "";
    Lines lines{macs(twice + "batch x steps x sum over layers of gates x hidden x (input + hidden)",
                     fmt::format("{}{} x {} x ({})", twice, r.batch, r.steps, sum), c)};
    if (both) lines.push_back("backward: a product for the data gradient and one for the weights'");
    if (r.pass != workload::RnnPass::backward_weights)
        lines.push_back(fmt::format("dependent steps = steps x layers = {} x {} = {}", r.steps, r.layers, r.steps * r.layers));
    return lines;
}

Lines formula(const workload::Elementwise& e, const Counts& c) {
    return flops("rows x cols x FLOPs per element", fmt::format("{} x {} x {}", e.rows, e.cols, e.flops_per_element), c);
}

Lines formula(const workload::RowReduction& r, const Counts& c) {
    const Count elements = static_cast<Count>(r.rows) * static_cast<Count>(r.cols);
    return flops("rows x cols x FLOPs per element", fmt::format("{} x {} x {}", r.rows, r.cols, exact(c.flops / elements)), c);
}

Lines formula(const workload::Pool2d& p, const Counts& c) {
    return flops("n x c x p x q x r x s", fmt::format("{} x {} x {} x {} x {} x {}", p.n, p.c, p.p, p.q, p.r, p.s), c);
}

void list(Lines& lines, const char* what, const std::vector<workload::Tensor>& tensors) {
    for (const auto& t : tensors) lines.push_back(fmt::format("  {} {:<24} {:>16} B", what, t.id, t.size.value));
}

}  // namespace

std::string exact(Count n) {
    if (n <= static_cast<Count>(~std::uint64_t{0})) return fmt::format("{}", static_cast<std::uint64_t>(n));
    return fmt::format("{:.6e}", static_cast<double>(n));
}

std::vector<std::string> work_formula(const workload::Layer& layer, const Counts& counts) {
    Lines lines = std::visit([&](const auto& operation) { return formula(operation, counts); }, layer.operation);
    if (counts.macs > 0) lines.push_back(fmt::format("FLOPs = 2 x MACs = {}", exact(counts.flops)));
    return lines;
}

std::vector<std::string> byte_formula(const workload::Layer& layer, const Counts& counts) {
    Lines lines{"bytes, every tensor once:"};
    list(lines, "read   ", layer.inputs);
    const auto* bag = std::get_if<workload::EmbeddingBag>(&layer.operation);
    const bool backward = bag != nullptr && bag->pass == workload::Pass::backward;
    const auto rows = [](const char* what, const char* which, std::int64_t bytes) {
        return fmt::format("  {} {:<24} {:>16} B", what, which, bytes);
    };
    if (bag == nullptr) {
        list(lines, "read   ", layer.parameters);
    } else {
        if (counts.parameter_bytes.value > 0) lines.push_back(rows("read   ", "(rows looked up)", counts.parameter_bytes.value));
        if (bag->mode == workload::BagMode::weighted)
            lines.push_back(rows("read   ", "(weights of look-ups)", storage(DType::fp32, bag->lookups()).value));
    }
    if (backward) {
        lines.push_back(rows("written", "(rows looked up)", counts.output_bytes.value));
    } else {
        list(lines, "written", layer.outputs);
    }
    lines.push_back(fmt::format("bytes read = {}, written = {}, in all = {}", counts.read_bytes().value,
                                counts.output_bytes.value, counts.total_bytes().value));
    return lines;
}

}  // namespace rafter::cli
