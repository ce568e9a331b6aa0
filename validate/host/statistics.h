// Median and quartiles of samples.
#pragma once

#include <vector>

namespace rafter::validate {

struct Summary {
    double median{}, lower{}, upper{};  ///< quartiles
    double range() const { return upper - lower; }
};

/// Quantile `q` in [0, 1], linear between the two nearest samples (R's type 7). `sorted` is not empty.
double quantile(const std::vector<double>& sorted, double q);
Summary summarise(std::vector<double> samples);

}  // namespace rafter::validate
