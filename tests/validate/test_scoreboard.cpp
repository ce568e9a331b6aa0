// Scores in closed form, selection, and reports of made-up outcomes.
#include <nlohmann/json.hpp>

#include "sim/core/error.h"
#include "sim/validate/reports.h"
#include "tests/catch.h"

using namespace rafter::validate;
using Catch::Matchers::Contains;

namespace {

Row measured(double us, const std::string& gpu = "t4", const std::string& op = "gemm") {
    Row row;
    row.file = "m.csv", row.line = 2, row.id = "m.csv:2";
    row.source = "lab <x>", row.gpu = gpu, row.op = op, row.dtype = "fp16", row.shape = "m=1;n=2,3", row.time_us = us;
    return row;
}

Outcome simulated(double us, double roofline = 1) {
    Outcome outcome;
    outcome.status = Status::scored;
    outcome.sim_us = us, outcome.roofline_us = roofline;
    outcome.bound = "compute";
    outcome.causes = {{"fma", 0.75}, {"tail", 0.25}};
    return outcome;
}

Outcome refused(Status status, const std::string& reason) {
    Outcome outcome;
    outcome.status = status, outcome.reason = reason;
    return outcome;
}

/// Two rows 50 % off either way, one that cannot be simulated, one that cannot be true.
Validation example() {
    Validation v;
    v.rows = {measured(10), measured(10), measured(10, "x9", "gem"), measured(0.001)};
    v.outcomes = {simulated(15, 5), simulated(5, 10), refused(Status::unsimulatable, "unknown GPU 'x9'"),
                  refused(Status::impossible, "0.001 us is less than")};
    v.board = scoreboard(v.rows, v.outcomes, 5);
    v.effort.distinct = 3;
    return v;
}

}  // namespace

TEST_CASE("+50 % and -50 % make a MAPE of 50 % and no bias", "[scoreboard]") {
    const Score s = example().board.overall;
    CHECK(s.rows == 2);
    CHECK(s.mape == Approx(0.5));
    CHECK(s.bias == Approx(0).margin(1e-15));
    CHECK(s.median == Approx(0.5));
    CHECK(s.p90 == Approx(0.5));
    CHECK(s.within10 == 0);
    CHECK(s.roofline_mape == Approx(0.25));
}

TEST_CASE("percentiles lie between ranks", "[scoreboard]") {
    CHECK(percentile({}, 0.5) == 0);
    CHECK(percentile({3}, 0.9) == 3);
    CHECK(percentile({1, 2}, 0.5) == 1.5);
    CHECK(percentile({0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10}, 0.9) == Approx(9));
}

TEST_CASE("groups, worst rows and what was not scored", "[scoreboard]") {
    std::vector<Row> rows;
    std::vector<Outcome> outcomes;
    for (const double sim : {10.5, 12.0, 9.0, 30.0}) rows.push_back(measured(10)), outcomes.push_back(simulated(sim));
    rows.push_back(measured(10, "a30", "conv")), outcomes.push_back(simulated(10));
    const auto board = scoreboard(rows, outcomes, 2);
    REQUIRE(board.groups.size() == 2);
    CHECK(board.groups[0].gpu == "a30");  // sorted
    CHECK(board.groups[0].score.within10 == 1);
    CHECK(board.groups[1].worst == std::vector<std::size_t>{3, 1});
    CHECK(board.groups[1].score.within10 == 0.5);  // 9 is 10 % off
    CHECK(board.by_gpu.size() == 2);
    CHECK(board.by_op.size() == 2);
    const auto mixed = example().board;
    CHECK(mixed.unsimulatable.at("unknown GPU 'x9'") == std::vector<std::size_t>{2});
    CHECK(mixed.impossible == std::vector<std::size_t>{3});
}

TEST_CASE("selection keeps the order, samples by seed, names what is near", "[scoreboard]") {
    std::vector<Row> rows;
    for (int i = 1; i <= 50; ++i) rows.push_back(measured(i, i % 2 == 0 ? "t4" : "a30"));
    Selection even;
    even.gpu = {"t4"};
    CHECK(select(rows, even).size() == 25);
    Selection sample;
    sample.sample = 7;
    const auto first = select(rows, sample);
    REQUIRE(first.size() == 7);
    for (std::size_t i = 1; i < first.size(); ++i) CHECK(first[i - 1].time_us < first[i].time_us);
    const auto times = [](const std::vector<Row>& chosen) {
        std::vector<double> all;
        for (const Row& row : chosen) all.push_back(row.time_us);
        return all;
    };
    CHECK(times(select(rows, sample)) == times(first));
    sample.seed = 2;
    CHECK(times(select(rows, sample)) != times(first));
    sample.sample = 500;
    CHECK(select(rows, sample).size() == 50);
    Selection wrong;
    wrong.gpu = {"t5"};
    CHECK_THROWS_WITH(select(rows, wrong), "error: --gpu t5: no row has it (did you mean 't4'?)");
    Selection by_source;
    by_source.source = {"lab"};
    CHECK(select(rows, by_source).size() == 50);
}

TEST_CASE("the text report shows every row that was read", "[reports]") {
    const std::string report = text(example());
    CHECK_THAT(report, Contains("t4 gemm fp16"));
    CHECK_THAT(report,
               Contains("+50.0 %          10 us measured         15 simulated  m=1;n=2,3  [fma 75 %, tail 25 %]  m.csv:2"));
    CHECK_THAT(report, Contains("not simulated: 1 of 4 rows"));
    CHECK_THAT(report, Contains("unknown GPU 'x9'  (m.csv:2)"));
    CHECK_THAT(report, Contains("beyond a physical peak, not scored: 1 rows"));
}

TEST_CASE("JSON and CSV hold every row", "[reports]") {
    const auto report = nlohmann::json::parse(json(example()));
    CHECK(report["overall"]["mape"] == Approx(0.5));
    CHECK(report["overall"]["rows_read"] == 4);
    REQUIRE(report["groups"].size() == 1);
    for (const char* key : {"gpu", "op", "dtype", "rows", "mape", "bias", "median", "p90", "within10", "roofline_mape"})
        CHECK(report["groups"][0].contains(key));
    REQUIRE(report["rows"].size() == 2);
    for (const char* key : {"id", "gpu", "op", "dtype", "shape", "real_us", "sim_us", "error", "bound", "roofline_us"})
        CHECK(report["rows"][0].contains(key));
    CHECK(report["unscored"].size() == 2);
    CHECK(report["reasons"]["unknown GPU 'x9'"] == 1);
    const auto records = parse_csv(csv(example()));
    REQUIRE(records.size() == 5);
    for (const auto& record : records) CHECK(record.fields.size() == records[0].fields.size());
    CHECK(records[1].fields[5] == "m=1;n=2,3");
    CHECK(records[4].fields[14] == "impossible");
}

TEST_CASE("the page is one file that asks for nothing and whose data cannot break out", "[reports]") {
    auto v = example();
    v.rows[0].source = "</script><script>alert(1)</script>";
    const std::string page = html(v);
    CHECK(page.find("alert(1)</script>") == std::string::npos);
    CHECK(page.find("\\u003c/script>") != std::string::npos);
    CHECK(page.find(" src=") == std::string::npos);
    CHECK(page.find("<link") == std::string::npos);
    CHECK(page.find("/*data*/") == std::string::npos);
    CHECK(page.find("/*chart.js*/") == std::string::npos);
    CHECK_THAT(page, Contains("default-src 'none'"));
}
