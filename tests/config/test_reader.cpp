#include <string>

#include "tests/catch.h"
#include "tests/config/support.h"

using namespace rafter;
using namespace rafter::config;
using rafter::tests::error_in;

namespace {

std::string integer_error(const std::string& value) {
    return error_in("count: " + value + "\n", [](Map& map) { map.required("count").integer(1, 1000); });
}

/// The diagnostic of the value of `count:` in the first line.
std::string at_value(const std::string& value, const std::string& message) {
    return "t.yaml:1:8: error: count: " + message + "\ncount: " + value + "\n       ^";
}

}  // namespace

TEST_CASE("integers are plain decimals", "[config][reader]") {
    CHECK(integer_error("1") == "no error");
    CHECK(integer_error("1000") == "no error");
    CHECK(integer_error("{value: 7, source: x, standing: measured}") == "no error");
    for (const std::string value :
         {"132.0", "yes", "0x84", "1_000", "010", "1e3", "+5", "0o7", "12 SMs", "1,000", ".inf", "nan"}) {
        INFO(value);
        CHECK(integer_error(value) == at_value(value, "expected a plain decimal integer, found '" + value + "'"));
    }
    CHECK(integer_error("\"132\"") == at_value("\"132\"", "expected a plain decimal integer, found the quoted text \"132\""));
    CHECK(integer_error("'132'") == at_value("'132'", "expected a plain decimal integer, found the quoted text \"132\""));
}

TEST_CASE("integers have a range", "[config][reader]") {
    CHECK(integer_error("0") == at_value("0", "0 is out of range; allowed: 1 to 1000"));
    CHECK(integer_error("-5") == at_value("-5", "-5 is out of range; allowed: 1 to 1000"));
    CHECK(integer_error("99999999999999999999") ==
          at_value("99999999999999999999", "99999999999999999999 is out of range; allowed: 1 to 1000"));
}

TEST_CASE("a value of the wrong kind", "[config][reader]") {
    CHECK(integer_error("[1, 2]") == at_value("[1, 2]", "expected a single value, found a list"));
    CHECK(integer_error("{a: 1}") == at_value("{a: 1}", "expected a single value, found a map"));
    CHECK(integer_error("") == "t.yaml:1:1: error: count: no value given\ncount: \n^");
    CHECK(integer_error("~") == "t.yaml:1:1: error: count: no value given\ncount: ~\n^");
    CHECK(integer_error("{source: x}") == "t.yaml:1:8: error: missing key 'value' in count\ncount: {source: x}\n       ^");
    CHECK(integer_error("{value: 1, sorce: x}") ==
          "t.yaml:1:19: error: unknown key 'sorce' in count (did you mean 'source'?)\ncount: {value: 1, sorce: x}\n              "
          "    ^");
}

TEST_CASE("reals are finite and in range", "[config][reader]") {
    const auto real_error = [](const std::string& value) {
        return error_in("count: " + value + "\n", [](Map& map) { map.required("count").real(0, 2); });
    };
    CHECK(real_error("1.5") == "no error");
    CHECK(real_error("1e-3") == "no error");
    CHECK(real_error("nan") == at_value("nan", "expected a number, found 'nan'"));
    CHECK(real_error(".inf") == at_value(".inf", "expected a number, found '.inf'"));
    CHECK(real_error("'1'") == at_value("'1'", "expected a number, found '1'"));
    CHECK(real_error("-1") == at_value("-1", "-1 is out of range; allowed: 0 to 2"));
}

TEST_CASE("booleans are true and false", "[config][reader]") {
    const auto flag_error = [](const std::string& value) {
        return error_in("count: " + value + "\n", [](Map& map) { map.required("count").boolean(); });
    };
    CHECK(flag_error("true") == "no error");
    for (const std::string value : {"yes", "on", "True", "1"}) {
        CHECK(flag_error(value) == at_value(value, "expected true or false, found '" + value + "'"));
    }
}

TEST_CASE("one of a closed set", "[config][reader]") {
    const auto set_error = [](const std::string& value) {
        return error_in("count: " + value + "\n", [](Map& map) { map.required("count").text_of({"ampere", "hopper"}); });
    };
    CHECK(set_error("ampere") == "no error");
    CHECK(set_error("hoper") == at_value("hoper", "'hoper' is not one of ampere, hopper (did you mean 'hopper'?)"));
    CHECK(error_in("count: fp17\n", [](Map& map) { map.required("count").dtype(); }) ==
          at_value("fp17",
                   "unknown dtype 'fp17'; known: fp64, fp32, tf32, fp16, bf16, fp8, int8, int4, fp4, nf4, fp6, int32, "
                   "int64 (did you mean 'fp16'?)"));
}

TEST_CASE("quantities in whole base units", "[config][reader]") {
    const auto bytes_error = [](const std::string& value) {
        return error_in("count: " + value + "\n", [](Map& map) { map.required("count").whole(Unit::bytes, 1, 1e18); });
    };
    CHECK(bytes_error("47.68 GiB") == "no error");  // 51,196,010,168.3 B
    CHECK(bytes_error("1.5 B") == at_value("1.5 B", "'1.5 B' is not a whole number of B"));
    CHECK(bytes_error("-1 MiB") == at_value("-1 MiB", "'-1 MiB' is out of range; allowed: 1 to 1e+18 B"));
    CHECK(bytes_error("0 B") == at_value("0 B", "'0 B' is out of range; allowed: 1 to 1e+18 B"));
}

TEST_CASE("unknown, duplicate and missing keys in file order", "[config][reader]") {
    const std::string text = "l2:\n  capasity: 50 MiB\n  ways: 16\n  ways: 20\nextra: 1\n";
    const std::string found = error_in(text, [](Map& map) {
        Map l2(map.required("l2"));
        l2.required("capacity");
        l2.required("ways").integer(1, 64);
        l2.finish();
    });
    CHECK(found ==
          "t.yaml:2:3: error: missing key 'capacity' in l2\n"
          "  capasity: 50 MiB\n"
          "  ^\n"
          "t.yaml:2:3: error: unknown key 'capasity' in l2 (did you mean 'capacity'?)\n"
          "  capasity: 50 MiB\n"
          "  ^\n"
          "t.yaml:4:3: error: duplicate key 'ways' in l2, first given in line 3\n"
          "  ways: 20\n"
          "  ^\n"
          "t.yaml:5:1: error: unknown key 'extra' at the top level\n"
          "extra: 1\n"
          "^");
}

TEST_CASE("a section that is no map", "[config][reader]") {
    CHECK(error_in("l2: 5\n", [](Map& map) { Map(map.required("l2")).finish(); }) ==
          "t.yaml:1:5: error: l2: expected a map\nl2: 5\n    ^");
    CHECK(error_in("l2:\n", [](Map& map) { Map(map.required("l2")).finish(); }) ==
          "t.yaml:1:1: error: l2: expected a map\nl2:\n^");
}

TEST_CASE("lists know the path of their items", "[config][reader]") {
    CHECK(error_in("layers: [1, x]\n", [](Map& map) {
              for (const Value& item : map.required("layers").list()) item.integer(0, 9);
          }) == "t.yaml:1:13: error: layers[1]: expected a plain decimal integer, found 'x'\nlayers: [1, x]\n            ^");
}

TEST_CASE("standing and source of a value", "[config][reader]") {
    const auto document = Document::parse("a: {value: 5, source: \"a book\", standing: measured}\nb: 5\n", "t.yaml");
    Map map(document.root());
    const Value a = map.required("a"), b = map.required("b");
    CHECK(a.standing() == Standing::measured);
    CHECK(a.standing_given());
    CHECK(a.source() == "a book");
    CHECK(b.standing() == Standing::estimate);
    CHECK_FALSE(b.standing_given());
    CHECK(b.source().empty());
    CHECK(error_in("count: {value: 5, standing: meassured}\n", [](Map& m) { m.required("count").standing(); }) ==
          "t.yaml:1:29: error: count.standing: 'meassured' is not one of datasheet, measured, derived, estimate (did you mean "
          "'measured'?)\ncount: {value: 5, standing: meassured}\n                            ^");
}
