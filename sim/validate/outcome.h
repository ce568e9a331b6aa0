// What the simulation says of a measured row.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "sim/config/hw_config.h"
#include "sim/validate/measured.h"
#include "sim/validate/row_model.h"

namespace rafter::validate {

enum class Status : unsigned char { scored, unsimulatable, impossible };
std::string_view name(Status status);

/// Times in microseconds of one execution under the row's protocol.
struct Outcome {
    Status status{Status::unsimulatable};
    std::string reason;  ///< why not scored
    double sim_us{0};
    double roofline_us{0};  ///< max(flops / peak, bytes / peak bandwidth), every operand once from HBM, no launch
    double floor_us{0};     ///< no GPU of this kind can be faster; docs/validation.md, (V.3)
    double flops{0}, bytes{0};
    std::string bound;
    std::vector<std::pair<std::string, double>> causes;  ///< share of SM time, largest first
    std::string kernels;                                 ///< "name grid 432; name grid 16"
};

struct SimulateOptions {
    std::size_t jobs{1};
    double time_limit_s{600};
    bool exact{false};
    std::vector<std::pair<std::string, std::string>> settings;          ///< --set of the GPUs
    std::function<void(std::size_t done, std::size_t total)> progress;  ///< may be empty
};

struct Effort {
    std::size_t distinct{0};  ///< simulations: rows with equal keys share one
};

/// One outcome a row, in the order of the rows, whatever the number of jobs. Errors: engine::Interrupted.
std::vector<Outcome> simulate(const std::vector<Row>& rows, const SimulateOptions& options, Effort& effort);

/// One simulation, in this process (it elaborates SystemC).
Outcome simulate_one(const Simulation& simulation, const config::HwConfig& gpu, bool exact);

}  // namespace rafter::validate
