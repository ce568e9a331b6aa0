#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "sim/validate/reports.h"

namespace rafter::validate {

namespace {

std::string percent(double fraction) {
    const double p = fraction * 100;
    return fmt::format("{:.{}f}", p, std::abs(p) < 99.95 ? 1 : 0);
}

std::string signed_percent(double fraction) { return (fraction > 0 ? "+" : "") + percent(fraction); }

class Writer {
public:
    explicit Writer(const Validation& v) : v_(v) {}

    std::string write() {
        groups();
        summary("by GPU", v_.board.by_gpu, [](const Group& g) { return g.gpu; });
        summary("by op", v_.board.by_op, [](const Group& g) { return g.op; });
        unsimulatable();
        impossible();
        overall();
        return std::move(out_);
    }

private:
    void columns(const Score& s) {
        out_ += fmt::format(" {:>5} {:>7} {:>7} {:>7} {:>7} {:>8} {:>9}\n", s.rows, percent(s.mape), signed_percent(s.bias),
                            percent(s.median), percent(s.p90), percent(s.within10), percent(s.roofline_mape));
    }

    void heading(const std::string& title) {
        out_ += fmt::format("{:<46} {:>5} {:>7} {:>7} {:>7} {:>7} {:>8} {:>9}\n", title, "rows", "MAPE", "bias", "median", "p90",
                            "within10", "roofline");
    }

    void groups() {
        out_ +=
            "Errors in % of the measured time; within10: share of rows within 10 %; roofline: MAPE of the plain roofline.\n\n";
        heading("gpu, op, dtype");
        for (const Group& group : v_.board.groups) {
            out_ += fmt::format("{:<46}", fmt::format("{} {} {}", group.gpu, group.op, group.dtype));
            columns(group.score);
            for (const std::size_t i : group.worst) worst(i);
        }
    }

    void worst(std::size_t i) {
        const Row& row = v_.rows[i];
        const Outcome& o = v_.outcomes[i];
        out_ += fmt::format("    {:>6} %  {:>10.4g} us measured {:>10.4g} simulated  {}  [{}]  {}\n",
                            signed_percent(error_of(row, o)), row.time_us, o.sim_us, row.shape, causes_text(o, 3), row.id);
    }

    template <class Name>
    void summary(const char* title, const std::vector<Group>& groups, Name name) {
        if (groups.empty()) return;
        out_ += "\n";
        heading(title);
        for (const Group& group : groups) {
            out_ += fmt::format("{:<46}", name(group));
            columns(group.score);
        }
    }

    void unsimulatable() {
        std::size_t count = 0;
        for (const auto& [reason, rows] : v_.board.unsimulatable) count += rows.size();
        if (count == 0) return;
        out_ += fmt::format("\nnot simulated: {} of {} rows\n", count, v_.rows.size());
        for (const auto& [reason, rows] : v_.board.unsimulatable) {
            out_ += fmt::format("  {:>5}  {}", rows.size(), reason);
            const Row& first = v_.rows[rows.front()];
            out_ += fmt::format("  ({}:{}{})\n", first.file, first.line, rows.size() > 1 ? " and others" : "");
        }
    }

    void impossible() {
        if (v_.board.impossible.empty()) return;
        out_ += fmt::format("\nbeyond a physical peak, not scored: {} rows\n", v_.board.impossible.size());
        const std::size_t shown = std::min<std::size_t>(v_.board.impossible.size(), 20);
        for (std::size_t n = 0; n < shown; ++n) {
            const Row& row = v_.rows[v_.board.impossible[n]];
            out_ += fmt::format("  {}:{}: {} {} {} {}: {}\n", row.file, row.line, row.gpu, row.op, row.dtype, row.shape,
                                v_.outcomes[v_.board.impossible[n]].reason);
        }
        if (shown < v_.board.impossible.size())
            out_ += fmt::format("  and {} more (--json or --csv lists them all)\n", v_.board.impossible.size() - shown);
    }

    void overall() {
        out_ += "\n";
        heading("overall");
        out_ += fmt::format("{:<46}", fmt::format("{} rows read, {} simulations", v_.rows.size(), v_.effort.distinct));
        columns(v_.board.overall);
    }

    const Validation& v_;
    std::string out_;
};

}  // namespace

std::string causes_text(const Outcome& outcome, std::size_t count) {
    std::string text;
    for (std::size_t i = 0; i < std::min(count, outcome.causes.size()); ++i) {
        const auto& [cause, share] = outcome.causes[i];
        text += fmt::format("{}{} {:.0f} %", text.empty() ? "" : ", ", cause, share * 100);
    }
    return text;
}

std::string text(const Validation& validation) { return Writer(validation).write(); }

}  // namespace rafter::validate
