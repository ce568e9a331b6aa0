// Fits physical parameters of a GPU to measured rows and says how far the fit holds. There is no factor on a result to be fitted:
// a parameter is a leaf of the GPU file, and the simulation is run anew for every value tried. docs/validation.md.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "sim/calibrate/least_squares.h"
#include "sim/calibrate/parameter.h"
#include "sim/validate/measured.h"

namespace rafter::calibrate {

struct Options {
    std::string gpu;  ///< a name or a file
    std::vector<std::string> free, bounds;
    std::size_t jobs{1};
    int folds{5}, max_iterations{12};
    std::uint64_t seed{1};
    double time_limit_s{120};
    std::function<void(const std::string& what)> progress;  ///< may be empty
};

/// Errors as MAPE, fractions.
struct FoldResult {
    std::size_t held_out{0};
    double fitted_before{0}, fitted_after{0}, held_out_before{0}, held_out_after{0};
    std::vector<double> values;
};

struct Result {
    config::HwConfig gpu;
    std::vector<Parameter> parameters;
    std::vector<double> values;
    Fit fit;
    std::size_t rows{0};
    std::vector<std::string> left_out;  ///< rows that take no part, with the reason
    double before{0}, after{0};         ///< MAPE over all rows
    std::vector<FoldResult> folds;
    std::size_t simulations{0};
};

/// `rows` may hold other GPUs' rows; they take no part. Errors: Error when fewer rows than parameters + folds are left, when a
/// parameter is unknown; engine::Interrupted.
Result calibrate(const std::vector<validate::Row>& rows, const Options& options);

/// The table, the errors before and after on fitted and held-out rows, and a warning for what the rows do not decide.
std::string text(const Result& result);

}  // namespace rafter::calibrate
