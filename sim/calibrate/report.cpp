#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>

#include "sim/calibrate/calibrate.h"

namespace rafter::calibrate {

namespace {

constexpr double kConfidence = 1.96;  // 95 % of a normal distribution

std::string interval(const Parameter& p, double x, double sigma) {
    if (!std::isfinite(sigma)) return "not decided by the rows";
    return fmt::format("{} .. {}", p.text(p.start * std::exp(x - kConfidence * sigma)),
                       p.text(p.start * std::exp(x + kConfidence * sigma)));
}

std::string error_line(const char* title, double before, double after) {
    return fmt::format("{:<38} {:>8.2f} {:>8.2f}\n", title, before * 100, after * 100);
}

std::string errors(const Result& r) {
    std::string out = fmt::format("\n{:<38} {:>8} {:>8}\n", "MAPE, %", "before", "after");
    out += error_line(fmt::format("all {} rows, fitted together", r.rows).c_str(), r.before, r.after);
    if (r.folds.empty()) return out;
    std::array<double, 4> sums{};
    double rows = 0;
    for (const FoldResult& f : r.folds) {
        const auto held = static_cast<double>(f.held_out), fitted = static_cast<double>(r.rows) - held;
        sums[0] += f.fitted_before * fitted, sums[1] += f.fitted_after * fitted;
        sums[2] += f.held_out_before * held, sums[3] += f.held_out_after * held;
        rows += held;
    }
    const double fitted = rows * (static_cast<double>(r.folds.size()) - 1);
    out += error_line(fmt::format("{} folds, rows fitted", r.folds.size()).c_str(), sums[0] / std::max(1.0, fitted),
                      sums[1] / std::max(1.0, fitted));
    return out + error_line(fmt::format("{} folds, rows held out", r.folds.size()).c_str(), sums[2] / rows, sums[3] / rows);
}

std::string warnings(const Result& r) {
    std::string out;
    for (std::size_t i = 0; i < r.parameters.size(); ++i) {
        const Parameter& p = r.parameters[i];
        if (r.fit.at_bound[i])
            out += fmt::format("warning: {} sits at its bound ({} .. {}): another mechanism is missing, or the bound is wrong\n",
                               p.path, p.text(p.lower), p.text(p.upper));
        if (!r.fit.identifiable[i])
            out += fmt::format(
                "warning: {} is not identifiable from these rows: they do not depend on it, or only together with "
                "another free value\n",
                p.path);
    }
    const auto worse =
        std::count_if(r.folds.begin(), r.folds.end(), [](const auto& f) { return f.held_out_after > f.held_out_before; });
    if (worse > 0) out += fmt::format("warning: held-out rows became worse in {} of {} folds\n", worse, r.folds.size());
    return out;
}

}  // namespace

std::string text(const Result& r) {
    std::string out = fmt::format("{}: {} free values on {} rows, {} iterations, {} simulations\n\n", r.gpu.name,
                                  r.parameters.size(), r.rows, r.fit.iterations, r.simulations);
    out += fmt::format("{:<30} {:>18} {:>18}   {:<40} {}\n", "value", "start", "fitted", "95 % interval", "over the folds");
    for (std::size_t i = 0; i < r.parameters.size(); ++i) {
        const Parameter& p = r.parameters[i];
        std::string spread;
        if (!r.folds.empty()) {
            const auto by = [&](const auto& a, const auto& b) { return a.values[i] < b.values[i]; };
            spread = fmt::format("{} .. {}", p.text(std::min_element(r.folds.begin(), r.folds.end(), by)->values[i]),
                                 p.text(std::max_element(r.folds.begin(), r.folds.end(), by)->values[i]));
        }
        const auto at = static_cast<Eigen::Index>(i);
        out += fmt::format("{:<30} {:>18} {:>18}   {:<40} {}\n", p.path, p.text(p.start), p.text(r.values[i]),
                           interval(p, r.fit.x[at], r.fit.sigma[at]), spread);
    }
    out += errors(r);
    if (!r.left_out.empty()) {
        out += fmt::format("\n{} rows take no part:\n", r.left_out.size());
        for (std::size_t i = 0; i < std::min<std::size_t>(5, r.left_out.size()); ++i) out += "  " + r.left_out[i] + "\n";
    }
    const std::string warned = warnings(r);
    return out + (warned.empty() ? "" : "\n" + warned);
}

}  // namespace rafter::calibrate
