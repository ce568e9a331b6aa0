#include <algorithm>

#include "sim/report/report.h"
#include "tests/catch.h"
#include "tests/golden.h"
#include "tests/stats/results.h"

using namespace rafter;
using namespace rafter::test;

namespace {

/// A reader of RFC 4180, so that the writer is not judged by itself.
std::vector<std::vector<std::string>> parse(const std::string& text) {
    std::vector<std::vector<std::string>> rows(1, {""});
    bool quoted = false;
    for (std::size_t i = 0; i < text.size(); ++i) {
        const char c = text[i];
        if (quoted && c == '"' && i + 1 < text.size() && text[i + 1] == '"') {
            rows.back().back() += text[++i];
        } else if (c == '"') {
            quoted = !quoted;
        } else if (!quoted && c == ',') {
            rows.back().emplace_back();
        } else if (!quoted && c == '\n') {
            if (i + 1 < text.size()) rows.push_back({""});
        } else {
            rows.back().back() += c;
        }
    }
    return rows;
}

std::string cell(const std::vector<std::vector<std::string>>& rows, std::size_t row, const std::string& column) {
    const auto at = std::find(rows[0].begin(), rows[0].end(), column);
    REQUIRE(at != rows[0].end());
    return rows[row][static_cast<std::size_t>(at - rows[0].begin())];
}

}  // namespace

TEST_CASE("CSV equals the approved one", "[report]") { check_golden("report/two_layers.csv", report::csv(two_layers())); }

TEST_CASE("CSV has a row a layer, as wide as its header", "[report]") {
    const auto rows = parse(report::csv(two_layers()));
    REQUIRE(rows.size() == 3);
    for (const auto& row : rows) CHECK(row.size() == rows[0].size());
    CHECK(cell(rows, 1, "name") == "fc");
    CHECK(cell(rows, 1, "flops") == "8000000");
    CHECK(std::stod(cell(rows, 1, "time_s")) == Approx(1e-5));
    CHECK(cell(rows, 2, "bound") == "memory_bandwidth");
    CHECK(std::stod(cell(rows, 2, "cause_hbm_bandwidth_fraction")) == Approx(0.91));
}

TEST_CASE("fields with commas, quotes and line breaks survive", "[report]") {
    auto r = two_layers();
    r.layers[0].phase = "";
    r.layers[0].name = "a,\"b\"\nc";
    const auto rows = parse(report::csv(r));
    REQUIRE(rows.size() == 3);
    CHECK(cell(rows, 1, "phase") == "");
    CHECK(cell(rows, 1, "name") == "a,\"b\"\nc");
    CHECK(rows[1].size() == rows[0].size());
}
