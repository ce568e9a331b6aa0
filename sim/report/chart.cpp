#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "sim/report/report.h"

namespace rafter::report {

namespace {

constexpr int kWidth = 67, kRowsPerDecade = 2, kDecades = 6, kHeight = kDecades * kRowsPerDecade + 1;
constexpr double kLowX = -2;  // from 10^-2 FLOP/byte
constexpr int kColumnsPerDecade = 11;
constexpr std::string_view kMarks = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";

class Canvas {
public:
    explicit Canvas(double top) : top_(top) {}

    void roof(double x, double y, char c) { cell(x, y) = c; }
    /// A second layer in the same place turns the mark into '*'.
    void mark(double x, double y, char c) {
        char& at = cell(x, y);
        at = at == ' ' || at == '/' || at == '-' ? c : '*';
    }
    const std::string& row(int i) const { return rows_[static_cast<std::size_t>(i)]; }

private:
    char& cell(double x, double y) {
        const double across = (std::log10(x) - kLowX) * kColumnsPerDecade;
        const double down = (top_ - std::log10(y)) * kRowsPerDecade;
        const auto j = static_cast<std::size_t>(std::clamp(std::lround(across), 0L, long{kWidth - 1}));
        const auto i = static_cast<std::size_t>(std::clamp(std::lround(down), 0L, long{kHeight - 1}));
        return rows_[i][j];
    }
    double top_;
    std::vector<std::string> rows_ = std::vector<std::string>(kHeight, std::string(kWidth, ' '));
};

double peak_of(const stats::RunResult& result) {
    double ridge = 0;
    for (const auto& l : result.layers) ridge = std::max(ridge, l.ridge_point);
    return ridge * result.gpu.dram.peak_bytes_per_s();
}

void draw_roof(Canvas& canvas, double peak, double bandwidth) {
    for (int j = 0; j < kWidth; ++j) {
        const double x = std::pow(10, kLowX + static_cast<double>(j) / kColumnsPerDecade);
        canvas.roof(x, std::min(peak, x * bandwidth), x * bandwidth < peak ? '/' : '-');
    }
}

/// Marks the layers and gives the legend, three to a line.
std::string draw_layers(Canvas& canvas, const stats::RunResult& result) {
    std::vector<std::string> legend;
    std::size_t without = 0;
    for (const auto& l : result.layers) {
        if (l.flops == 0 || l.time.value == 0 || l.arithmetic_intensity <= 0 || legend.size() == kMarks.size()) {
            ++without;
            continue;
        }
        const char c = kMarks[legend.size()];
        canvas.mark(l.arithmetic_intensity, static_cast<double>(l.flops) / seconds(l.time), c);
        legend.push_back(fmt::format("{} {}", c, result.phases.size() > 1 ? l.phase + " " + l.name : l.name));
    }
    std::string text;
    for (std::size_t i = 0; i < legend.size(); ++i) {
        const bool last = i % 3 == 2 || i + 1 == legend.size();
        text += last ? fmt::format("  {}\n", legend[i]) : fmt::format("  {:<32}", legend[i]);
    }
    text += "  * several layers in one place";
    if (without > 0) text += fmt::format("; {} layers without a mark (no FLOPs, or out of letters)", without);
    return text + "\n";
}

std::string axis() {
    std::string ticks(kWidth, '-'), labels(kWidth + 12, ' ');
    constexpr std::array<const char*, kDecades + 1> names{"0.01", "0.1", "1", "10", "100", "1000", "1e4 FLOP/B"};
    for (int d = 0; d <= kDecades; ++d) {
        const auto column = static_cast<std::size_t>(d * kColumnsPerDecade);
        ticks[column] = '+';
        labels.replace(column, std::string_view(names[static_cast<std::size_t>(d)]).size(), names[static_cast<std::size_t>(d)]);
    }
    labels.erase(labels.find_last_not_of(' ') + 1);
    return fmt::format("{:>9} +{}\n{:>11}{}\n", "", ticks, "", labels);
}

}  // namespace

std::string roofline_chart(const stats::RunResult& result) {
    const double peak = peak_of(result), bandwidth = result.gpu.dram.peak_bytes_per_s();
    if (peak <= 0) return "";
    const double top = std::ceil(std::log10(peak));
    Canvas canvas(top);
    draw_roof(canvas, peak, bandwidth);
    const std::string legend = draw_layers(canvas, result);
    std::string out = fmt::format("Roofline of {}: FLOP/s against FLOP per algorithmic byte; roof {}FLOP/s, slope {}B/s\n",
                                  result.gpu.name, human_count(peak), human_count(bandwidth));
    for (int i = 0; i < kHeight; ++i) {
        const double exponent = top - static_cast<double>(i) / kRowsPerDecade;
        std::string row = canvas.row(i);
        row.erase(row.find_last_not_of(' ') + 1);
        out += fmt::format("{:>9} |{}\n", i % kRowsPerDecade == 0 ? human_count(std::pow(10, exponent)) : "", row);
    }
    return out + axis() + legend;
}

}  // namespace rafter::report
