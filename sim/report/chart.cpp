#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "sim/report/report.h"

namespace rafter::report {

namespace {

constexpr int kWidth = 66, kHeight = 14;
constexpr double kLowX = -2, kHighX = 4;  // 10^-2 .. 10^4 FLOP/byte

struct Canvas {
    std::vector<std::string> rows = std::vector<std::string>(kHeight, std::string(kWidth, ' '));
    double top{}, bottom{};

    int column(double x) const {
        return static_cast<int>(std::lround((std::log10(x) - kLowX) / (kHighX - kLowX) * (kWidth - 1)));
    }
    int row(double y) const { return static_cast<int>(std::lround((top - std::log10(y)) / (top - bottom) * (kHeight - 1))); }
    void put(double x, double y, char c) {
        if (x <= 0 || y <= 0) return;
        const int i = std::clamp(row(y), 0, kHeight - 1), j = std::clamp(column(x), 0, kWidth - 1);
        rows[static_cast<std::size_t>(i)][static_cast<std::size_t>(j)] = c;
    }
};

}  // namespace

std::string roofline_chart(const stats::RunResult& result) {
    double peak = 0;
    for (const auto& l : result.layers) peak = std::max(peak, l.ridge_point * result.gpu.dram.peak_bytes_per_s());
    if (peak <= 0) return "";
    const double bandwidth = result.gpu.dram.peak_bytes_per_s();
    Canvas canvas;
    canvas.top = std::ceil(std::log10(peak));
    canvas.bottom = canvas.top - 6;
    for (int j = 0; j < kWidth * 4; ++j) {
        const double x = std::pow(10, kLowX + (kHighX - kLowX) * j / (kWidth * 4 - 1));
        canvas.put(x, std::min(peak, x * bandwidth), x * bandwidth < peak ? '/' : '-');
    }
    char mark = 'a';
    std::string legend;
    for (const auto& l : result.layers) {
        if (l.flops == 0) continue;
        const double achieved = static_cast<double>(l.flops) / seconds(l.time);
        canvas.put(l.arithmetic_intensity, achieved, mark);
        legend += fmt::format("  {} {}\n", mark, l.name);
        mark = mark == 'z' ? 'A' : static_cast<char>(mark + 1);
        if (mark > 'Z' && mark < 'a') break;
    }
    std::string out = fmt::format("Roofline of {}: FLOP/s against FLOP per algorithmic byte; roof {} FLOP/s, slope {}B/s\n",
                                  result.gpu.name, human_count(peak), human_count(bandwidth));
    for (int i = 0; i < kHeight; ++i) {
        const double exponent = canvas.top - (canvas.top - canvas.bottom) * i / (kHeight - 1);
        out += fmt::format("{:>9} |{}\n", i % 3 == 0 ? human_count(std::pow(10, exponent)) : "",
                           canvas.rows[static_cast<std::size_t>(i)]);
    }
    out += fmt::format("{:>9} +{}\n{:>11}{:<11}{:<11}{:<11}{:<11}{:<11}{:<10}1e4 FLOP/B\n", "", std::string(kWidth, '-'), "",
                       "0.01", "0.1", "1", "10", "100", "1000");
    return out + legend;
}

}  // namespace rafter::report
