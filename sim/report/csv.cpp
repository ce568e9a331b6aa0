#include <array>
#include <string_view>

#include <fmt/format.h>

#include "sim/report/report.h"
#include "sim/stats/roofline.h"

namespace rafter::report {

namespace {

constexpr std::array<std::string_view, 36> kColumns{"phase",
                                                    "name",
                                                    "op",
                                                    "family",
                                                    "dtype",
                                                    "count",
                                                    "time_s",
                                                    "clock_hz",
                                                    "energy_j",
                                                    "average_power_w",
                                                    "macs",
                                                    "flops",
                                                    "l1_read_bytes",
                                                    "l1_write_bytes",
                                                    "l2_read_bytes",
                                                    "l2_write_bytes",
                                                    "hbm_read_bytes",
                                                    "hbm_write_bytes",
                                                    "link_read_bytes",
                                                    "link_write_bytes",
                                                    "algorithmic_read_bytes",
                                                    "algorithmic_write_bytes",
                                                    "arithmetic_intensity_flop_per_byte",
                                                    "ridge_point_flop_per_byte",
                                                    "roofline_time_s",
                                                    "compulsory_time_s",
                                                    "bound",
                                                    "ctas",
                                                    "waves",
                                                    "occupancy",
                                                    "busy_sms",
                                                    "chain_length",
                                                    "reuse_l1",
                                                    "reuse_l2",
                                                    "kernels",
                                                    "sentence"};

std::string count(Count n) {
    if (n <= static_cast<Count>(~std::uint64_t{0})) return fmt::format("{}", static_cast<std::uint64_t>(n));
    return fmt::format("{}", static_cast<double>(n));
}

/// One record, field by field, in the order of the header.
class Row {
public:
    /// Quoted when it holds a comma, a quote or a line break (RFC 4180).
    Row& text(std::string_view field) {
        if (field.find_first_of(",\"\r\n") == std::string_view::npos) return raw(field);
        std::string quoted = "\"";
        for (const char c : field) quoted += c == '"' ? std::string("\"\"") : std::string(1, c);
        return raw(quoted + "\"");
    }
    template <class Number>
    Row& number(Number n) {
        return raw(fmt::format("{}", n));
    }
    Row& raw(std::string_view field) {
        if (!first_) line_ += ',';
        first_ = false;
        line_ += field;
        return *this;
    }
    std::string done() const { return line_ + "\n"; }

private:
    std::string line_;
    bool first_{true};
};

constexpr std::array<std::string_view, 7> kPhaseColumns{
    "phase_time_s", "phase_ttft_s", "phase_tpot_s", "phase_tokens_per_s", "phase_samples_per_s", "phase_mfu", "phase_mbu"};

/// Speeds of the layer's phase, the same in all of its rows; empty where they make no sense.
void add_phase(Row& row, const stats::RunResult& result, const std::string& name) {
    for (const auto& phase : result.phases) {
        if (phase.name != name) continue;
        const auto& m = phase.metrics;
        row.number(seconds(phase.time));
        for (const auto& value : {m.ttft_s, m.tpot_s, m.tokens_per_s, m.samples_per_s}) value ? row.number(*value) : row.raw("");
        row.number(m.mfu).number(m.mbu);
        return;
    }
    for (std::size_t i = 0; i < kPhaseColumns.size(); ++i) row.raw("");
}

std::string record(const stats::LayerResult& l, const stats::RunResult& result) {
    const auto& t = l.traffic;
    const auto& p = l.parallelism;
    Row row;
    row.text(l.phase).text(l.name).text(l.op).text(l.family).text(name(l.dtype)).number(l.count).number(seconds(l.time));
    const double joules = l.energy.total();
    row.number(l.clock.value);
    // Empty where the GPU file gives no energies.
    if (joules > 0)
        row.number(joules).number(joules / seconds(l.time));
    else
        row.raw("").raw("");
    row.raw(count(l.macs)).raw(count(l.flops));
    for (const Bytes b : {t.l1_read, t.l1_write, t.l2_read, t.l2_write, t.hbm_read, t.hbm_write, t.link_read, t.link_write,
                          l.algorithmic_read, l.algorithmic_write})
        row.number(b.value);
    row.number(l.arithmetic_intensity).number(l.ridge_point).number(seconds(l.roofline_time)).number(seconds(l.compulsory_time));
    row.text(stats::name(l.bound)).number(p.ctas).number(p.waves).number(p.occupancy).number(p.busy_sms).number(p.chain_length);
    row.number(l.reuse_l1).number(l.reuse_l2).number(l.kernels.size()).text(l.sentence);
    for (std::size_t i = 0; i < stats::kCauses; ++i) row.number(stats::share(l.causes, static_cast<stats::Cause>(i)));
    add_phase(row, result, l.phase);
    return row.done();
}

}  // namespace

std::string csv(const stats::RunResult& result) {
    Row header;
    for (const auto column : kColumns) header.raw(column);
    for (std::size_t i = 0; i < stats::kCauses; ++i)
        header.raw(fmt::format("cause_{}_fraction", stats::name(static_cast<stats::Cause>(i))));
    for (const auto column : kPhaseColumns) header.raw(column);
    std::string out = header.done();
    for (const auto& layer : result.layers) out += record(layer, result);
    return out;
}

}  // namespace rafter::report
