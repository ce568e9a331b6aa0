// What rafter-measure writes, `rafter validate` can read and simulate.
#include "sim/validate/row_model.h"
#include "tests/catch.h"
#include "validate/host/case.h"
#include "validate/host/csv.h"

using namespace rafter;
using namespace rafter::validate;

namespace {

/// Depthwise convolutions carry `groups`, which the reader of rows does not know yet.
bool is_depthwise(const Case& c) { return c.op == "conv" && c.shape.get("groups", 1) > 1; }

}  // namespace

TEST_CASE("every row of the suites can be simulated", "[validate]") {
    std::string text = std::string(kCsvHeader) + "\n";
    std::vector<Case> written;
    for (const Case& c : suite("full")) {
        if (is_depthwise(c)) continue;
        written.push_back(c);
        text += csv_line(CsvRow{"rafter-measure", "a100-sxm4-80gb", c.op, std::string(name(c.dtype)), c.shape.text(), 1.5,
                                validate::text(c.protocol), "kernel=" + c.kernel});
    }
    const auto rows = parse_measured_csv(text, "suite.csv");
    REQUIRE(rows.size() == written.size());
    for (const Row& row : rows) {
        INFO(row.op << " " << row.shape << " " << row.protocol);
        CHECK(row.problem.empty());
        CHECK(to_simulation(row).reason.empty());
    }
}
