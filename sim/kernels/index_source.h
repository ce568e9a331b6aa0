// Row indices of embedding look-ups, computed where they are needed: no memory in the number of rows or look-ups.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

namespace rafter::kernels {

/// Zipf(alpha) over ranks 1..n by rejection-inversion: W. Hoermann, G. Derflinger, "Rejection-inversion to generate variates from
/// monotone discrete distributions", ACM TOMACS 6(3), 1996. Exact for any n and alpha > 0, constant time and memory.
class Zipf {
public:
    Zipf(std::int64_t n, double alpha);
    std::int64_t rank(std::uint64_t stream) const;  ///< in [1, n]

private:
    double integral(double x) const;  ///< of x^-alpha
    double inverse(double y) const;
    double density(double x) const;
    double n_;
    std::int64_t most_;
    double alpha_, at_first_, at_last_, squeeze_;
};

/// A bijection of [0, n): scatters popular ranks over the table.
class Scatter {
public:
    Scatter(std::int64_t n, std::uint64_t seed);
    std::int64_t operator()(std::int64_t rank) const;

private:
    std::int64_t n_, multiplier_, shift_;
};

enum class Distribution : std::uint8_t { uniform, zipf, hot_set, sequential, listed };

/// This share of the rows takes this share of the look-ups; each part evenly.
struct HotSet {
    double rows{0}, lookups{0};
};

class IndexSource {
public:
    /// `listed` (may be null) holds the indices of a file, used cyclically.
    IndexSource(Distribution distribution, std::int64_t rows, double alpha, std::uint64_t seed,
                std::shared_ptr<const std::vector<std::int64_t>> listed = nullptr, HotSet hot = {});

    /// Row that look-up `position` (sample x pooling + k) of `table` reads.
    std::int64_t row(std::int64_t table, std::int64_t position) const;

private:
    std::int64_t hot_or_not(std::uint64_t stream) const;
    Distribution distribution_;
    std::int64_t rows_;
    std::uint64_t seed_;
    Zipf zipf_;
    Scatter scatter_;
    std::int64_t hot_rows_;
    double hot_lookups_;
    std::shared_ptr<const std::vector<std::int64_t>> listed_;
};

}  // namespace rafter::kernels
