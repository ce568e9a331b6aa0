// Reports of a validation. They read rows, outcomes and the scoreboard, and nothing else. docs/validation.md.
#pragma once

#include <string>
#include <vector>

#include "sim/validate/scoreboard.h"

namespace rafter::validate {

struct Validation {
    std::vector<Row> rows;
    std::vector<Outcome> outcomes;  ///< same order
    Scoreboard board;
    Effort effort;
};

std::string text(const Validation& validation);
std::string json(const Validation& validation);  ///< schema rafter.validation/1
std::string csv(const Validation& validation);   ///< a row a measurement
std::string html(const Validation& validation);  ///< one file, needs no network

/// "fma 61 %, l2_latency 22 %, tail 9 %": the largest `count`.
std::string causes_text(const Outcome& outcome, std::size_t count);

}  // namespace rafter::validate
