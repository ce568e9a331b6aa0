#include <string>

#include "tests/catch.h"
#include "tests/config/support.h"

using namespace rafter;
using namespace rafter::config;
using rafter::tests::error_in;
using rafter::tests::error_of;

namespace {

std::string parse_error(const std::string& text) {
    return error_of([&] { Document::parse(text, "t.yaml"); });
}

std::int64_t read_a(const std::string& text) {
    const auto document = Document::parse(text, "t.yaml");
    Map map(document.root());
    const std::int64_t a = map.required("a").integer(0, 100);
    document.finish();
    return a;
}

}  // namespace

TEST_CASE("CRLF, a byte order mark and a missing last newline are accepted", "[config][document]") {
    CHECK(read_a("a: 5\r\nb: 6\r\n") == 5);
    CHECK(read_a("\xEF\xBB\xBF"
                 "a: 5\n") == 5);
    CHECK(read_a("a: 5") == 5);
    CHECK(read_a("---\na: 5\n") == 5);
    CHECK(error_in("\xEF\xBB\xBF"
                   "a: x\r\n",
                   [](Map& map) { map.required("a").integer(0, 9); }) ==
          "t.yaml:1:4: error: a: expected a plain decimal integer, found 'x'\na: x\n   ^");
}

TEST_CASE("files that are no map", "[config][document]") {
    CHECK(parse_error("") == "t.yaml: error: the file is empty");
    CHECK(parse_error("# nothing\n\n") == "t.yaml: error: the file is empty");
    CHECK(parse_error("- a\n- b\n") == "t.yaml:1:1: error: expected a map of keys at the top level\n- a\n^");
    CHECK(parse_error("text\n") == "t.yaml:1:1: error: expected a map of keys at the top level\ntext\n^");
    CHECK(parse_error("a: 1\n---\nb: 2\n") == "t.yaml:3:1: error: 2 documents in one file; one is allowed\nb: 2\n^");
}

TEST_CASE("tabs in the indentation", "[config][document]") {
    CHECK(parse_error("a:\n\tb: 1\n") == "t.yaml:2:1: error: tab in the indentation; use spaces\n\tb: 1\n^");
    CHECK(parse_error("a:\n  \tb: 1\n") == "t.yaml:2:3: error: tab in the indentation; use spaces\n  \tb: 1\n  ^");
}

TEST_CASE("broken YAML has a place", "[config][document]") {
    CHECK(parse_error("a: [1\nb: 2\n") == "t.yaml:2:2: error: not valid YAML: end of sequence flow not found\nb: 2\n ^");
    CHECK(parse_error("a: {b: 1\n").rfind("t.yaml:", 0) == 0);
    CHECK(parse_error("a: *nobody\n") ==
          "t.yaml:1:4: error: not valid YAML: the referenced anchor is not defined\na: *nobody\n   ^");
    CHECK(parse_error("? [a]\n: 1\n") == "t.yaml:1:3: error: a key must be plain text\n? [a]\n  ^");
    CHECK(parse_error("a: !!int 5\n").find("the YAML tag 'tag:yaml.org,2002:int' is not used here") != std::string::npos);
}

TEST_CASE("aliases that never end are one error", "[config][document]") {
    CHECK(parse_error("a: &x\n  b: *x\n") ==
          "t.yaml:1:4: error: nested deeper than 64 levels, or an alias that refers to itself\na: &x\n   ^");
    std::string bomb = "a0: &a0 [1,1,1,1,1,1,1,1,1,1]\n";
    for (int i = 1; i < 12; ++i) {
        const std::string below = "*a" + std::to_string(i - 1);
        bomb += "a" + std::to_string(i) + ": &a" + std::to_string(i) + " [" + below;
        for (int k = 1; k < 10; ++k) bomb += "," + below;
        bomb += "]\n";
    }
    CHECK(parse_error(bomb) == "t.yaml: error: more than 200000 values; do aliases refer to aliases?");
    CHECK(parse_error(std::string(100000, '[')).rfind("t.yaml:1:", 0) == 0);
}

TEST_CASE("an alias is read where it stands", "[config][document]") { CHECK(read_a("x: &x 7\na: *x\n") == 7); }

TEST_CASE("a key given twice anywhere is found", "[config][document]") {
    const auto document = Document::parse("a:\n  - {b: 1, b: 2}\n", "t.yaml");
    CHECK(error_of([&] { document.finish(); }) ==
          "t.yaml:2:12: error: duplicate key 'b' in a[0], first given in line 2\n  - {b: 1, b: 2}\n           ^");
}

TEST_CASE("the caret stands below a character, not a byte", "[config][document]") {
    CHECK(error_in("{t: \u00b5\u00b5, a: x}\n", [](Map& map) {
              map.optional("t");
              map.required("a").integer(0, 9);
          }) == "t.yaml:1:12: error: a: expected a plain decimal integer, found 'x'\n{t: \u00b5\u00b5, a: x}\n           ^");
}

TEST_CASE("a --set lays a value over the file", "[config][document]") {
    auto document = Document::parse("a: 5\nl2: {ways: {value: 4, source: s, standing: measured}, slices: 8}\n", "t.yaml");
    document.set("a", "6");
    document.set("l2.ways", "7");
    document.set("l2.ways", "9");
    Map map(document.root());
    Map l2(map.required("l2"));
    const Value ways = l2.required("ways");
    CHECK(map.required("a").integer(0, 9) == 6);
    CHECK(ways.integer(0, 9) == 9);
    CHECK(ways.source() == "--set l2.ways=9");
    CHECK(ways.standing() == Standing::estimate);
    CHECK(l2.required("slices").integer(0, 9) == 8);
    CHECK(document.diagnostics().empty());
}

TEST_CASE("a wrong --set says what is wrong with it", "[config][document]") {
    const auto set_error = [](const std::string& path, const std::string& value) {
        return error_of([&] {
            auto document = Document::parse("l2: {ways: 4}\n", "t.yaml");
            document.set(path, value);
            Map map(document.root());
            Map l2(map.required("l2"));
            l2.required("ways").integer(1, 16);
            l2.finish();
            map.finish();
            document.finish();
        });
    };
    CHECK(set_error("l2.ways", "8") == "no error");
    CHECK(set_error("l2.ways", "8.0") == "--set l2.ways=8.0: error: l2.ways: expected a plain decimal integer, found '8.0'");
    CHECK(set_error("l2.wais", "8") == "--set l2.wais=8: error: unknown key 'wais' in l2 (did you mean 'ways'?)");
    CHECK(set_error("l3.ways", "8") == "--set l3.ways=8: error: unknown key 'l3' at the top level (did you mean 'l2'?)");
    CHECK(set_error("l2", "8") == "--set l2=8: error: l2: expected a map");
    CHECK(set_error("l2.ways.x", "8") == "--set l2.ways.x=8: error: l2.ways is a single value; it has no key 'x'");
    CHECK(set_error("l2.", "8") == "--set l2.=8: error: 'l2.' is not a path of keys like l2.capacity");
    CHECK(set_error("", "8") == "--set =8: error: '' is not a path of keys like l2.capacity");
    CHECK(set_error("l2.ways", "") == "--set l2.ways=: error: no value given");
    CHECK(set_error("l2.ways", "[1") == "--set l2.ways=[1:1:1: error: not valid YAML: end of sequence flow not found\n[1\n^");
}

TEST_CASE("files that cannot be read", "[config][document]") {
    const tests::Folder folder;
    CHECK(error_of([] { Document::load("none.yaml"); }) == "none.yaml: error: cannot be read");
    CHECK(error_of([] { Document::load("."); }) == ".: error: is a directory, not a file");
}
