#include <fmt/format.h>

#include "sim/core/error.h"
#include "sim/validate/row_model.h"

namespace rafter::validate {

namespace {

using engine::Caches;
using engine::LaunchMode;

const std::vector<std::string> kWords{"graph_replay",     "back_to_back_stream",        "event_per_call",
                                      "kernel_only",      "kernel_only_1us_resolution", "l2=cold",
                                      "l2=warm_if_fits",  "l2=producer_warm",           "weights=cold",
                                      "activations=warm", "includes=kv_write",          "includes=quantise"};

bool read_launch(const std::string& word, LaunchMode& launch) {
    if (word == "graph_replay") return launch = LaunchMode::graph, true;
    if (word == "back_to_back_stream") return launch = LaunchMode::stream, true;
    if (word == "event_per_call") return launch = LaunchMode::events, true;
    if (word == "kernel_only" || word == "kernel_only_1us_resolution") return launch = LaunchMode::kernel_only, true;
    return false;
}

bool read_caches(const std::string& word, Caches& caches) {
    if (word == "l2=cold") return caches = Caches::cold, true;
    if (word == "l2=warm_if_fits") return caches = Caches::warm, true;
    if (word == "l2=producer_warm") return caches = Caches::producer_warm, true;
    if (word == "weights=cold") return caches = Caches::weights_cold, true;
    return word == "activations=warm";
}

}  // namespace

MeasuredProtocol parse_protocol(const std::string& text) {
    MeasuredProtocol protocol;
    bool launch = false, caches = false;
    for (std::size_t at = 0; at < text.size();) {
        const std::size_t end = std::min(text.find(';', at), text.size());
        const std::string word = text.substr(at, end - at);
        at = end + 1;
        if (read_launch(word, protocol.engine.launch)) {
            launch = true;
        } else if (read_caches(word, protocol.engine.caches)) {
            caches = true;
        } else if (word == "includes=kv_write") {
            protocol.includes_kv_write = true;
        } else if (word == "includes=quantise") {
            protocol.includes_quantise = true;
        } else {
            const std::string near = nearest_name(word, kWords);
            protocol.problem = fmt::format("protocol: unknown word '{}'{}", word,
                                           near.empty() ? "" : fmt::format(" (did you mean '{}'?)", near));
            return protocol;
        }
    }
    if (!launch) protocol.problem = "protocol: does not say how kernels were launched (graph_replay, back_to_back_stream, ...)";
    if (launch && !caches) protocol.problem = "protocol: does not say what the caches held (l2=cold, l2=warm_if_fits, ...)";
    return protocol;
}

}  // namespace rafter::validate
