#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "sim/report/report.h"
#include "sim/stats/roofline.h"

namespace rafter::report {

namespace {

std::string bold(const std::string& text, bool color) { return color ? "\033[1m" + text + "\033[0m" : text; }

/// Tenths of a percent that sum to 1000: the largest remainders get what rounding down left.
std::vector<std::pair<stats::Cause, int>> per_mille(const stats::CauseTimes& causes) {
    std::vector<std::pair<stats::Cause, double>> shares = stats::cause_shares(causes);
    std::vector<std::pair<stats::Cause, int>> out;
    int left = 1000;
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

std::string waits(const stats::CauseTimes& causes) {
    std::string text;
    for (const auto& [cause, share] : per_mille(causes)) {
        text += fmt::format("{}{} {}.{}", text.empty() ? "" : ", ", stats::name(cause), share / 10, share % 10);
    }
    return text;
}

constexpr const char* kHead = "{:<28} {:>6} {:>10} {:>9} {:>9} {:>9} {:>9} {:>9} {:>8} {:>7}  {}\n";

std::string table(const stats::RunResult& result, const TextOptions& options) {
    std::string out =
        bold(fmt::format(kHead, "layer", "count", "time", "MACs", "FLOPs", "L1", "L2", "HBM", "FLOP/B", "ridge", "bound"),
             options.color);
    std::string phase;
    for (const auto& l : result.layers) {
        if (l.phase != phase) out += fmt::format("-- {}\n", phase = l.phase);
        const auto& t = l.traffic;
        out += fmt::format(kHead, l.name, l.count, human_time(l.time), human_count(static_cast<double>(l.macs)),
                           human_count(static_cast<double>(l.flops)), human_bytes(t.l1_read + t.l1_write),
                           human_bytes(t.l2_read + t.l2_write), human_bytes(t.hbm_read + t.hbm_write),
                           fmt::format("{:.3g}", l.arithmetic_intensity), fmt::format("{:.3g}", l.ridge_point),
                           stats::name(l.bound));
        if (!options.kernels) continue;
        for (const auto& k : l.kernels) {
            out += fmt::format("    {} x{}  grid {}  {} threads, {} regs, {} B shared, {} CTA/SM  {}\n", k.name, k.count, k.grid,
                               k.threads, k.registers_per_thread, k.shared_memory_bytes, k.ctas_per_sm, human_time(k.time));
        }
    }
    return out;
}

std::string questions(const stats::RunResult& result, const TextOptions& options) {
    std::string out = "\n" + bold("What is the GPU waiting on?  (% of SM time)", options.color) + "\n";
    for (const auto& l : result.layers) out += fmt::format("  {:<28} {}\n", l.name, waits(l.causes));
    out += "\n" + bold("How much can run at once?", options.color) + "\n";
    out += fmt::format("  {:<28} {:>9} {:>8} {:>10} {:>9} {:>9} {:>15}\n", "", "CTAs", "waves", "occupancy", "busy SMs", "chain",
                       "FLOPs per link");
    for (const auto& l : result.layers) {
        const auto& p = l.parallelism;
        const double links = static_cast<double>(p.chain_length * l.count);
        out += fmt::format("  {:<28} {:>9} {:>8.2f} {:>9.0f}% {:>9.1f} {:>9} {:>15}\n", l.name, p.ctas, p.waves,
                           100 * p.occupancy, p.busy_sms, p.chain_length, human_count(static_cast<double>(l.flops) / links));
    }
    out += "\n" + bold("How often is data reused?  (bytes asked above / bytes moved below)", options.color) + "\n";
    for (const auto& l : result.layers)
        out += fmt::format("  {:<28} L1+shared {:>9.4g}   L2 {:>9.4g}\n", l.name, l.reuse_l1, l.reuse_l2);
    out += "\n" + bold("Why", options.color) + "\n";
    for (const auto& l : result.layers) out += fmt::format("  {}: {}\n", l.name, l.sentence);
    return out;
}

std::string totals(const stats::RunResult& result, const TextOptions& options) {
    const auto t = result.total_traffic();
    std::string out = "\n" + bold("Totals", options.color) + "\n";
    out += fmt::format("  time {}   MACs {}   FLOPs {}   HBM read {}  write {}   L2 read {}  write {}\n",
                       human_time(result.total_time()), human_count(static_cast<double>(result.total_macs())),
                       human_count(static_cast<double>(result.total_flops())), human_bytes(t.hbm_read), human_bytes(t.hbm_write),
                       human_bytes(t.l2_read), human_bytes(t.l2_write));
    for (const auto& p : result.phases) {
        out += fmt::format("  phase {:<12} {:>12}", p.name, human_time(p.time));
        if (p.steps > 1) out += fmt::format("   {} steps, {} a step", p.steps, human_time(p.time / p.steps));
        if (!p.step_results.empty()) {
            const auto &first = p.step_results.front(), &last = p.step_results.back();
            out +=
                fmt::format("; context {} -> {}: {} -> {}, KV cache read {} -> {}", first.context, last.context,
                            human_time(first.time), human_time(last.time), human_bytes(first.kv_read), human_bytes(last.kv_read));
        }
        out += "\n";
    }
    for (const auto& m : result.memory) out += fmt::format("  memory {:<34} {:>10}\n", m.name, human_bytes(m.size));
    for (const auto& note : result.notes) out += fmt::format("  note: {}\n", note);
    return out;
}

}  // namespace

std::string text(const stats::RunResult& result, const TextOptions& options) {
    std::string out =
        fmt::format("{} on {} ({}), config {}\n\n", result.workload_name, result.gpu.name, result.gpu.title, result.gpu.hash);
    out += table(result, options) + questions(result, options) + totals(result, options) + "\n" + roofline_chart(result);
    const auto& s = result.simulator;
    out += fmt::format("\nsimulated {} of {} kernel launches in {:.2f} s ({} line requests, {:.0f} MB peak, mode {})\n",
                       s.kernels_simulated, s.kernels_launched, s.wall_s, human_count(static_cast<double>(s.line_requests)),
                       static_cast<double>(s.peak_rss_bytes) / 1e6, s.mode);
    return out;
}

}  // namespace rafter::report
