// Which steps of a long phase are simulated, and how many steps each stands for. docs/model/engine.md, (E.6).
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "sim/core/quantity.h"

namespace rafter::engine {

/// A step that is simulated, and the number of steps whose results are taken to be its own.
struct StepWeight {
    std::int64_t step{0}, weight{1};
};

struct StepPlan {
    std::vector<StepWeight> steps;  ///< in order; the weights sum to the steps of the phase
    double deviation{0};            ///< most by which a step that was tried lies off the line that stands for it, of its time
};

/// What may be asked of a step.
struct StepQuestions {
    std::function<Femtoseconds(std::int64_t)> time;      ///< simulates it
    std::function<std::string(std::int64_t)> structure;  ///< its kernels and grids; cheap. Where it changes the time may jump
    std::vector<std::int64_t> kinks;                     ///< steps that get a point of their own
};

/// Phases of so few steps are run step by step.
inline constexpr std::int64_t kFewSteps = 8;
/// A line stands for the steps below it when the step tried in its middle is this near to it. A quarter of the 0.5 % promised.
inline constexpr double kStepTolerance = 0.00125;

/// Results between two simulated steps are taken to lie on the line between them. Lines span an even number of steps, so that
/// all weights are whole and sums of integers stay exact. A plan of every step when there are few.
StepPlan plan_steps(std::int64_t steps, const StepQuestions& ask);

/// Every step, each for itself.
StepPlan every_step(std::int64_t steps);

/// Value of step `at` on the line from (a, ya) to (b, yb). Values of steps that mirror each other sum to ya + yb, exactly.
std::int64_t on_line(std::int64_t a, std::int64_t ya, std::int64_t b, std::int64_t yb, std::int64_t at);

}  // namespace rafter::engine
