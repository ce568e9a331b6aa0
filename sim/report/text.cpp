#include <algorithm>

#include <fmt/format.h>

#include "sim/report/report.h"
#include "sim/stats/roofline.h"

namespace rafter::report {

namespace {

class Writer {
public:
    Writer(const stats::RunResult& result, const TextOptions& options) : result_(result), options_(options) {
        for (const auto& l : result.layers) width_ = std::max(width_, l.name.size());
    }
    std::string write();

private:
    void table();
    void kernels(const stats::LayerResult& layer);
    void waits();
    void parallelism();
    void reuse();
    void power();
    void why();
    void totals();
    void phase(const stats::PhaseResult& phase);
    void memory();
    void closing();

    void heading(const std::string& text) { out_ += "\n" + styled("1", text) + "\n"; }
    std::string styled(const char* code, const std::string& text) const {
        return options_.color ? fmt::format("\033[{}m{}\033[0m", code, text) : text;
    }
    std::string bound(stats::Bound b) const;

    /// Calls `row` for every layer, with a line before the first layer of each phase.
    template <class Row>
    void each_layer(Row row) {
        const std::string* current = nullptr;
        for (const auto& l : result_.layers) {
            if (result_.phases.size() > 1 && (current == nullptr || *current != l.phase)) out_ += fmt::format("-- {}\n", l.phase);
            current = &l.phase;
            row(l);
        }
    }

    const stats::RunResult& result_;
    const TextOptions& options_;
    std::size_t width_{16};
    std::string out_;
};

/// Tenths of a percent that sum to 1000: the largest remainders get what rounding down left.
std::vector<std::pair<stats::Cause, int>> per_mille(const stats::CauseTimes& causes) {
    const auto shares = stats::cause_shares(causes);
    std::vector<std::pair<stats::Cause, int>> out;
    int left = shares.empty() ? 0 : 1000;
    for (const auto& [cause, share] : shares) {
        out.emplace_back(cause, static_cast<int>(share * 1000));
        left -= out.back().second;
    }
    std::vector<std::size_t> order(out.size());
    for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
        return shares[a].second * 1000 - out[a].second > shares[b].second * 1000 - out[b].second;
    });
    for (std::size_t i = 0; left > 0 && i < order.size(); ++i, --left) ++out[order[i]].second;
    std::erase_if(out, [](const auto& p) { return p.second == 0; });
    return out;
}

std::string listed(const stats::CauseTimes& causes) {
    std::string text;
    for (const auto& [cause, share] : per_mille(causes))
        text += fmt::format("{}{} {}.{}", text.empty() ? "" : ", ", stats::name(cause), share / 10, share % 10);
    return text;
}

std::string human_seconds(double s) { return human_time(Femtoseconds(static_cast<std::int64_t>(s * 1e15))); }

double ratio(Femtoseconds part, Femtoseconds whole) {
    return whole.value == 0 ? 0.0 : static_cast<double>(part.value) / static_cast<double>(whole.value);
}

std::string Writer::bound(stats::Bound b) const {
    const char* code = b == stats::Bound::compute ? "32" : b == stats::Bound::memory_bandwidth ? "33" : "31";
    return styled(code, std::string(stats::name(b)));
}

void Writer::table() {
    constexpr const char* row = "{:<{}} {:>6} {:>10} {:>6} {:>5} {:>8} {:>8} {:>8} {:>8} {:>8} {:>7} {:>6}  ";
    const std::string head = fmt::format(row, "layer", width_, "count", "time", "share", "roof", "MACs", "FLOPs", "L1", "L2",
                                         "HBM", "FLOP/B", "ridge");
    out_ += styled("1", head + "bound") + "\n";
    const Femtoseconds total = result_.total_time();
    each_layer([&](const stats::LayerResult& l) {
        const auto& t = l.traffic;
        out_ += fmt::format(
            row, l.name, width_, l.count, human_time(l.time), fmt::format("{:.1f}%", 100 * ratio(l.time, total)),
            fmt::format("{:.0f}%", 100 * ratio(l.roofline_time, l.time)), human_count(static_cast<double>(l.macs)),
            human_count(static_cast<double>(l.flops)), human_bytes(t.l1_read + t.l1_write), human_bytes(t.l2_read + t.l2_write),
            human_bytes(t.hbm_read + t.hbm_write), human_ratio(l.arithmetic_intensity), human_ratio(l.ridge_point));
        out_ += bound(l.bound) + "\n";
        if (options_.kernels) kernels(l);
    });
    out_ += "share: of the total time; roof: time of the roofline bound / time; L1, L2, HBM: bytes read and written there\n";
}

void Writer::kernels(const stats::LayerResult& layer) {
    for (const auto& k : layer.kernels) {
        out_ += fmt::format("    {} x{}  grid {}  {} threads, {} regs, {} B shared, {} CTA/SM  {}\n", k.name, k.count, k.grid,
                            k.threads, k.registers_per_thread, k.shared_memory_bytes, k.ctas_per_sm, human_time(k.time));
    }
}

void Writer::waits() {
    heading("What is the GPU waiting on?  (% of SM time)");
    stats::CauseTimes all{};
    each_layer([&](const stats::LayerResult& l) {
        out_ += fmt::format("  {:<{}}  {}\n", l.name, width_, listed(l.causes));
        for (std::size_t i = 0; i < stats::kCauses; ++i) all[i] += l.causes[i];
    });
    if (result_.layers.size() > 1) out_ += fmt::format("  {:<{}}  {}\n", "(all layers)", width_, listed(all));
}

void Writer::parallelism() {
    heading("How much can run at once?  (of each layer's longest kernel; the chain is of dependent steps)");
    constexpr const char* row = "  {:<{}} {:>9} {:>8} {:>10} {:>9} {:>7} {:>15}\n";
    out_ += fmt::format(row, "", width_, "CTAs", "waves", "occupancy", "busy SMs", "chain", "FLOPs per link");
    each_layer([&](const stats::LayerResult& l) {
        const auto& p = l.parallelism;
        const double links = static_cast<double>(p.chain_length) * static_cast<double>(l.count);
        out_ +=
            fmt::format(row, l.name, width_, p.ctas, fmt::format("{:.2f}", p.waves), fmt::format("{:.0f}%", 100 * p.occupancy),
                        fmt::format("{:.1f}", p.busy_sms), p.chain_length, human_count(static_cast<double>(l.flops) / links));
    });
}

void Writer::reuse() {
    heading("How often is data reused?  (bytes asked above / bytes moved below)");
    each_layer([&](const stats::LayerResult& l) {
        out_ += fmt::format("  {:<{}}  L1+shared {:>7}   L2 {:>7}\n", l.name, width_, human_ratio(l.reuse_l1),
                            human_ratio(l.reuse_l2));
    });
}

/// "tensor 41, L2 22, ...": where the joules went, in percent, largest first.
std::string spent(const stats::Energy& e) {
    std::vector<std::pair<const char*, double>> parts{{"static", e.static_j}, {"clock", e.clock_j}, {"tensor", e.tensor_j},
                                                      {"vector", e.vector_j}, {"L1", e.l1_j},       {"L2", e.l2_j},
                                                      {"DRAM", e.dram_j},     {"link", e.link_j}};
    std::stable_sort(parts.begin(), parts.end(), [](const auto& a, const auto& b) { return a.second > b.second; });
    std::string text;
    for (const auto& [name, joules] : parts) {
        const double percent = 100 * joules / e.total();
        if (percent >= 0.5) text += fmt::format("{}{} {:.0f}", text.empty() ? "" : ", ", name, percent);
    }
    return text;
}

void Writer::power() {
    if (!result_.gpu.power) return;
    heading(fmt::format("What does it draw?  (limit {} W, {} data; energy in %)", result_.gpu.power->limit_w, result_.data));
    constexpr const char* row = "  {:<{}} {:>9} {:>7} {:>10}  {}\n";
    const auto line = [&](const std::string& name, const std::string& clock, const stats::Energy& e, Femtoseconds time) {
        out_ += fmt::format(row, name, width_, clock, fmt::format("{:.0f} W", e.total() / seconds(time)), human_energy(e.total()),
                            spent(e));
    };
    each_layer([&](const stats::LayerResult& l) {
        line(l.name, fmt::format("{:.0f} MHz", static_cast<double>(l.clock.value) / 1e6), l.energy, l.time);
    });
    if (result_.layers.size() > 1) line("(all layers)", "", result_.total_energy(), result_.total_time());
    for (const auto& p : result_.phases) {
        if (p.clock_by == "boost") continue;
        const std::string why = p.clock_by == "power" ? "the power limit lowers the clock to" : "the clock is locked at";
        out_ += fmt::format("  phase {}: {} {:.0f} MHz\n", p.name, why, static_cast<double>(p.clock.value) / 1e6);
    }
}

void Writer::why() {
    heading("Why");
    each_layer([&](const stats::LayerResult& l) { out_ += fmt::format("  {}: {}\n", l.name, l.sentence); });
}

void Writer::phase(const stats::PhaseResult& p) {
    out_ += fmt::format("  phase {:<12} {:>10}", p.name, human_time(p.time));
    if (p.steps > 1) out_ += fmt::format("   {} steps, {} a step", p.steps, human_time(p.time / p.steps));
    if (!p.step_results.empty() && p.time.value > 0) {
        const auto &first = p.step_results.front(), &last = p.step_results.back();
        out_ += fmt::format("; context {} -> {}: {} -> {}, KV cache read {} -> {}", first.context, last.context,
                            human_time(first.time), human_time(last.time), human_bytes(first.kv_read), human_bytes(last.kv_read));
    }
    out_ += "\n";
    const auto& m = p.metrics;
    out_ += fmt::format("    MFU {:.1f} %, MBU {:.1f} %", 100 * m.mfu, 100 * m.mbu);
    if (m.ttft_s) out_ += fmt::format(", TTFT {}", human_seconds(*m.ttft_s));
    if (m.tpot_s) out_ += fmt::format(", TPOT {}", human_seconds(*m.tpot_s));
    if (m.tokens_per_s) out_ += fmt::format(", {} tokens/s", human_ratio(*m.tokens_per_s));
    if (m.samples_per_s) out_ += fmt::format(", {} samples/s", human_ratio(*m.samples_per_s));
    if (p.steps_simulated < p.steps)
        out_ += fmt::format("; {} steps simulated, the others on lines between them (off by {:.2f} % where tried)",
                            p.steps_simulated, 100 * p.step_deviation);
    out_ += "\n";
    for (const auto& b : p.blocks)
        out_ += fmt::format("    block {:<10} {:>10}   x{}, {} layers\n", b.name, human_time(b.time), b.repeat, b.layers);
}

void Writer::memory() {
    if (result_.memory.empty()) return;
    Bytes used{};
    for (const auto& m : result_.memory) {
        out_ += fmt::format("  memory {:<36} {:>8}\n", m.name, human_bytes(m.size));
        used += m.size;
    }
    const Bytes capacity = result_.gpu.dram.capacity;
    out_ += fmt::format("  memory {:<36} {:>8} of {} ({:.1f} %)\n", "in all", human_bytes(used), human_bytes(capacity),
                        100 * static_cast<double>(used.value) / static_cast<double>(std::max<std::int64_t>(1, capacity.value)));
}

void Writer::totals() {
    heading("Totals");
    const auto t = result_.total_traffic();
    out_ += fmt::format("  time {}   MACs {}   FLOPs {}   HBM read {}  write {}   L2 read {}  write {}\n",
                        human_time(result_.total_time()), human_count(static_cast<double>(result_.total_macs())),
                        human_count(static_cast<double>(result_.total_flops())), human_bytes(t.hbm_read),
                        human_bytes(t.hbm_write), human_bytes(t.l2_read), human_bytes(t.l2_write));
    if ((t.link_read + t.link_write).value > 0)
        out_ += fmt::format("  over the link: read {}  write {}\n", human_bytes(t.link_read), human_bytes(t.link_write));
    for (const auto& p : result_.phases) phase(p);
    memory();
    for (const auto& note : result_.notes) out_ += fmt::format("  note: {}\n", note);
}

void Writer::closing() {
    const auto& s = result_.simulator;
    out_ += fmt::format(
        "\nsimulated {} kernels{} for {} launches in {:.2f} s ({} line requests, {:.0f} MB peak, mode {})\n", s.kernels_simulated,
        s.kernels_cached > 0 ? fmt::format(" and read {} from the cache", s.kernels_cached) : "", s.kernels_launched, s.wall_s,
        human_count(static_cast<double>(s.line_requests)), static_cast<double>(s.peak_rss_bytes) / 1e6, s.mode);
}

std::string Writer::write() {
    out_ = fmt::format("{} on {} ({}), {} launches, {} caches, config {}\n\n", result_.workload_name, result_.gpu.name,
                       result_.gpu.title, result_.launch, result_.caches, result_.gpu.hash);
    table();
    waits();
    parallelism();
    reuse();
    power();
    why();
    totals();
    out_ += "\n" + roofline_chart(result_);
    closing();
    return out_;
}

}  // namespace

std::string text(const stats::RunResult& result, const TextOptions& options) { return Writer(result, options).write(); }

}  // namespace rafter::report
