#include "validate/measure/timing.h"

#include <algorithm>
#include <chrono>
#include <optional>

#include "validate/cuda/work.h"

namespace rafter::validate {

namespace {

constexpr int kSamples = 30;
constexpr int kSlowSamples = 20;    // of calls longer than kSlow
constexpr double kSlow = 20'000;    // microseconds
constexpr int kGraphCalls = 10;     // at least, in a graph
constexpr double kWarmUp = 50'000;  // microseconds of calls before the first sample, so that clocks have risen
constexpr int kMostWarmUpCalls = 2000;
constexpr double kPause = 30;           // microseconds for the host to queue events and call
constexpr double kPausePerLaunch = 5;   // and every kernel of the call
constexpr double kBackToBack = 20'000;  // microseconds of calls in a sample

using Clock = std::chrono::steady_clock;

double microseconds_since(Clock::time_point start) {
    return std::chrono::duration<double, std::micro>(Clock::now() - start).count();
}

class Timer {
public:
    Timer(Bench& bench, const Context& context, const Sensors& sensors) : bench_(bench), context_(context), sensors_(sensors) {}

    /// A first estimate of one call, and the warm-up.
    double warm_up() {
        const auto start = Clock::now();
        int calls = 0;
        double each = 0;
        do {
            bench_.call(calls++);
            RAFTER_CUDA(cudaStreamSynchronize(context_.stream));
            each = microseconds_since(start) / calls;
        } while (calls < kMostWarmUpCalls && microseconds_since(start) < kWarmUp);
        return each;
    }

    std::vector<Sample> event_per_call(double each, bool cold) {
        const std::int64_t flushed = cold ? 2 * context_.device.l2_bytes + (8 << 20) : 0;
        const DeviceBuffer flush(flushed);
        if (cold) RAFTER_CUDA(cudaMemsetAsync(flush.get(), 0, static_cast<std::size_t>(flushed), context_.stream));
        return collect(each, [&](int index) {
            if (cold) launch_flush(flush.get(), static_cast<std::size_t>(flushed), context_.stream);
            launch_pause(kPause + kPausePerLaunch * bench_.launches(), context_.stream);
            return between_events([&] { bench_.call(index); });
        });
    }

    /// A graph goes over all copies, a whole number of times. The replay before the timed one keeps the queue full and the caches
    /// as in steady state.
    std::vector<Sample> graph_replay(double each) {
        const int rounds = (kGraphCalls + bench_.copies() - 1) / bench_.copies(), calls = rounds * bench_.copies();
        const Graph graph(context_.stream, [&] {
            for (int i = 0; i < calls; ++i) bench_.call(i);
        });
        graph.launch(context_.stream);
        return collect(each, [&](int) {
            graph.launch(context_.stream);
            return between_events([&] { graph.launch(context_.stream); }) / calls;
        });
    }

    std::vector<Sample> back_to_back(double each) {
        const int calls = static_cast<int>(std::clamp(kBackToBack / std::max(each, 1.0), 20.0, 300.0));
        return collect(each, [&](int) {
            const auto start = Clock::now();
            for (int i = 0; i < calls; ++i) bench_.call(i);
            RAFTER_CUDA(cudaStreamSynchronize(context_.stream));
            return microseconds_since(start) / calls;
        });
    }

private:
    template <class Queue>
    double between_events(const Queue& queue) {
        start_.record(context_.stream);
        queue();
        end_.record(context_.stream);
        RAFTER_CUDA(cudaStreamSynchronize(context_.stream));
        return end_.since(start_);
    }

    template <class One>
    std::vector<Sample> collect(double each, const One& one) {
        std::vector<Sample> samples;
        const int count = each > kSlow ? kSlowSamples : kSamples;
        for (int i = 0; i < count; ++i) {
            const double us = one(i);
            samples.push_back({us, sensors_.read()});
        }
        return samples;
    }

    Bench& bench_;
    const Context& context_;
    const Sensors& sensors_;
    Event start_, end_;
};

}  // namespace

std::vector<Sample> time_bench(Bench& bench, const Protocol& protocol, const Context& context, const Sensors& sensors) {
    Timer timer(bench, context, sensors);
    const double each = timer.warm_up();
    switch (protocol.calls) {
        case Calls::event_per_call:
            return timer.event_per_call(each, protocol.caches == Caches::cold);
        case Calls::graph_replay:
            return timer.graph_replay(each);
        case Calls::back_to_back_stream:
            return timer.back_to_back(each);
    }
    return {};
}

}  // namespace rafter::validate
