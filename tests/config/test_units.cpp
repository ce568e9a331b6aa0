#include <clocale>
#include <string>

#include "sim/config/reader.h"
#include "tests/catch.h"

using namespace rafter::config;

namespace {

double value(const std::string& text, Unit unit) {
    std::string error;
    const double number = parse_quantity(text, unit, error);
    INFO(error);
    REQUIRE(error.empty());
    return number;
}

std::string error(const std::string& text, Unit unit) {
    std::string found;
    CHECK(parse_quantity(text, unit, found) == 0);
    return found;
}

}  // namespace

TEST_CASE("quantities come in base units", "[config][units]") {
    CHECK(value("50 MiB", Unit::bytes) == 52428800);
    CHECK(value("50MiB", Unit::bytes) == 52428800);
    CHECK(value("80 GB", Unit::bytes) == 80e9);
    CHECK(value("80 GiB", Unit::bytes) == 85899345920.0);
    CHECK(value("4.8 TB/s", Unit::bytes_per_s) == Approx(4.8e12));
    CHECK(value("26.8 Tbit/s", Unit::bytes_per_s) == Approx(3.35e12));
    CHECK(value("1755 MHz", Unit::hertz) == 1755e6);
    CHECK(value("3.186 Gbit/s", Unit::bits_per_s) == Approx(3.186e9));
    CHECK(value("270 clk", Unit::clk) == 270);
    CHECK(value("400 W", Unit::watts) == 400);
    CHECK(value("19.5 TFLOP/s", Unit::flops_per_s) == Approx(19.5e12));
    CHECK(value("1.5e3 ns", Unit::seconds) == Approx(1.5e-6));
    CHECK(value("-1 ns", Unit::seconds) == Approx(-1e-9));  // ranges are the field's affair
}

TEST_CASE("every unit of time", "[config][units]") {
    CHECK(value("1 fs", Unit::seconds) == 1e-15);
    CHECK(value("1 ps", Unit::seconds) == 1e-12);
    CHECK(value("1 ns", Unit::seconds) == 1e-9);
    CHECK(value("1 us", Unit::seconds) == 1e-6);
    CHECK(value("1 ms", Unit::seconds) == 1e-3);
    CHECK(value("1 s", Unit::seconds) == 1);
}

TEST_CASE("a missing unit lists those accepted", "[config][units]") {
    CHECK(error("50", Unit::bytes) == "'50' has no unit; allowed: B, kB, MB, GB, TB, KiB, MiB, GiB, TiB");
    CHECK(error("400", Unit::watts) == "'400' has no unit; allowed: W");
    CHECK(error("1.41", Unit::hertz) == "'1.41' has no unit; allowed: Hz, kHz, MHz, GHz (did you mean '1.41 GHz'?)");
    CHECK(error("1410", Unit::hertz) == "'1410' has no unit; allowed: Hz, kHz, MHz, GHz (did you mean '1410 MHz'?)");
}

TEST_CASE("case matters and the message says so", "[config][units]") {
    CHECK(error("80 gb", Unit::bytes) == "unknown unit 'gb' (did you mean 'GB'? case matters)");
    CHECK(error("50 mib", Unit::bytes) == "unknown unit 'mib' (did you mean 'MiB'? case matters)");
    CHECK(error("1410 mhz", Unit::hertz) == "unknown unit 'mhz' (did you mean 'MHz'? case matters)");
}

TEST_CASE("other spellings are refused with the right one", "[config][units]") {
    CHECK(error("3.2 Gb/s", Unit::bits_per_s) == "unknown unit 'Gb/s' (did you mean 'Gbit/s'?)");
    CHECK(error("3.2 Gbps", Unit::bytes_per_s) == "unknown unit 'Gbps' (did you mean 'Gbit/s'?)");
    CHECK(error("270 cycles", Unit::clk) == "unknown unit 'cycles' (did you mean 'clk'?)");
    CHECK(error("2 \u00b5s", Unit::seconds) == "unknown unit '\u00b5s' (did you mean 'us'?)");
    CHECK(error("312 TFLOPS", Unit::flops_per_s) == "unknown unit 'TFLOPS' (did you mean 'TFLOP/s'?)");
}

TEST_CASE("a unit of something else is named as that", "[config][units]") {
    CHECK(error("50 MHz", Unit::bytes) ==
          "'MHz' is a unit of frequency, wanted is one of size: B, kB, MB, GB, TB, KiB, MiB, GiB, TiB");
    CHECK(error("3350 GB/s", Unit::bits_per_s) ==
          "'GB/s' is a unit of bandwidth, wanted is one of data rate: bit/s, Mbit/s, Gbit/s, Tbit/s");
    CHECK(error("50 parsecs", Unit::watts) == "unknown unit 'parsecs'; allowed: W");
}

TEST_CASE("what is no number is refused", "[config][units]") {
    for (const std::string text : {"", "MiB", "nan W", "inf W", "-inf W", ".nan", ".5 W", "+5 W", "010 W", "1e999 W"}) {
        INFO(text);
        CHECK(error(text, Unit::watts) == "expected a number with a unit (W), found '" + text + "'");
    }
    CHECK(error("0x10 W", Unit::watts) == "unknown unit 'x10 W'; allowed: W");
    CHECK(error("1_000 W", Unit::watts) == "unknown unit '_000 W'; allowed: W");
    CHECK(error("1,5 W", Unit::watts) == "unknown unit ',5 W'; allowed: W");
}

TEST_CASE("numbers do not depend on the locale", "[config][units]") {
    const std::string before = std::setlocale(LC_ALL, nullptr);
    if (std::setlocale(LC_ALL, "de_DE.UTF-8") == nullptr && std::setlocale(LC_ALL, "de_DE") == nullptr) {
        WARN("locale de_DE is not installed; skipped");
        return;
    }
    const double number = value("1.5 GHz", Unit::hertz);
    std::setlocale(LC_ALL, before.c_str());
    CHECK(number == 1.5e9);
}
