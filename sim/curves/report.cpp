#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "sim/curves/curves.h"

namespace rafter::curves {

std::string text(const std::vector<Curve>& curves, const std::string& gpu) {
    std::string out;
    for (const Curve& curve : curves) {
        out += fmt::format("{}: {} ({})\n{:>20} {:>12} {:>12} {:>8}\n", gpu, curve.title, curve.y_label, curve.x_label,
                           "simulated", "measured", "error");
        for (const Point& p : curve.points) {
            out += fmt::format("{:>20.6g} {:>12.5g}", p.x, p.simulated);
            if (p.measured) out += fmt::format(" {:>12.5g} {:>+7.1f}%", *p.measured, 100 * (p.simulated / *p.measured - 1));
            out += '\n';
        }
        const auto median = curve.median_error();
        out += median ? fmt::format("median error {:.1f} %\n\n", 100 * *median) : "nothing measured\n\n";
    }
    return out;
}

std::string json(const std::vector<Curve>& curves, const std::string& gpu) {
    nlohmann::ordered_json all{{"schema", "rafter.curves/1"}, {"gpu", gpu}, {"curves", nlohmann::ordered_json::array()}};
    for (const Curve& curve : curves) {
        nlohmann::ordered_json points = nlohmann::ordered_json::array();
        for (const Point& p : curve.points) {
            nlohmann::ordered_json point{{"x", p.x}, {"simulated", p.simulated}};
            if (p.measured) point["measured"] = *p.measured;
            points.push_back(std::move(point));
        }
        nlohmann::ordered_json one{{"name", curve.name}, {"title", curve.title}, {"x", curve.x_label}, {"y", curve.y_label}};
        if (const auto median = curve.median_error()) one["median_error"] = *median;
        one["points"] = std::move(points);
        all["curves"].push_back(std::move(one));
    }
    return all.dump(2) + "\n";
}

namespace {

constexpr double kWidth = 720, kHeight = 420, kLeft = 76, kRight = 24, kTop = 48, kBottom = 56;

/// Logarithmic from a bit below the least value to a bit above the largest.
struct Axis {
    double low, high, from, to;
    double place(double value) const {
        return from + (std::log(value) - std::log(low)) / (std::log(high) - std::log(low)) * (to - from);
    }
};

Axis axis_of(double least, double most, double from, double to) {
    const double room = std::pow(std::max(1.2, most / least), 0.06);
    return {least / room, most * room, from, to};
}

/// 1, 2 and 5 times powers of ten inside the axis; only the powers when those are many.
std::vector<double> ticks(const Axis& axis) {
    std::vector<double> all;
    const bool many = axis.high / axis.low > 300;
    for (double decade = std::pow(10.0, std::floor(std::log10(axis.low))); decade <= axis.high; decade *= 10) {
        for (const double step : {1.0, 2.0, 5.0}) {
            const double value = decade * step;
            if (value >= axis.low && value <= axis.high && (step == 1.0 || !many)) all.push_back(value);
        }
    }
    return all;
}

class Drawing {
public:
    explicit Drawing(const Curve& curve) : curve_(curve) {
        double x0 = 1e300, x1 = 0, y0 = 1e300, y1 = 0;
        for (const Point& p : curve.points) {
            x0 = std::min(x0, p.x), x1 = std::max(x1, p.x);
            for (const double y : {p.simulated, p.measured.value_or(p.simulated)}) y0 = std::min(y0, y), y1 = std::max(y1, y);
        }
        x_ = axis_of(x0, x1, kLeft, kWidth - kRight);
        y_ = axis_of(y0, y1, kHeight - kBottom, kTop);
    }

    std::string draw(const std::string& gpu) {
        out_ = fmt::format(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0} {1}\" width=\"{0}\" height=\"{1}\" "
            "font-family=\"sans-serif\" "
            "font-size=\"12\">\n<rect width=\"{0}\" height=\"{1}\" fill=\"white\"/>\n",
            kWidth, kHeight);
        label(kLeft, 22, "start", fmt::format("{}: {}", gpu, curve_.title), 14);
        grid();
        line();
        points();
        label((kLeft + kWidth - kRight) / 2, kHeight - 14, "middle", curve_.x_label);
        out_ +=
            fmt::format("<text x=\"18\" y=\"{0:.1f}\" text-anchor=\"middle\" transform=\"rotate(-90 18 {0:.1f})\">{1}</text>\n",
                        (kTop + kHeight - kBottom) / 2, curve_.y_label);
        legend();
        return std::move(out_) + "</svg>\n";
    }

private:
    void label(double x, double y, const char* anchor, const std::string& words, int size = 12) {
        out_ += fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"{}\" font-size=\"{}\">{}</text>\n", x, y, anchor, size,
                            words);
    }
    void stroke(double x1, double y1, double x2, double y2) {
        out_ += fmt::format("<line x1=\"{:.1f}\" y1=\"{:.1f}\" x2=\"{:.1f}\" y2=\"{:.1f}\" stroke=\"#ddd\"/>\n", x1, y1, x2, y2);
    }
    void grid() {
        for (const double value : ticks(x_)) {
            stroke(x_.place(value), kTop, x_.place(value), kHeight - kBottom);
            label(x_.place(value), kHeight - kBottom + 18, "middle", fmt::format("{:g}", value));
        }
        for (const double value : ticks(y_)) {
            stroke(kLeft, y_.place(value), kWidth - kRight, y_.place(value));
            label(kLeft - 6, y_.place(value) + 4, "end", fmt::format("{:g}", value));
        }
    }
    void line() {
        out_ += "<polyline fill=\"none\" stroke=\"#1f6feb\" stroke-width=\"2\" points=\"";
        for (const Point& p : curve_.points) out_ += fmt::format("{:.1f},{:.1f} ", x_.place(p.x), y_.place(p.simulated));
        out_ += "\"/>\n";
    }
    void points() {
        for (const Point& p : curve_.points) {
            if (p.measured)
                out_ += fmt::format("<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"4\" fill=\"#d9480f\"/>\n", x_.place(p.x),
                                    y_.place(*p.measured));
        }
    }
    void legend() {
        out_ += "<line x1=\"470\" y1=\"36\" x2=\"500\" y2=\"36\" stroke=\"#1f6feb\" stroke-width=\"2\"/>\n";
        label(506, 40, "start", "simulated");
        if (!curve_.median_error()) return;
        out_ += "<circle cx=\"590\" cy=\"36\" r=\"4\" fill=\"#d9480f\"/>\n";
        label(600, 40, "start", "measured");
    }

    const Curve& curve_;
    Axis x_{}, y_{};
    std::string out_;
};

}  // namespace

std::string svg(const Curve& curve, const std::string& gpu) { return Drawing(curve).draw(gpu); }

}  // namespace rafter::curves
