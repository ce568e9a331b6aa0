#include "sim/engine/protocol.h"

#include <algorithm>

namespace rafter::engine {

namespace {

template <class E>
std::optional<E> parse(const std::vector<std::string>& names, std::string_view text) {
    const auto at = std::find(names.begin(), names.end(), text);
    if (at == names.end()) return std::nullopt;
    return static_cast<E>(at - names.begin());
}

}  // namespace

const std::vector<std::string>& launch_names() {
    static const std::vector<std::string> names{"stream", "graph", "events", "kernel-only"};
    return names;
}

const std::vector<std::string>& caches_names() {
    static const std::vector<std::string> names{"cold", "warm", "weights-cold", "producer-warm"};
    return names;
}

const std::vector<std::string>& data_names() {
    static const std::vector<std::string> names{"random", "zeros"};
    return names;
}

std::string_view name(Data data) { return data_names()[static_cast<std::size_t>(data)]; }
std::optional<Data> parse_data(std::string_view text) { return parse<Data>(data_names(), text); }
std::string_view name(LaunchMode mode) { return launch_names()[static_cast<std::size_t>(mode)]; }
std::string_view name(Caches caches) { return caches_names()[static_cast<std::size_t>(caches)]; }
std::optional<LaunchMode> parse_launch(std::string_view text) { return parse<LaunchMode>(launch_names(), text); }
std::optional<Caches> parse_caches(std::string_view text) { return parse<Caches>(caches_names(), text); }

// A flush of the L2 before a call keeps the GPU busy while the host prepares it.
Femtoseconds launch_gap(const config::Launch& launch, const Protocol& protocol, const program::Kernel& kernel, bool first) {
    const LaunchMode mode = protocol.launch;
    const std::int64_t calls = protocol.caches == Caches::cold ? 0 : kernel.host_calls;
    if (mode == LaunchMode::kernel_only) return launch.null_kernel;
    if (mode == LaunchMode::events && first) return launch.event_overhead + launch.host_call * calls;
    if (kernel.graph || mode == LaunchMode::graph) return launch.graph_gap;
    return launch.stream_gap * (1 + kernel.stream_commands);
}

}  // namespace rafter::engine
