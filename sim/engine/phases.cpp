#include "sim/engine/phases.h"

#include <algorithm>

#include <fmt/format.h>

#include "sim/engine/step_sampling.h"
#include "sim/lowering/lower.h"

namespace rafter::engine {

namespace {

template <class Visit>
void each_attention(const workload::Phase& phase, Visit visit) {
    for (const auto& block : phase.blocks) {
        for (std::size_t i = 0; i < block.layers.size(); ++i) {
            if (const auto* attention = std::get_if<workload::Attention>(&block.layers[i].operation)) visit(*attention, block, i);
        }
    }
}

}  // namespace

stats::PhaseResult open_phase(const workload::Phase& phase, const std::map<std::string, std::int64_t>& dims,
                              std::size_t first_layer) {
    stats::PhaseResult result;
    result.name = phase.name;
    result.steps = phase.steps;
    each_attention(phase, [&](const workload::Attention& attention, const workload::Block&, std::size_t) {
        if (result.sequences == 0) {
            result.sequences = attention.batch;
            result.tokens = attention.batch * attention.seq_q;
        }
        result.generates = result.generates || attention.decode;
        result.prompt = result.prompt || (!attention.decode && attention.causal);
    });
    if (const auto batch = dims.find("batch"); result.sequences == 0 && batch != dims.end()) result.sequences = batch->second;
    for (const auto& block : phase.blocks) {
        if (!block.name.empty()) result.blocks.push_back({block.name, block.repeat, first_layer, block.layers.size(), {}});
        first_layer += block.layers.size();
    }
    return result;
}

void add_step(stats::PhaseResult& phase, const stats::StepResult& step) {
    if (!phase.step_results.empty()) {
        const stats::StepResult last = phase.step_results.back();
        const auto between = [&](std::int64_t at, std::int64_t from, std::int64_t to) {
            return on_line(last.step, from, step.step, to, at);
        };
        for (std::int64_t at = last.step + 1; at < step.step; ++at) {
            phase.step_results.push_back({at, between(at, last.context, step.context),
                                          Femtoseconds(between(at, last.time.value, step.time.value)),
                                          Bytes(between(at, last.kv_read.value, step.kv_read.value)), true});
        }
    }
    phase.step_results.push_back(step);
}

std::string step_structure(const workload::Phase& phase, std::int64_t step, const config::HwConfig& gpu) {
    std::string text;
    each_attention(phase, [&](const workload::Attention& attention, const workload::Block& block, std::size_t layer) {
        if (!attention.decode || phase.kv_growth == 0) return;
        for (const auto& launch : lowering::lower(phase.layer_at(block, layer, step, 0), gpu))
            text += fmt::format("{}x{}x{};", launch.kernel.name, launch.kernel.grid, launch.repeat);
    });
    return text;
}

std::vector<std::int64_t> window_steps(const workload::Phase& phase) {
    std::vector<std::int64_t> steps;
    each_attention(phase, [&](const workload::Attention& attention, const workload::Block&, std::size_t) {
        if (!attention.decode || phase.kv_growth == 0 || attention.window <= attention.seq_kv) return;
        const std::int64_t full = (attention.window - attention.seq_kv) / phase.kv_growth;
        for (const std::int64_t step : {full, full + 1})
            if (step < phase.steps) steps.push_back(step);
    });
    return steps;
}

bool written_with_step(const workload::Phase& phase) {
    return std::any_of(phase.blocks.begin(), phase.blocks.end(), [](const workload::Block& block) {
        return std::any_of(block.at_step.begin(), block.at_step.end(), [](const auto& reader) { return reader != nullptr; });
    });
}

}  // namespace rafter::engine
