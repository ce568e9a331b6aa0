#include "sim/kernels/index_source.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "sim/core/error.h"
#include "sim/core/mix.h"

namespace rafter::kernels {

namespace {

__extension__ using Wide = unsigned __int128;

/// Uniform in [0, 1), 53 bits.
double unit_interval(std::uint64_t bits) { return static_cast<double>(bits >> 11) * 0x1.0p-53; }

/// Uniform in [0, n) without a division.
std::int64_t below(std::uint64_t bits, std::int64_t n) {
    return static_cast<std::int64_t>((Wide{bits} * static_cast<std::uint64_t>(n)) >> 64);
}

/// (exp(x) - 1) / x and log(1 + x) / x, also near zero.
double expm1_ratio(double x) { return std::fabs(x) > 1e-8 ? std::expm1(x) / x : 1.0 + x / 2.0; }
double log1p_ratio(double x) { return std::fabs(x) > 1e-8 ? std::log1p(x) / x : 1.0 - x / 2.0; }

}  // namespace

Zipf::Zipf(std::int64_t n, double alpha)
    : n_(static_cast<double>(n)),
      most_(n),
      alpha_(alpha),
      at_first_(integral(1.5) - 1.0),
      at_last_(integral(n_ + 0.5)),
      squeeze_(2.0 - inverse(integral(2.5) - density(2.0))) {}

double Zipf::density(double x) const { return std::exp(-alpha_ * std::log(x)); }

double Zipf::integral(double x) const {
    const double log_x = std::log(x);
    return expm1_ratio((1.0 - alpha_) * log_x) * log_x;
}

double Zipf::inverse(double y) const {
    const double t = std::max(y * (1.0 - alpha_), -1.0);
    return std::exp(log1p_ratio(t) * y);
}

std::int64_t Zipf::rank(std::uint64_t stream) const {
    for (std::uint64_t attempt = 0;; ++attempt) {
        const double u = at_last_ + unit_interval(mix(stream, attempt)) * (at_first_ - at_last_);
        const double x = inverse(u);
        const auto k = std::clamp<std::int64_t>(static_cast<std::int64_t>(x + 0.5), 1, most_);
        const auto kd = static_cast<double>(k);
        if (kd - x <= squeeze_ || u >= integral(kd + 0.5) - density(kd)) return k;
    }
}

Scatter::Scatter(std::int64_t n, std::uint64_t seed) : n_(n), multiplier_(1), shift_(below(mix(seed, 1), n)) {
    multiplier_ = static_cast<std::int64_t>(static_cast<double>(n) * 0.6180339887498949);
    while (multiplier_ < 1 || std::gcd(multiplier_, n) != 1) ++multiplier_;
}

std::int64_t Scatter::operator()(std::int64_t rank) const {
    const Wide product = Wide{static_cast<std::uint64_t>(rank)} * static_cast<std::uint64_t>(multiplier_);
    return static_cast<std::int64_t>((product + static_cast<std::uint64_t>(shift_)) % static_cast<std::uint64_t>(n_));
}

IndexSource::IndexSource(Distribution distribution, std::int64_t rows, double alpha, std::uint64_t seed,
                         std::shared_ptr<const std::vector<std::int64_t>> listed, HotSet hot)
    : distribution_(distribution == Distribution::zipf && alpha <= 0.0 ? Distribution::uniform : distribution),
      rows_(rows),
      seed_(seed),
      zipf_(rows, std::max(alpha, 1e-9)),
      scatter_(rows, seed),
      hot_rows_(std::clamp<std::int64_t>(std::llround(static_cast<double>(rows) * hot.rows), 1, rows)),
      hot_lookups_(hot.lookups),
      listed_(std::move(listed)) {
    RAFTER_CHECK(distribution_ != Distribution::listed || (listed_ && !listed_->empty()), "an index file without indices");
}

std::int64_t IndexSource::hot_or_not(std::uint64_t stream) const {
    const std::uint64_t place = mix(stream, 1);
    if (hot_rows_ == rows_ || unit_interval(mix(stream, 0)) < hot_lookups_) return below(place, hot_rows_);
    return hot_rows_ + below(place, rows_ - hot_rows_);
}

std::int64_t IndexSource::row(std::int64_t table, std::int64_t position) const {
    const std::uint64_t stream = mix(seed_ + static_cast<std::uint64_t>(table), static_cast<std::uint64_t>(position));
    switch (distribution_) {
        case Distribution::uniform:
            return below(stream, rows_);
        case Distribution::zipf:
            return scatter_(zipf_.rank(stream) - 1);
        case Distribution::hot_set:
            return scatter_(hot_or_not(stream));
        case Distribution::sequential:
            return position % rows_;
        case Distribution::listed:
            return (*listed_)[static_cast<std::size_t>(position) % listed_->size()];
    }
    return 0;
}

}  // namespace rafter::kernels
