// Watches the loops of the resident CTAs. While every CTA is inside a loop of like steps and the machine makes constant progress,
// nothing new is learnt from more of them: all CTAs leave out the same number of steps. docs/model/steady.md.
#pragma once

#include <cstdint>
#include <vector>

#include "sim/model/meter.h"
#include "sim/model/steady.h"

namespace rafter::machine {

using model::Fs;

/// A CTA's place in its loop.
struct Loop {
    std::int64_t left{0};                             ///< like steps ahead
    std::int64_t skip{0};                             ///< to leave out at the next step
    std::int64_t lines{0};                            ///< requests of the unit of work so far, with those left out
    std::int64_t issued{0}, shared{0};                ///< requests and shared-memory bytes of the CTA so far
    std::int64_t issued_before{0}, shared_before{0};  ///< when its latest step began
    bool inside{false};                               ///< far enough from both ends
};

class SteadyLoop {
public:
    /// meter null: every step is run. `few`: there are so few waves that much depends on each sample.
    void begin(model::Meter* meter, bool few);
    void enter(Loop& loop);
    void leave(Loop& loop);
    /// program::Cta::step.
    std::int64_t step(Loop& loop, std::int64_t step, std::int64_t steps, std::int64_t period, Fs now);

private:
    static constexpr std::int64_t kWarm = 3;                     ///< steps run before a loop counts as entered
    static constexpr std::int64_t kMargin = 2;                   ///< steps run at its end
    static constexpr std::int64_t kWindow = 2;                   ///< steps of each CTA in a window
    static constexpr std::int64_t kLeast = 64;                   ///< steps of all CTAs in a window
    static constexpr std::int64_t kWorthwhile = 6;               ///< steps to leave out
    static constexpr std::int64_t kReach = 16, kReachOfFew = 4;  ///< see model::Trust
    void restart();
    void close(std::int64_t period, Fs now);
    static bool drains(const model::Tally& sample);
    void leave_out(const model::Tally& sample, std::int64_t steps, Fs now);

    model::Meter* meter_{nullptr};
    std::vector<Loop*> resident_;
    std::int64_t inside_{0}, progress_{0}, target_{0}, period_{0};
    std::int64_t lines_{0}, shared_{0};  ///< of the steps counted in progress_
    Fs round_begin_{0}, round_{0};  ///< of the CTAs' last steps in the window, one each: first time, and sum of the times since
    bool few_{false};
    bool first_{true};                                                  ///< nothing of this kernel has been left out yet
    model::Trend trend_{2 * model::kTolerance, 2 * model::kTolerance};  ///< errors of many loops even out
    model::Trust trust_{kReach};
};

}  // namespace rafter::machine
