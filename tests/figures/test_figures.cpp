// The published figures: within tolerance, or a numbered known gap that fails when it closes. RAFTER_ACCEPT=1 rewrites the list.
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <map>
#include <set>

#include <fmt/format.h>

#include "sim/config/reader.h"
#include "sim/engine/isolated.h"
#include "sim/validate/outcome.h"
#include "sim/validate/scoreboard.h"
#include "tests/catch.h"
#include "tests/support.h"

using namespace rafter;
using namespace rafter::validate;

namespace {

struct Cases {
    double tolerance{0};
    std::map<std::string, std::string> gap_of_op;
    std::map<std::string, std::string> known_gaps;  ///< figure -> gap
};

std::string path(const std::string& name) { return test::source_path("validate/" + name); }

Cases read_cases() {
    const auto document = config::Document::load(path("cases.yaml"));
    config::Map top(document.root());
    Cases cases;
    top.required("schema").text_of({"rafter.cases/1"});
    cases.tolerance = top.required("tolerance").real(0, 1);
    for (const auto& [op, gap] : top.required("gap_of_op").entries()) cases.gap_of_op[op] = gap.text();
    for (const auto& [figure, gap] : top.required("known_gaps").entries()) cases.known_gaps[figure] = gap.text();
    top.finish();
    document.finish();
    return cases;
}

/// Numbers of the gaps in DEVIATIONS.md.
std::set<std::string> gap_numbers() {
    std::ifstream file(path("DEVIATIONS.md"));
    std::set<std::string> numbers;
    for (std::string line; std::getline(file, line);) {
        const auto dot = line.find(". ");
        if (dot != std::string::npos && line.find_first_not_of("0123456789") == dot) numbers.insert(line.substr(0, dot));
    }
    return numbers;
}

void rewrite(const Cases& cases, const std::map<std::string, std::string>& outside) {
    std::ifstream in(path("cases.yaml"));
    std::string head;
    for (std::string line; std::getline(in, line) && line.rfind("known_gaps:", 0) != 0;) head += line + "\n";
    in.close();
    std::ofstream out(path("cases.yaml"));
    out << head << (outside.empty() ? "known_gaps: {}\n" : "known_gaps:\n");
    for (const auto& [figure, op] : outside) {
        const auto before = cases.known_gaps.find(figure);
        out << fmt::format("  {}: {}\n", figure, before != cases.known_gaps.end() ? before->second : cases.gap_of_op.at(op));
    }
}

}  // namespace

TEST_CASE("every published figure is within tolerance or a known gap with a number", "[figures]") {
    const auto rows = read_measured({path("measured/figures.yaml")});
    const Cases cases = read_cases();
    CHECK(rows.size() >= 80);
    SimulateOptions options;
    options.jobs = engine::usable_cores();
    Effort effort;
    const auto outcomes = simulate(rows, options, effort);
    std::map<std::string, std::string> outside;
    const bool accept = std::getenv("RAFTER_ACCEPT") != nullptr;
    for (std::size_t i = 0; i < rows.size(); ++i) {
        INFO(rows[i].id << ": " << outcomes[i].reason);
        REQUIRE(outcomes[i].status == Status::scored);
        const double error = error_of(rows[i], outcomes[i]);
        const bool within = std::abs(error) <= cases.tolerance;
        if (!within) outside.emplace(rows[i].id, rows[i].op);
        if (accept) continue;
        INFO(fmt::format("measured {} us, simulated {:.4g} us, {:+.1f} %", rows[i].time_us, outcomes[i].sim_us, error * 100));
        const bool known = cases.known_gaps.contains(rows[i].id);
        if (known) {
            INFO("this known gap has closed: take it out of cases.yaml");
            CHECK_FALSE(within);
        } else {
            INFO("this figure has left its tolerance");
            CHECK(within);
        }
    }
    if (accept) rewrite(cases, outside);
}

TEST_CASE("figures have unique names and sources, gaps exist", "[figures]") {
    std::set<std::string> ids;
    for (const auto& row : read_measured({path("measured/figures.yaml")})) {
        INFO(row.id);
        CHECK(ids.insert(row.id).second);
        CHECK(row.source.size() > 8);
        CHECK(row.problem == "");
    }
    const auto numbers = gap_numbers();
    CHECK(numbers.contains("1"));
    for (const auto& [figure, gap] : read_cases().known_gaps) {
        INFO(figure);
        CHECK(ids.contains(figure));
        CHECK(numbers.contains(gap));
    }
}

TEST_CASE("measured tables elsewhere are read when they are there", "[figures]") {
    const std::string folder = test::source_path("../shared/measured/layers");
    std::ifstream probe(folder + "/t4.csv");
    if (!probe) {
        WARN("skipped: no measured tables beside the project");
        return;
    }
    std::size_t broken = 0;
    const auto rows = read_measured({folder + "/t4.csv", folder + "/h100-sxm5-80gb.csv"});
    for (const auto& row : rows) broken += row.problem.empty() ? 0 : 1;
    CHECK(rows.size() > 1000);
    CHECK(broken == 0);
}
