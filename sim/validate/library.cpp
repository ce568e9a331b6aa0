#include <algorithm>
#include <cctype>
#include <charconv>
#include <string_view>
#include <system_error>

#include "sim/validate/row_model.h"

namespace rafter::validate {

// Notes name the software in their own words ("torch2.1.0", "vLLM eager layerwise profile", "provider=torch", "backend=pytorch");
// a row may also say `library=NAME`. Vidur profiled the kernels of vLLM, whose look-ups are PyTorch's.
std::string library_of(const Row& row) {
    const auto says = [&](const char* words) { return row.notes.find(words) != std::string::npos; };
    for (const char* name : {"tuned", "pytorch", "vllm"}) {
        if (says((std::string("library=") + name).c_str())) return name;
    }
    if (row.source.find("vidur") != std::string::npos) return row.op == "embedding" ? "pytorch" : "vllm";
    if (says("vLLM") || says("fw=vllm") || says("kernel=fa3")) return "vllm";
    const bool compiled = says("torch_compile");
    if (!compiled &&
        (row.notes.rfind("torch", 0) == 0 || says("provider=torch") || says("backend=pytorch") || says("torch record_function")))
        return "pytorch";
    return "tuned";
}

namespace {

constexpr std::int64_t kReplays = 9;  // of a captured graph: 3 to warm up and 6 measured (aiconfigurator's collector)
constexpr std::int64_t kCalls = 25;   // of an eager operation, each between events (NeuSight)
constexpr std::int64_t kTraced = 20;  // launches in a profiler's trace; not recorded
constexpr std::int64_t kDeepBench = 400;

/// Sources are written as a repository and more ("baidu-research/DeepBench (Apache-2.0)").
bool from(const Row& row, std::string_view name) {
    const auto same = [](char a, char b) { return std::tolower(static_cast<unsigned char>(a)) == b; };
    return std::search(row.source.begin(), row.source.end(), name.begin(), name.end(), same) != row.source.end();
}

std::int64_t passes_of(const Row& row, const engine::Protocol& protocol) {
    if (from(row, "deepbench")) return kDeepBench;
    switch (protocol.launch) {
        case engine::LaunchMode::graph:
            return kReplays * (protocol.caches == engine::Caches::weights_cold ? protocol.weight_copies : 1);
        case engine::LaunchMode::events:
            return kCalls;
        case engine::LaunchMode::kernel_only:
            return kTraced;
        case engine::LaunchMode::stream:
            break;
    }
    return 0;
}

/// The number behind `words` in the notes; -1 without.
std::int64_t noted(const Row& row, const std::string& words) {
    const std::size_t at = row.notes.find(words);
    std::int64_t number = 0;
    if (at == std::string::npos) return -1;
    const char* begin = row.notes.data() + at + words.size();
    return std::from_chars(begin, row.notes.data() + row.notes.size(), number).ec == std::errc() ? number : -1;
}

}  // namespace

// DeepBench fills every type but float by cutting uniform numbers below one down to integers: zeros. NeuSight measures with
// zeros.
void set_loop(const Row& row, engine::Protocol& protocol) {
    const std::int64_t passes = noted(row, "passes=");
    protocol.passes = passes >= 0 ? passes : passes_of(row, protocol);
    const bool zeros = from(row, "neusight") || (from(row, "deepbench") && row.dtype != "fp32");
    protocol.data = zeros ? engine::Data::zeros : engine::Data::random;
    if (row.notes.find("data=zeros") != std::string::npos) protocol.data = engine::Data::zeros;
    if (row.notes.find("data=random") != std::string::npos) protocol.data = engine::Data::random;
}

}  // namespace rafter::validate
