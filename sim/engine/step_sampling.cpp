#include "sim/engine/step_sampling.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

namespace rafter::engine {

namespace {

class Planner {
public:
    explicit Planner(const StepQuestions& ask) : ask_(ask) {}

    StepPlan plan(std::int64_t steps) {
        // The first step finds the L2 as the phase before has left it, the second as a step leaves it.
        points_ = {0, 1, steps - 1};
        for (const std::int64_t kink : ask_.kinks) points_.insert(std::clamp<std::int64_t>(kink, 0, steps - 1));
        const std::vector<std::int64_t> ends(points_.begin(), points_.end());
        for (std::size_t i = 1; i < ends.size(); ++i) refine(ends[i - 1], ends[i]);
        StepPlan plan;
        plan.deviation = deviation_;
        std::int64_t before = 0;  // steps of the line that ends here, its ends left out
        for (auto point = points_.begin(); point != points_.end(); ++point) {
            const auto next = std::next(point);
            const std::int64_t after = next == points_.end() ? 0 : *next - *point - 1;
            plan.steps.push_back({*point, 1 + before / 2 + after / 2});
            before = after;
        }
        return plan;
    }

private:
    std::int64_t time(std::int64_t step) {
        const auto known = times_.find(step);
        return known != times_.end() ? known->second : times_.emplace(step, ask_.time(step).value).first->second;
    }

    /// How far a step lies off the line of (a, b), of its own time.
    double off(std::int64_t a, std::int64_t b, std::int64_t step) {
        const double line = static_cast<double>(time(a)) +
                            static_cast<double>(time(b) - time(a)) * static_cast<double>(step - a) / static_cast<double>(b - a);
        return std::abs(line - static_cast<double>(time(step))) / static_cast<double>(std::max<std::int64_t>(1, time(step)));
    }

    bool near(std::int64_t a, std::int64_t b, std::initializer_list<std::int64_t> steps) {
        double most = 0;
        for (const std::int64_t step : steps) most = std::max(most, off(a, b, step));
        if (most > kStepTolerance) return false;
        deviation_ = std::max(deviation_, most);
        return true;
    }

    /// The last step of [a, b) with the structure of a, given that b has another.
    std::int64_t last_like(std::int64_t a, std::int64_t b) const {
        const std::string like = ask_.structure(a);
        while (b - a > 1) {
            const std::int64_t middle = a + (b - a) / 2;
            (ask_.structure(middle) == like ? a : b) = middle;
        }
        return a;
    }

    void refine(std::int64_t a, std::int64_t b) {
        if (b - a <= 1) return;
        const bool odd = (b - a) % 2 == 1;
        if (ask_.structure(a) != ask_.structure(b)) {
            const std::int64_t last = last_like(a, b);
            if (!near(a, b, {last, last + 1})) {
                points_.insert({last, last + 1});
                refine(a, last), refine(last + 1, b);
                return;
            }
        }
        std::int64_t middle = a + (b - a) / 2;
        if (!odd && (middle - a) % 2 == 0) ++middle;  // an odd distance to both ends
        const bool settled = near(a, b, {middle});
        if (settled && odd) return;
        points_.insert(middle);
        if (settled) return;
        refine(a, middle), refine(middle, b);
    }

    const StepQuestions& ask_;
    std::set<std::int64_t> points_;
    std::map<std::int64_t, std::int64_t> times_;
    double deviation_{0};
};

}  // namespace

StepPlan plan_steps(std::int64_t steps, const StepQuestions& ask) {
    return steps > kFewSteps ? Planner(ask).plan(steps) : every_step(steps);
}

StepPlan every_step(std::int64_t steps) {
    StepPlan plan;
    for (std::int64_t step = 0; step < steps; ++step) plan.steps.push_back({step, 1});
    return plan;
}

std::int64_t on_line(std::int64_t a, std::int64_t ya, std::int64_t b, std::int64_t yb, std::int64_t at) {
    if (2 * (at - a) > b - a) return ya + yb - on_line(a, ya, b, yb, b - (at - a));
    __extension__ using Wide = __int128;
    return ya + static_cast<std::int64_t>(Wide{yb - ya} * (at - a) / (b - a));
}

}  // namespace rafter::engine
