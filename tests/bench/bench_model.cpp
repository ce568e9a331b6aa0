#include <array>
#include <vector>

#include <benchmark/benchmark.h>

#include "sim/core/mix.h"
#include "sim/model/calendar.h"
#include "sim/model/divider.h"
#include "sim/model/placement.h"
#include "sim/model/tag_array.h"

namespace {

using rafter::mix;
using rafter::model::Calendar;
using rafter::model::Fs;
using rafter::model::Interleave;
using rafter::model::Placement;
using rafter::model::TagArray;

/// Requests arrive at `load` of the server's rate, with path latencies spread over 100 service times.
void calendar(benchmark::State& state) {
    constexpr Fs kService = 1'000'000;
    Calendar server(kService);
    const Fs gap = kService * 100 / state.range(0);
    Fs now = 0;
    std::uint64_t i = 0;
    for (auto _ : state) {
        now += gap;
        benchmark::DoNotOptimize(server.reserve(now + static_cast<Fs>(mix(++i) % 100) * kService, kService));
    }
}
BENCHMARK(calendar)->Arg(50)->Arg(90)->Arg(99);

void tag_array_hits(benchmark::State& state) {
    TagArray tags(4096, 16);
    std::uint64_t i = 0;
    for (auto _ : state) {
        ++i;
        benchmark::DoNotOptimize(tags.read(mix(i) % 2048, 0xF, static_cast<Fs>(i) * 1000).missing);
    }
}
BENCHMARK(tag_array_hits);

void tag_array_misses(benchmark::State& state) {
    TagArray tags(4096, 16);
    std::uint64_t i = 0;
    for (auto _ : state) {
        ++i;
        benchmark::DoNotOptimize(tags.read(i, 0xF, static_cast<Fs>(i) * 1000).missing);
    }
}
BENCHMARK(tag_array_misses);

/// As the machine does it: a burst of 32 lines is decoded, then served, over the tags of an A100's L2.
void decode_and_touch(benchmark::State& state) {
    constexpr std::size_t kSlices = 80, kBurst = 32;
    std::vector<TagArray> tags(kSlices, TagArray(4096, 16, 2));
    Placement placement(kSlices);
    for (std::size_t i = 0; i < kSlices; ++i) placement.watch(i, tags[i]);
    std::array<Placement::Spot, kBurst> spots;
    std::uint64_t i = 0;
    Fs now = 0;
    for (auto _ : state) {
        for (auto& spot : spots) spot = placement.decode(mix(++i) % 250000);
        for (const auto& spot : spots)
            benchmark::DoNotOptimize(tags[spot.home].read(spot.where, spot.local, 0xF, now += 1000).missing);
    }
    state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(kBurst));
}
BENCHMARK(decode_and_touch);

void interleave(benchmark::State& state) {
    const Interleave over(static_cast<std::uint64_t>(state.range(0)));
    std::uint64_t i = 0;
    for (auto _ : state) benchmark::DoNotOptimize(over(++i).place);
}
BENCHMARK(interleave)->Arg(5)->Arg(80)->Arg(96);

}  // namespace

BENCHMARK_MAIN();
