#include "validate/host/statistics.h"

#include <algorithm>
#include <cmath>

#include "sim/core/error.h"

namespace rafter::validate {

double quantile(const std::vector<double>& sorted, double q) {
    RAFTER_CHECK(!sorted.empty(), "a quantile of nothing");
    const double place = q * static_cast<double>(sorted.size() - 1), floor = std::floor(place);
    const auto low = static_cast<std::size_t>(floor);
    const std::size_t high = std::min(low + 1, sorted.size() - 1);
    return sorted[low] + (place - floor) * (sorted[high] - sorted[low]);
}

Summary summarise(std::vector<double> samples) {
    std::sort(samples.begin(), samples.end());
    return {quantile(samples, 0.5), quantile(samples, 0.25), quantile(samples, 0.75)};
}

}  // namespace rafter::validate
