#include "sim/engine/run.h"

#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <map>

#include <fmt/format.h>

#include "sim/engine/books.h"
#include "sim/engine/governor.h"
#include "sim/engine/kernel_runner.h"
#include "sim/engine/l2_state.h"
#include "sim/engine/phases.h"
#include "sim/engine/step_sampling.h"
#include "sim/lowering/lower.h"
#include "sim/stats/phase.h"
#include "sim/stats/physics.h"
#include "sim/stats/roofline.h"

namespace rafter::engine {

namespace {

std::string_view family_name(workload::Family family) {
    switch (family) {
        case workload::Family::dlrm:
            return "dlrm";
        case workload::Family::mlp:
            return "mlp";
        case workload::Family::cnn:
            return "cnn";
        case workload::Family::rnn:
            return "rnn";
        case workload::Family::transformer:
            return "transformer";
    }
    return "";
}

std::int64_t peak_rss_bytes() {
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    return usage.ru_maxrss * 1024;
}

/// The first pass finds the L2 empty, the second as the first has left it; the third shows whether that repeats itself.
constexpr std::int64_t kWarmUpPasses = 2;
/// What an L2 may hold of tensors so many times its size is left to the pass itself.
constexpr std::int64_t kNegligibleShare = 32;

class Run {
public:
    Run(const config::HwConfig& gpu, const workload::Model& model, const RunOptions& options)
        : gpu_(gpu), model_(model), options_(options), runner_(gpu, options), l2_(gpu.l2.capacity.value) {}

    stats::RunResult execute();

private:
    void prepare_caches();
    std::int64_t warm_up_passes() const;
    void run_phases();
    void forget_results();
    void run_phase(const workload::Phase& phase);
    void simulate_phase(const workload::Phase& phase, Hertz clock);
    Femtoseconds run_step(const workload::Phase& phase, std::int64_t step, std::size_t first_layer);
    StepPlan choose_steps(const workload::Phase& phase, std::size_t first_layer);
    void run_block(const workload::Phase& phase, const workload::Block& block, std::int64_t step, std::size_t first_layer);
    Femtoseconds run_layer(const workload::Layer& layer, stats::LayerResult& result);
    void launch(const lowering::Launch& launch, stats::KernelResult& result, bool first);
    void open_layers(const workload::Phase& phase);
    stats::KernelResult describe(const program::Kernel& kernel) const;
    void report_progress(const std::string& label);
    std::int64_t layer_executions() const;

    const config::HwConfig& gpu_;
    const workload::Model& model_;
    const RunOptions& options_;
    KernelRunner runner_;
    L2State l2_;
    stats::RunResult result_;
    std::int64_t done_{0}, total_{0}, launched_{0};
    bool warming_up_{false};
    std::int64_t copy_{0};    ///< of the parameters, in this pass
    std::int64_t weight_{1};  ///< steps that the one being run stands for
    Femtoseconds step_time_{};
    Bytes step_kv_{};
    std::int64_t step_context_{0};
};

std::int64_t Run::layer_executions() const {
    std::int64_t total = 0;
    for (const auto& phase : model_.phases)
        for (const auto& block : phase.blocks)
            total += phase.steps * block.repeat * static_cast<std::int64_t>(block.layers.size());
    return total;
}

void Run::report_progress(const std::string& label) {
    done_ = std::min(done_ + weight_, total_);
    if (options_.progress) options_.progress(label, done_, total_);
}

/// One result row per layer of the description, filled over repetitions and steps.
void Run::open_layers(const workload::Phase& phase) {
    for (const auto& block : phase.blocks) {
        for (const auto& layer : block.layers) {
            stats::LayerResult row;
            row.phase = phase.name;
            row.name = block.name.empty() ? layer.name : block.name + "/" + layer.name;
            row.op = layer.op;
            row.family = std::string(family_name(layer.family));
            row.count = 0;
            row.dtype = workload::compute_dtype(layer);
            row.parallelism.chain_length = workload::chain_length(layer);
            result_.layers.push_back(std::move(row));
        }
    }
}

stats::KernelResult Run::describe(const program::Kernel& kernel) const {
    stats::KernelResult result;
    result.name = kernel.name;
    result.count = 0;
    result.grid = kernel.grid;
    result.tensor = kernel.tensor;
    result.dtype = kernel.dtype;
    result.threads = kernel.resources.threads;
    result.registers_per_thread = kernel.resources.registers_per_thread;
    result.shared_memory_bytes = kernel.resources.shared_memory.value;
    result.ctas_per_sm = lowering::ctas_per_sm(kernel.resources, gpu_.sm);
    auto& p = result.parallelism;
    p.ctas = kernel.grid;
    const std::int64_t slots = std::max<std::int64_t>(1, result.ctas_per_sm * gpu_.sm.count);
    p.waves = static_cast<double>(kernel.grid) / static_cast<double>(slots);
    const std::int64_t resident = std::min(result.ctas_per_sm, ceil_div(kernel.grid, gpu_.sm.count));
    p.occupancy = static_cast<double>(resident * kernel.resources.threads) / static_cast<double>(gpu_.sm.max_threads);
    return result;
}

void Run::launch(const lowering::Launch& launch, stats::KernelResult& result, bool first) {
    const program::Kernel& kernel = launch.kernel;
    for (std::int64_t done = 0; done < launch.repeat;) {
        const Femtoseconds gap = launch_gap(gpu_.launch, options_.protocol, kernel, first && done == 0);
        const L2State before = l2_;
        const StartState start = l2_.before(kernel);
        const auto& measured = runner_.run(kernel, start, gap);
        l2_.after(kernel, start, measured);
        // A launch that leaves the cache as it found it repeats itself.
        const bool steady = !options_.exact && l2_ == before && gap == launch_gap(gpu_.launch, options_.protocol, kernel, false);
        const std::int64_t times = steady ? launch.repeat - done : 1;
        add(result, measured, times * weight_, gap);
        result.issued_macs += kernel.issued_macs * static_cast<Count>(times * weight_);
        launched_ += times * weight_;
        done += times;
    }
}

Femtoseconds Run::run_layer(const workload::Layer& layer, stats::LayerResult& row) {
    const auto counts = workload::count(layer);
    row.count += weight_;
    row.macs += counts.macs * static_cast<Count>(weight_);
    row.flops += counts.flops * static_cast<Count>(weight_);
    row.algorithmic_read += counts.read_bytes() * weight_;
    row.algorithmic_write += counts.output_bytes * weight_;
    row.parameters += counts.parameter_bytes * weight_;
    Femtoseconds time{};
    std::size_t index = 0;
    bool first = true;
    for (const auto& launch_ : lowering::lower(layer, gpu_)) {
        // A growing context may change the choice of kernel or its grid: each choice has a row of its own.
        const auto same = [&](const stats::KernelResult& k) {
            return k.name == launch_.kernel.name && k.grid == launch_.kernel.grid;
        };
        while (index < row.kernels.size() && !same(row.kernels[index])) ++index;
        if (index == row.kernels.size()) row.kernels.push_back(describe(launch_.kernel));
        stats::KernelResult& kernel = row.kernels[index];
        const Femtoseconds before = kernel.time;
        launch(launch_, kernel, first);
        first = false;
        time += kernel.time - before;
        index = 0;
    }
    row.time += time;
    time = time / weight_;
    if (const auto* attention = std::get_if<workload::Attention>(&layer.operation); attention && attention->decode) {
        step_kv_ += counts.parameter_bytes;
        step_context_ = attention->seq_kv;
    }
    return time;
}

void Run::run_block(const workload::Phase& phase, const workload::Block& block, std::int64_t step, std::size_t first_layer) {
    for (std::int64_t repetition = 0; repetition < block.repeat; ++repetition) {
        for (std::size_t i = 0; i < block.layers.size(); ++i) {
            workload::Layer layer = phase.layer_at(block, i, step, repetition);
            if (copy_ > 0)
                for (auto& parameter : layer.parameters) parameter.id += fmt::format("#{}", copy_);
            step_time_ += run_layer(layer, result_.layers[first_layer + i]);
            report_progress(result_.layers[first_layer + i].name);
        }
    }
}

/// At the highest clock that the power limit allows, each attempt a simulation of its own. Passes that only prepare the L2 run at
/// the top clock: what they leave there hardly depends on it.
void Run::run_phase(const workload::Phase& phase) {
    const Hertz top = gpu_.locked.value_or(gpu_.boost);
    const std::size_t first = result_.layers.size();
    const L2State l2 = l2_;
    const std::int64_t launched = launched_, done = done_;
    simulate_phase(phase, top);
    if (!gpu_.power || gpu_.locked || warming_up_) return;
    PhaseGovernor governor(*gpu_.power, options_.protocol, top);
    const auto layers = [&] { return std::span<const stats::LayerResult>(result_.layers).subspan(first); };
    for (auto clock = governor.next(layers(), top); clock; clock = governor.next(layers(), *clock)) {
        result_.layers.resize(first);
        result_.phases.pop_back();
        l2_ = l2, launched_ = launched, done_ = done;
        simulate_phase(phase, *clock);
    }
    if (!governor.within())
        result_.notes.push_back(
            fmt::format("power: phase {} is above the limit of {} W at the lowest clock", phase.name, gpu_.power->limit_w));
}

void Run::simulate_phase(const workload::Phase& phase, Hertz clock) {
    runner_.set_clock(clock);
    const std::size_t first = result_.layers.size();
    open_layers(phase);
    stats::PhaseResult result = open_phase(phase, model_.dims, first);
    result.clock = clock;
    result.clock_by = gpu_.locked ? "locked" : clock < gpu_.boost ? "power" : "boost";
    const StepPlan plan = choose_steps(phase, first);
    result.steps_simulated = static_cast<std::int64_t>(plan.steps.size());
    result.step_deviation = plan.deviation;
    for (const auto& [step, weight] : plan.steps) {
        weight_ = weight;
        const Femtoseconds time = run_step(phase, step, first);
        result.time += time * weight;
        if (phase.kv_growth > 0) add_step(result, {step, step_context_, time, step_kv_});
    }
    weight_ = 1;
    for (std::size_t i = first; i < result_.layers.size(); ++i) {
        close_layer(result_.layers[i], gpu_, options_.protocol);
        result.energy += result_.layers[i].energy;
    }
    result_.phases.push_back(std::move(result));
}

Femtoseconds Run::run_step(const workload::Phase& phase, std::int64_t step, std::size_t first_layer) {
    step_time_ = Femtoseconds{};
    step_kv_ = Bytes{};
    for (const auto& block : phase.blocks) {
        run_block(phase, block, step, first_layer);
        first_layer += block.layers.size();
    }
    return step_time_;
}

/// Tries steps, each from the cache state that the last one tried before it has left, and forgets their results.
StepPlan Run::choose_steps(const workload::Phase& phase, std::size_t first_layer) {
    StepQuestions ask;
    std::map<std::int64_t, L2State> left{{-1, l2_}};
    const auto begin = static_cast<std::ptrdiff_t>(first_layer);
    const std::vector<stats::LayerResult> empty(result_.layers.begin() + begin, result_.layers.end());
    const std::int64_t done = done_, launched = launched_;
    ask.time = [&](std::int64_t step) {
        l2_ = std::prev(left.lower_bound(step))->second;
        const Femtoseconds time = run_step(phase, step, first_layer);
        left.insert_or_assign(step, l2_);
        std::copy(empty.begin(), empty.end(), result_.layers.begin() + begin);
        return time;
    };
    ask.structure = [&](std::int64_t step) { return step_structure(phase, step, gpu_); };
    ask.kinks = window_steps(phase);
    StepPlan plan = options_.exact || options_.every_step || written_with_step(phase) ? every_step(phase.steps)
                                                                                      : plan_steps(phase.steps, ask);
    l2_ = left.at(-1);
    done_ = done, launched_ = launched;
    return plan;
}

void Run::run_phases() {
    done_ = 0, total_ = layer_executions();
    for (const auto& phase : model_.phases) run_phase(phase);
}

void Run::forget_results() {
    result_.layers.clear();
    result_.phases.clear();
    launched_ = 0;
}

/// Passes whose results are dropped, until the L2 begins the next one as it began the last. docs/model/engine.md, (E.4).
void Run::prepare_caches() {
    const Protocol& protocol = options_.protocol;
    if (protocol.caches == Caches::producer_warm) {
        const auto first = model_.phases.front().layer_at(model_.phases.front().blocks.front(), 0, 0, 0);
        for (const auto& input : first.inputs) l2_.produce(input.id, input.size.value);
    }
    if (protocol.caches != Caches::warm && protocol.caches != Caches::weights_cold) return;
    const std::int64_t passes = warm_up_passes();
    warming_up_ = true;
    for (std::int64_t pass = passes; pass > 0; --pass) {
        const L2State before = l2_;
        if (protocol.caches == Caches::weights_cold) copy_ = pass % protocol.weight_copies;
        run_phases();
        forget_results();
        if (protocol.caches == Caches::warm && l2_ == before) break;
    }
    copy_ = 0;
    warming_up_ = false;
}

/// Passes that can make a difference to the one reported. (E.4)
std::int64_t Run::warm_up_passes() const {
    std::map<std::string, std::int64_t> parameters, all;
    for (const auto& phase : model_.phases) {
        for (const auto& block : phase.blocks) {
            for (const auto& layer : block.layers) {
                for (const auto& t : layer.parameters) parameters[t.id] = all[t.id] = t.size.value;
                for (const auto& t : layer.inputs) all[t.id] = t.size.value;
                for (const auto& t : layer.outputs) all[t.id] = std::max(all[t.id], t.size.value);
            }
        }
    }
    const auto sum = [](const auto& tensors) {
        std::int64_t total = 0;
        for (const auto& [id, size] : tensors) total += size;
        return total;
    };
    const std::int64_t capacity = gpu_.l2.capacity.value;
    const bool cycled = options_.protocol.caches == Caches::weights_cold;
    if (sum(all) / kNegligibleShare >= capacity) return 0;
    if (cycled && sum(parameters) * options_.protocol.weight_copies <= 2 * capacity) return options_.protocol.weight_copies;
    return cycled || sum(all) >= 2 * capacity ? 1 : kWarmUpPasses;
}

stats::RunResult Run::execute() {
    const auto begin = std::chrono::steady_clock::now();
    result_.gpu = gpu_;
    result_.workload_name = model_.name;
    result_.workload_family = std::string(family_name(model_.family));
    result_.dims = model_.dims;
    result_.launch = std::string(name(options_.protocol.launch));
    result_.caches = std::string(name(options_.protocol.caches));
    result_.passes = options_.protocol.passes;
    result_.data = std::string(name(options_.protocol.data));
    result_.notes = model_.notes;
    for (const auto& consumer : model_.memory()) result_.memory.push_back({consumer.name, consumer.size});
    prepare_caches();
    run_phases();
    auto& simulator = result_.simulator;
    simulator.events = runner_.events();
    simulator.line_requests = runner_.line_requests();
    simulator.kernels_simulated = runner_.simulated();
    simulator.kernels_cached = runner_.cached();
    simulator.kernels_launched = launched_;
    simulator.cta_share = runner_.cta_share();
    simulator.line_share = runner_.line_share();
    simulator.mode = options_.exact ? "exact" : "memo";
    simulator.peak_rss_bytes = peak_rss_bytes();
    simulator.wall_s = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    stats::finish_phases(result_);
    stats::check_physics(result_);
    return result_;
}

}  // namespace

stats::RunResult run(const config::HwConfig& gpu, const workload::Model& model, const RunOptions& options) {
    workload::check_capacity(model, gpu.dram.capacity, gpu.name);
    return Run(gpu, model, options).execute();
}

}  // namespace rafter::engine
