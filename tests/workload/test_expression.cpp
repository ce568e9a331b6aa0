#include "sim/workload/expression.h"

#include "tests/workload/helpers.h"

using namespace rafter;
using namespace rafter::workload;

namespace {

const Dims kDims{{"batch", 64}, {"hidden", 4096}, {"heads", 32}, {"kv_heads", 8}};

std::int64_t value(const std::string& text) {
    std::string error;
    const std::int64_t n = evaluate(text, kDims, error);
    CHECK(error == "");
    return n;
}

std::string problem(const std::string& text) {
    std::string error;
    CHECK(evaluate(text, kDims, error) == 0);
    return error;
}

}  // namespace

TEST_CASE("expressions follow the usual precedence", "[workload]") {
    CHECK(value("17") == 17);
    CHECK(value("hidden * 4") == 16384);
    CHECK(value("batch*hidden") == 262144);
    CHECK(value("2 + 3 * 4 - 1") == 13);
    CHECK(value("(heads + 2 * kv_heads) * (hidden / heads)") == 6144);
    CHECK(value("100 - 30 - 20") == 50);
    CHECK(value("64 / 4 / 2") == 8);
}

TEST_CASE("division must come out even", "[workload]") {
    CHECK(problem("hidden / 3") == "4096 / 3 in 'hidden / 3' is not a whole number");
    CHECK(problem("1 / (heads - 32)") == "1 / 0 in '1 / (heads - 32)' is not a whole number");
}

TEST_CASE("an unknown dim names its place and the nearest", "[workload]") {
    CHECK(problem("2 * hiden") == "unknown dim 'hiden' at character 5 of '2 * hiden' (did you mean 'hidden'?)");
}

TEST_CASE("arithmetic is checked", "[workload]") {
    CHECK(problem("4611686018427387904 * 2") == "'4611686018427387904 * 2' does not fit 64 bits");
    CHECK(problem("9223372036854775807 + 1") == "'9223372036854775807 + 1' does not fit 64 bits");
    CHECK(problem("99999999999999999999") == "'99999999999999999999' does not fit 64 bits");
}

TEST_CASE("syntax errors say where", "[workload]") {
    CHECK(problem("2 * (3 + 4") == "missing ')' in '2 * (3 + 4'");
    CHECK(problem("2 2") == "unexpected '2' at character 3 of '2 2'");
    CHECK(problem("1.5") == "'1.5' is not a whole number");
    CHECK(problem("010") == "'010' is not a whole number");
    CHECK(problem("1e3") == "'1e3' is not a whole number");
    CHECK(problem("1_000") == "'1_000' is not a whole number");
    CHECK(problem("").find("expected a whole number") == 0);
    CHECK(problem("-5").find("is not a whole number or an expression over dims") != std::string::npos);
}

TEST_CASE("what an expression depends on", "[workload]") {
    CHECK(mentions("context + step", "step"));
    CHECK_FALSE(mentions("steps + step2", "step"));
    CHECK(is_derived("2 * seq"));
    CHECK_FALSE(is_derived("2048"));
}
