// Errors of many rows in a few numbers. docs/validation.md, equations (V.1) and (V.2).
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "sim/validate/measured.h"
#include "sim/validate/outcome.h"

namespace rafter::validate {

/// Fractions: 0.1 is 10 %. All zero for no rows.
struct Score {
    std::size_t rows{0};
    double mape{0};            ///< mean |sim / real - 1|
    double bias{0};            ///< mean sim / real - 1
    double median{0}, p90{0};  ///< of |sim / real - 1|
    double within10{0};        ///< share of rows with |sim / real - 1| <= 0.1
    double roofline_mape{0};   ///< of the plain roofline on the same rows
};

struct Group {
    std::string gpu, op, dtype;  ///< "" where it is summed over
    Score score;
    std::vector<std::size_t> worst;  ///< rows, largest |error| first
};

struct Scoreboard {
    std::vector<Group> groups;  ///< by (gpu, op, dtype), sorted
    std::vector<Group> by_gpu, by_op;
    Score overall;
    std::map<std::string, std::vector<std::size_t>> unsimulatable;  ///< rows by reason
    std::vector<std::size_t> impossible;
};

double error_of(const Row& row, const Outcome& outcome);  ///< sim / real - 1

/// Percentile of sorted values, linear between ranks: 0.5 of two values is their mean.
double percentile(const std::vector<double>& sorted, double p);

Score score(const std::vector<Row>& rows, const std::vector<Outcome>& outcomes, const std::vector<std::size_t>& which);
Scoreboard scoreboard(const std::vector<Row>& rows, const std::vector<Outcome>& outcomes, std::size_t worst);

/// Which rows to use.
struct Selection {
    std::vector<std::string> gpu, op, dtype, source;  ///< empty = all
    std::size_t sample{0};                            ///< 0 = all
    std::uint64_t seed{1};
};
/// In the order of `rows`. Errors: Error for a filter that matches no row at all, with the nearest name.
std::vector<Row> select(const std::vector<Row>& rows, const Selection& selection);

}  // namespace rafter::validate
