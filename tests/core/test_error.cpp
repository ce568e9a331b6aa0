#include <string>
#include <vector>

#include "sim/core/error.h"
#include "tests/catch.h"

using namespace rafter;

TEST_CASE("a diagnostic shows the place, the line and a caret", "[core][error]") {
    CHECK(format_diagnostic({"a.yaml", 3, 5, "sms: x8"}, "not a number") == "a.yaml:3:5: error: not a number\nsms: x8\n    ^");
    CHECK(format_diagnostic({"a.yaml", 1, 1, "x"}, "unknown key") == "a.yaml:1:1: error: unknown key\nx\n^");
}

TEST_CASE("a diagnostic leaves out what is not known", "[core][error]") {
    CHECK(format_diagnostic({"a.yaml", 3, 5, ""}, "m") == "a.yaml:3:5: error: m");
    CHECK(format_diagnostic({"a.yaml", 0, 0, ""}, "m") == "a.yaml: error: m");
    CHECK(format_diagnostic({"a.yaml", 0, 7, "text"}, "m") == "a.yaml: error: m");
    CHECK(format_diagnostic({"", 0, 0, ""}, "m") == "error: m");
}

TEST_CASE("a message is not taken for a format string", "[core][error]") {
    CHECK(format_diagnostic({"{}.yaml", 1, 2, "{a}"}, "{0} {") == "{}.yaml:1:2: error: {0} {\n{a}\n ^");
}

TEST_CASE("Error carries the whole diagnostic", "[core][error]") {
    const Place place{"a.yaml", 2, 3, "k: v"};
    CHECK(std::string(Error(place, "m").what()) == format_diagnostic(place, "m"));
    CHECK(std::string(Error("as given").what()) == "as given");
}

TEST_CASE("a failed check names the condition, the place and the detail", "[core][error]") {
    std::string text;
    try {
        check_failed("a < b", "sim/x.cpp", 42, "a is {7}");
    } catch (const InternalError& e) {
        text = e.what();
    }
    CHECK(text.find("a < b") != std::string::npos);
    CHECK(text.find("sim/x.cpp:42") != std::string::npos);
    CHECK(text.find("a is {7}") != std::string::npos);
}

TEST_CASE("RAFTER_CHECK throws only when the condition is false", "[core][error]") {
    const int n = 1;
    CHECK_NOTHROW([&] { RAFTER_CHECK(n == 1, "unused"); }());
    CHECK_THROWS_AS([&] { RAFTER_CHECK(n == 2, "n"); }(), InternalError);
}

TEST_CASE("the nearest name is within max(2, length / 3) edits", "[core][error]") {
    const std::vector<std::string> names{"kernel", "clock", "memory_bandwidth"};
    CHECK(nearest_name("clock", names) == "clock");
    CHECK(nearest_name("clokc", names) == "clock");                        // 2 edits
    CHECK(nearest_name("clo", names) == "clock");                          // 2 insertions
    CHECK(nearest_name("cl", names).empty());                              // 3 edits, 2 allowed
    CHECK(nearest_name("memory_bandwXXXX", names) == "memory_bandwidth");  // 4 edits, 16 / 3 = 5 allowed
    CHECK(nearest_name("memory_banXXXXXX", names).empty());                // 6 edits
    CHECK(nearest_name("clock", {}).empty());
}

TEST_CASE("of equally near names the first is taken", "[core][error]") {
    CHECK(nearest_name("cat", {"bat", "hat"}) == "bat");
    CHECK(nearest_name("cat", {"hat", "bat"}) == "hat");
    CHECK(nearest_name("cat", {"hats", "bat"}) == "bat");
}
