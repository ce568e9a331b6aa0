#include <clocale>
#include <regex>

#include "sim/report/report.h"
#include "sim/stats/phase.h"
#include "tests/catch.h"
#include "tests/golden.h"
#include "tests/stats/results.h"

using namespace rafter;
using namespace rafter::test;

TEST_CASE("text report equals the approved one", "[report]") {
    check_golden("report/two_layers.txt", report::text(two_layers(), {}));
}

TEST_CASE("percentages of every row sum to exactly 100.0", "[report]") {
    // Thirds do not: 33.3 + 33.3 + 33.3 = 99.9.
    auto r = two_layers();
    r.layers[0].causes = causes(
        {{stats::Cause::tensor, Femtoseconds{1}}, {stats::Cause::fma, Femtoseconds{1}}, {stats::Cause::l1, Femtoseconds{1}}});
    const std::string text = report::text(r, {});
    CHECK(text.find("tensor 33.4, fma 33.3, l1 33.3") != std::string::npos);
    const std::regex row(R"((?:[a-z0-9_]+ \d+\.\d(?:, |\n))+)"), share(R"((\d+)\.(\d))");
    int rows = 0;
    for (std::sregex_iterator it(text.begin(), text.end(), row), end; it != end; ++it) {
        const std::string found = it->str();
        if (found.find(", ") == std::string::npos) continue;
        int sum = 0;
        for (std::sregex_iterator s(found.begin(), found.end(), share); s != end; ++s)
            sum += 10 * std::stoi((*s)[1]) + std::stoi((*s)[2]);
        INFO(found);
        CHECK(sum == 1000);
        ++rows;
    }
    CHECK(rows == 3);  // two layers and all of them
}

TEST_CASE("no escape codes without colour, some with", "[report]") {
    CHECK(report::text(two_layers(), {}).find('\033') == std::string::npos);
    CHECK(report::text(two_layers(), {.color = true}).find("\033[1m") != std::string::npos);
}

TEST_CASE("colour and detail change no figure", "[report]") {  // C029
    const auto r = two_layers();
    const std::regex codes("\033\\[[0-9;]*m");
    CHECK(std::regex_replace(report::text(r, {.color = true}), codes, "") == report::text(r, {}));
    CHECK(report::text(r, {.kernels = true}).find("fc_kernel x1  grid 4  128 threads") != std::string::npos);
}

TEST_CASE("decode phases show first and last step and their speeds", "[report]") {
    auto r = two_layers();
    stats::PhaseResult prefill, decode;
    prefill.name = "prefill", prefill.time = us(10);
    decode.name = "decode", decode.steps = 2, decode.time = us(20);
    decode.step_results = {{0, 101, us(9), Bytes(1000)}, {1, 102, us(11), Bytes(1010)}};
    r.phases = {prefill, decode};
    r.layers[0].phase = "prefill", r.layers[1].phase = "decode";
    r.phases[1].sequences = r.phases[1].tokens = 2, r.phases[1].generates = true, r.phases[1].steps_simulated = 2;
    stats::finish_phases(r);
    const std::string text = report::text(r, {});
    CHECK(text.find("TPOT 10 us, 200 k tokens/s\n") != std::string::npos);
    // batch 2, two steps in 20 us: 4 tokens / 20 us = 200 k
    CHECK(text.find("phase decode            20 us   2 steps, 10 us a step; context 101 -> 102: 9 us -> 11 us, KV cache "
                    "read 1.00 kB -> 1.01 kB\n") != std::string::npos);
    CHECK(text.find("-- prefill\n") != std::string::npos);
    CHECK(text.find("-- decode\n") != std::string::npos);
}

TEST_CASE("an empty result has a report", "[report]") {
    stats::RunResult r;
    r.gpu = round_gpu();
    CHECK_FALSE(report::text(r, {}).empty());
    CHECK(report::roofline_chart(r) == "");
}

TEST_CASE("figures for people", "[report]") {
    CHECK(report::human_time(Femtoseconds{1'500'000}) == "2 ns");
    CHECK(report::human_time(us(1) / 2) == "500 ns");
    CHECK(report::human_time(us(1234)) == "1.234 ms");
    CHECK(report::human_time(us(2'500'000)) == "2.5 s");
    CHECK(report::human_bytes(Bytes(999)) == "999 B");
    CHECK(report::human_bytes(Bytes(1'000)) == "1.00 kB");
    CHECK(report::human_bytes(Bytes(999'499)) == "999 kB");
    CHECK(report::human_bytes(Bytes(999'500)) == "1.00 MB");
    CHECK(report::human_count(85'899'345'920) == "85.9 G");
    CHECK(report::human_count(12) == "12");
    CHECK(report::human_ratio(0.49975) == "0.5");
    CHECK(report::human_ratio(1404.3) == "1404");
    CHECK(report::human_ratio(573'400) == "573 k");
}
