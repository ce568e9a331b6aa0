// How a run is timed: what is counted before a kernel, and what the L2 holds when it starts. docs/validation.md says which
// method of measurement each value stands for.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sim/config/hw_config.h"
#include "sim/program/kernel.h"

namespace rafter::engine {

enum class LaunchMode : std::uint8_t {
    stream,      ///< back to back in a stream: launch.stream_gap before each kernel
    graph,       ///< replay of a captured graph: launch.graph_gap
    events,      ///< a pair of events around each call of a layer: launch.event_overhead, then stream gaps between its kernels
    kernel_only  ///< start to end of each kernel as a profiler sees it: launch.null_kernel
};

enum class Caches : std::uint8_t {
    cold,          ///< the L2 holds nothing when the run begins
    warm,          ///< the run repeats over the same buffers
    weights_cold,  ///< it repeats with `weight_copies` copies of every parameter in turn, activations in the same buffers
    producer_warm  ///< the inputs of the first layer have just been written
};

/// What the operands hold: decides how much of the core switches. docs/model/power.md.
enum class Data : std::uint8_t { random, zeros };

struct Protocol {
    LaunchMode launch{LaunchMode::stream};
    Caches caches{Caches::cold};
    std::int64_t weight_copies{6};
    Data data{Data::random};
    std::int64_t passes{0};  ///< back to back after an idle moment, for the governor; 0: without end
    friend bool operator==(const Protocol&, const Protocol&) = default;
};

std::string_view name(LaunchMode mode);  ///< "stream", "graph", "events", "kernel-only"
std::string_view name(Caches caches);    ///< "cold", "warm", "weights-cold", "producer-warm"
std::string_view name(Data data);        ///< "random", "zeros"
const std::vector<std::string>& launch_names();
const std::vector<std::string>& data_names();
const std::vector<std::string>& caches_names();
std::optional<LaunchMode> parse_launch(std::string_view text);
std::optional<Caches> parse_caches(std::string_view text);
std::optional<Data> parse_data(std::string_view text);

/// What passes before the first CTA of a kernel; `first` of its layer. With events around each call the host's work lies between
/// the first event and the kernel, unless the L2 is flushed before each call.
Femtoseconds launch_gap(const config::Launch& launch, const Protocol& protocol, const program::Kernel& kernel, bool first);

}  // namespace rafter::engine
