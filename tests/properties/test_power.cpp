// The power limit: it slows what it limits, as a simulation at the lower clock, and nothing else; energies add up.
#include <cmath>

#include "tests/support.h"

using rafter::test::Json;
using rafter::test::run;
using rafter::test::run_text;
using rafter::test::Settings;
using rafter::test::Setup;
using rafter::test::source_path;

namespace {

const Settings kProduct{{"m", "2048"}, {"n", "2048"}, {"k", "2048"}};

Setup governed(const Settings& dims, const Settings& hardware) {
    Setup setup{dims, hardware, "a100-sxm4-80gb", false};
    setup.governed = true;
    return setup;
}

double time_s(const Json& r) { return r["totals"]["time_s"].get<double>(); }
double watts(const Json& r) { return r["phases"][0]["average_power_w"].get<double>(); }
double clock_hz(const Json& r) { return r["phases"][0]["clock_hz"].get<double>(); }

double sum(const Json& energy) {
    double joules = 0;
    for (const auto& part : energy) joules += part.get<double>();
    return joules;
}

}  // namespace

TEST_CASE("a higher power limit is never slower, and no clock draws more than its limit", "[properties][power]") {
    double before = 1e9, clock = 0;
    for (const char* limit : {"120 W", "200 W", "300 W", "2000 W"}) {
        const Json r = run("gemm", governed(kProduct, {{"power.limit", limit}}));
        INFO(limit << ": " << watts(r) << " W at " << clock_hz(r));
        CHECK(time_s(r) <= before * 1.005);
        CHECK(clock_hz(r) >= clock);
        CHECK(watts(r) <= std::atof(limit));
        before = time_s(r), clock = clock_hz(r);
    }
    CHECK(clock == 1410e6);
}

TEST_CASE("below the limit nothing is simulated twice and the result is that of boost", "[properties][power]") {
    const Json free = run("gemm", governed(kProduct, {{"power.limit", "2000 W"}}));
    const Json held = run("gemm", {kProduct, {{"power.limit", "100 W"}}, "a100-sxm4-80gb", false});
    CHECK(time_s(free) == time_s(held));
    CHECK(free["simulator"]["kernels_simulated"] == held["simulator"]["kernels_simulated"]);
    CHECK(free["phases"][0]["clock_by"] == "boost");
    CHECK(held["phases"][0]["clock_by"] == "locked");
}

TEST_CASE("a lower clock is a simulation of a GPU with that clock", "[properties][power]") {
    // Sizes at which the library's choice of kernel is the same at either clock.
    for (const char* data : {"gemm", "prefill", "conv"}) {
        INFO(data);
        const Json locked = run(data, governed({}, {{"clock.locked", "1005 MHz"}}));
        const Json slower =
            run(data, governed({}, {{"clock.boost", "1005 MHz"}, {"clock.tensor_peak", "1005 MHz"}, {"power.limit", "2000 W"}}));
        CHECK(time_s(locked) == Approx(time_s(slower)).epsilon(0.005));
        CHECK(locked["totals"]["energy_j"].get<double>() == Approx(slower["totals"]["energy_j"].get<double>()).epsilon(0.005));
        CHECK(clock_hz(locked) == 1005e6);
    }
    const Json limited = run("gemm", governed(kProduct, {{"power.limit", "200 W"}}));
    const std::string at = std::to_string(static_cast<std::int64_t>(clock_hz(limited) / 1e6)) + " MHz";
    CHECK(limited["phases"][0]["clock_by"] == "power");
    CHECK(time_s(limited) == time_s(run("gemm", governed(kProduct, {{"clock.locked", at}}))));
}

TEST_CASE("doubling the limit speeds up what it limits and leaves a copy alone", "[properties][power]") {
    const Settings low{{"power.limit", "200 W"}}, high{{"power.limit", "400 W"}};
    CHECK(time_s(run("gemm", governed(kProduct, low))) > 1.05 * time_s(run("gemm", governed(kProduct, high))));
    const Settings copy{{"elements", "16777216"}}, enough{{"power.limit", "400 W"}}, more{{"power.limit", "800 W"}};
    CHECK(time_s(run("copy", governed(copy, enough))) == time_s(run("copy", governed(copy, more))));
}

TEST_CASE("zeros draw less than random operands, and are never slower", "[properties][power]") {
    Setup random = governed(kProduct, {{"power.limit", "200 W"}}), zeros = random;
    zeros.protocol.data = rafter::engine::Data::zeros;
    const Json r = run("gemm", random), z = run("gemm", zeros);
    CHECK(time_s(z) < time_s(r));
    CHECK(z["totals"]["energy_j"].get<double>() < r["totals"]["energy_j"].get<double>());
    CHECK(z["options"]["data"] == "zeros");
}

TEST_CASE("a short loop is not slowed, a long one is", "[properties][power]") {
    Setup loop = governed(kProduct, {{"power.limit", "200 W"}});
    loop.protocol.passes = 5;
    const Json brief = run("gemm", loop);
    CHECK(clock_hz(brief) == 1410e6);
    loop.protocol.passes = 1'000'000;
    const Json lasting = run("gemm", loop);
    loop.protocol.passes = 0;
    const Json endless = run("gemm", loop);
    CHECK(clock_hz(lasting) < 1410e6);
    CHECK(clock_hz(lasting) - clock_hz(endless) <= 15e6);
}

TEST_CASE("energies of every family add up, from parts to kernels to layers to phases", "[properties][power]") {
    for (const char* data : {"gemm", "conv", "rnn", "prefill", "gather"}) {
        INFO(data);
        const Json r = run(data, governed({}, {{"power.limit", "150 W"}}));
        double layers = 0, phases = 0;
        for (const auto& layer : r["layers"]) {
            double kernels = 0;
            for (const auto& kernel : layer["kernels"]) kernels += kernel["energy_j"].get<double>();
            CHECK(kernels == Approx(layer["energy_j"].get<double>()).epsilon(1e-9));
            CHECK(sum(layer["energy"]) == Approx(layer["energy_j"].get<double>()).epsilon(1e-9));
            CHECK(layer["average_power_w"].get<double>() >= 54.0 * (1 - 1e-9));
            layers += layer["energy_j"].get<double>();
        }
        for (const auto& phase : r["phases"]) {
            phases += phase["energy_j"].get<double>();
            CHECK(phase["average_power_w"].get<double>() <= 150);
        }
        CHECK(layers == Approx(r["totals"]["energy_j"].get<double>()).epsilon(1e-9));
        CHECK(phases == Approx(layers).epsilon(1e-9));
        CHECK(r["totals"]["peak_power_w"].get<double>() >= r["totals"]["average_power_w"].get<double>() * (1 - 1e-9));
    }
}

TEST_CASE("a limit below what the board draws at the least clock is said", "[properties][power]") {
    const Json r = run("gemm", governed(kProduct, {{"power.limit", "60 W"}}));
    CHECK(clock_hz(r) == 210e6);
    CHECK(r["workload"]["notes"].dump().find("above the limit of 60 W at the lowest clock") != std::string::npos);
}

TEST_CASE("a limited run gives the same bytes twice", "[properties][power]") {
    const auto text = [] {
        Json r = run("gemm", governed(kProduct, {{"power.limit", "250 W"}}));
        r.erase("simulator");
        return r.dump();
    };
    CHECK(text() == text());
}
