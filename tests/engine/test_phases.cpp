// Phases of many steps: which are simulated, what stands for the others, and the speeds of a phase. docs/model/engine.md, (E.6).
#include "sim/engine/step_sampling.h"

#include <cmath>

#include "tests/support.h"

using namespace rafter;
using rafter::test::Json;
using rafter::test::run;
using rafter::test::Settings;
using rafter::test::Setup;

namespace {

/// Sum over all steps by the plan, against the sum of every one.
double off(std::int64_t steps, const engine::StepPlan& plan, const std::function<Femtoseconds(std::int64_t)>& time) {
    double all = 0, planned = 0;
    for (std::int64_t step = 0; step < steps; ++step) all += static_cast<double>(time(step).value);
    for (const auto& [step, weight] : plan.steps) planned += static_cast<double>((time(step) * weight).value);
    return std::abs(planned / all - 1);
}

std::int64_t weights(const engine::StepPlan& plan) {
    std::int64_t sum = 0;
    for (const auto& point : plan.steps) sum += point.weight;
    return sum;
}

engine::StepQuestions questions(std::function<Femtoseconds(std::int64_t)> time, std::vector<std::int64_t> kinks = {}) {
    return {std::move(time), [](std::int64_t) { return std::string(); }, std::move(kinks)};
}

Settings decode(const char* steps) { return {{"decode_steps", steps}}; }

Setup on_t4(const Settings& dims, bool every_step = false) { return {dims, {}, "t4", false, {}, false, every_step}; }

}  // namespace

TEST_CASE("a line of steps is two points and a check, whatever their number", "[phases]") {
    const auto line = [](std::int64_t step) { return Femtoseconds(1'000'000 + 10 * step); };
    for (const std::int64_t steps : {9, 10, 127, 128, 4096, 1 << 20}) {
        const auto plan = engine::plan_steps(steps, questions(line));
        CHECK(plan.steps.size() <= 4);
        CHECK(weights(plan) == steps);
        CHECK(off(steps, plan, line) < 1e-12);
    }
}

TEST_CASE("few steps are run one by one", "[phases]") {
    const auto plan = engine::plan_steps(8, questions([](std::int64_t) { return Femtoseconds(1); }));
    CHECK(plan.steps.size() == 8);
    CHECK(weights(plan) == 8);
}

TEST_CASE("a kink gets points of its own, a jump and a curve are followed", "[phases]") {
    const auto window = [](std::int64_t step) { return Femtoseconds(1'000'000 + 2000 * std::min<std::int64_t>(step, 333)); };
    const auto kinked = engine::plan_steps(4096, questions(window, {333, 334}));
    CHECK(kinked.steps.size() <= 8);
    CHECK(off(4096, kinked, window) < 1e-12);

    const auto jump = [](std::int64_t step) { return Femtoseconds(step < 1000 ? 1'000'000 : 1'500'000); };
    engine::StepQuestions ask = questions(jump);
    ask.structure = [](std::int64_t step) { return std::string(step < 1000 ? "a" : "b"); };
    const auto jumped = engine::plan_steps(4096, ask);
    CHECK(jumped.steps.size() <= 10);
    CHECK(off(4096, jumped, jump) < 1e-12);

    const auto curve = [](std::int64_t step) { return Femtoseconds(1'000'000 + step * step); };
    const auto curved = engine::plan_steps(4096, questions(curve));
    CHECK(off(4096, curved, curve) < 0.005);
    CHECK(curved.deviation <= engine::kStepTolerance);
}

TEST_CASE("values on a line sum to the trapezoid, exactly", "[phases]") {
    for (const std::int64_t end : {5, 7, 101}) {
        std::int64_t sum = 0;
        for (std::int64_t at = 1; at < end; ++at) sum += engine::on_line(0, 1'000'003, end, 7'777'777, at);
        CHECK(2 * sum == (end - 1) * (1'000'003 + 7'777'777));
    }
}

TEST_CASE("128 steps by sampling are 128 steps one by one, within 0.5 %", "[phases]") {
    for (const char* window : {"1048576", "300"}) {
        const Settings dims{{"window", window}};
        const Json sampled = run("decoder", on_t4(dims)), all = run("decoder", on_t4(dims, true));
        const Json &fast = sampled["phases"][1], &slow = all["phases"][1];
        CHECK(fast["steps_simulated"].get<int>() < 30);
        CHECK(slow["steps_simulated"].get<int>() == 128);
        CHECK(fast["time_s"].get<double>() == Approx(slow["time_s"].get<double>()).epsilon(0.005));
        CHECK(fast["step_deviation"].get<double>() <= engine::kStepTolerance);
        for (const char* count : {"flops", "macs", "algorithmic_read_bytes", "algorithmic_write_bytes", "count"})
            for (std::size_t i = 0; i < all["layers"].size(); ++i) CHECK(sampled["layers"][i][count] == all["layers"][i][count]);
        double steps = 0, kv = 0;
        REQUIRE(fast["step_results"].size() == 128);
        for (std::size_t i = 0; i < 128; ++i) {
            const Json &one = fast["step_results"][i], &other = slow["step_results"][i];
            CHECK(one["kv_read_bytes"] == other["kv_read_bytes"]);
            CHECK(one["context_tokens"] == other["context_tokens"]);
            CHECK(one["kv_read_bytes"].get<double>() >= kv);
            kv = one["kv_read_bytes"].get<double>();
            steps += one["time_s"].get<double>();
        }
        CHECK(steps == Approx(fast["time_s"].get<double>()).epsilon(1e-9));
    }
}

TEST_CASE("4096 steps cost some kernels more than one step, 80 layers no more than 8", "[phases]") {
    const auto simulator = [](const Settings& dims, const char* what) {
        return run("decoder", on_t4(dims))["simulator"][what].get<double>();
    };
    // Every 128 tokens the cache is split once more, and both sides of a change are simulated: 60 to 110 steps on this model.
    CHECK(simulator(decode("4096"), "line_requests") <= 12 * simulator(decode("1"), "line_requests"));
    CHECK(simulator(decode("4096"), "kernels_simulated") <= 400);
    const Settings many{{"layers", "80"}, {"decode_steps", "4"}}, few{{"layers", "8"}, {"decode_steps", "4"}};
    CHECK(simulator(many, "kernels_simulated") <= 1.05 * simulator(few, "kernels_simulated"));
}

TEST_CASE("speeds of a phase follow from its times, counts and bytes", "[phases]") {
    const Json r = run("decoder", on_t4(decode("64")));
    const Json &prefill = r["phases"][0], &generate = r["phases"][1];
    const double t0 = prefill["time_s"].get<double>(), t1 = generate["time_s"].get<double>();
    CHECK(prefill["ttft_s"].get<double>() == Approx(t0));
    CHECK(prefill["tpot_s"].is_null());
    CHECK(prefill["tokens_per_s"].get<double>() == Approx(2 * 256 / t0));
    CHECK(prefill["samples_per_s"].get<double>() == Approx(2 / t0));
    CHECK(generate["ttft_s"].is_null());
    CHECK(generate["samples_per_s"].is_null());
    CHECK(generate["tpot_s"].get<double>() == Approx(t1 / 64));
    CHECK(generate["tokens_per_s"].get<double>() == Approx(2 * 64 / t1));
    double flops = 0, bytes = 0, layers = 0;
    for (const Json& layer : r["layers"]) {
        if (layer["phase"] != "decode") continue;
        flops += layer["flops"].get<double>();
        bytes += layer["algorithmic_parameter_bytes"].get<double>();
        layers += layer["time_s"].get<double>();
    }
    CHECK(layers == Approx(t1).epsilon(1e-12));
    CHECK(generate["blocks"][0]["time_s"].get<double>() == Approx(t1).epsilon(1e-12));
    CHECK(generate["mfu"].get<double>() == Approx(flops / r["gpu"]["peak_flops_per_s"]["fp16"].get<double>() / t1));
    CHECK(generate["mbu"].get<double>() == Approx(bytes / r["gpu"]["hbm_peak_bytes_per_s"].get<double>() / t1));
}

TEST_CASE("a prompt of one token and a decode step do the same work, in nearly the same time", "[phases]") {
    const Json r = run("decoder", on_t4({{"seq", "1"}, {"decode_steps", "1"}}));
    const Json alone = run("decoder", on_t4({{"seq", "1"}, {"decode_steps", "1"}}, true));
    CHECK(r["phases"] == alone["phases"]);
    // The decode step of this file has one token in its cache before it; its attention alone knows.
    for (std::size_t i = 0; i < 3; ++i) {
        const Json &prompt = r["layers"][i], &step = r["layers"][i + 3];
        const bool attention = prompt["op"] == "attention";
        CHECK((attention ? 2 : 1) * prompt["flops"].get<std::int64_t>() == step["flops"].get<std::int64_t>());
        CHECK(prompt["time_s"].get<double>() == Approx(step["time_s"].get<double>()).epsilon(attention ? 0.25 : 0.10));
    }
}
