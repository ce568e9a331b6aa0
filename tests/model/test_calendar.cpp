#include <queue>
#include <vector>

#include "sim/model/calendar.h"
#include "sim/model/divider.h"
#include "tests/catch.h"

using rafter::model::Calendar;
using rafter::model::Fs;
using rafter::mix;

namespace {

constexpr Fs kService = 1'000'000;

double unit(std::uint64_t n) { return static_cast<double>(mix(n) >> 11) * 0x1.0p-53; }

struct Arrivals {
    std::vector<Fs> issued, arrives;
};

/// Poisson issue at `load`, path latency uniform over 0..spread services.
Arrivals poisson(double load, double spread, int count) {
    Arrivals a;
    double now = 0;
    for (int i = 0; i < count; ++i) {
        now += -std::log(1 - unit(2 * static_cast<std::uint64_t>(i) + 1)) / load * kService;
        a.issued.push_back(static_cast<Fs>(now));
        a.arrives.push_back(static_cast<Fs>(now + unit(2 * static_cast<std::uint64_t>(i) + 2) * spread * kService));
    }
    return a;
}

/// Mean time in a server that takes requests in the order of their arrival.
double first_come(const Arrivals& a) {
    auto arrives = a.arrives;
    std::sort(arrives.begin(), arrives.end());
    Fs free = 0;
    double total = 0;
    for (const Fs at : arrives) {
        free = std::max(free, at) + kService;
        total += static_cast<double>(free - at);
    }
    return total / static_cast<double>(arrives.size()) / kService;
}

double by_calendar(const Arrivals& a) {
    Calendar server(kService, 4096);
    double total = 0;
    for (const Fs at : a.arrives) total += static_cast<double>(server.reserve(at, kService) - at);
    return total / static_cast<double>(a.arrives.size()) / kService;
}

}  // namespace

TEST_CASE("an idle server takes the service time", "[model]") {
    Calendar server(kService);
    CHECK(server.reserve(5 * kService, kService) == 6 * kService);
    CHECK(server.reserve(500 * kService, 3 * kService) == 503 * kService);
}

TEST_CASE("a saturated server gives its rate, and later requests for earlier times find what is free", "[model]") {
    Calendar server(kService);
    Fs last = 0;
    for (int i = 0; i < 1000; ++i) last = server.reserve(0, kService);
    CHECK(last == 1000 * kService);
    Calendar other(kService);
    other.reserve(300 * kService, kService);
    CHECK(other.reserve(0, kService) == kService);  // issue order does not matter
}

TEST_CASE("time in a calendar is within 15 % of a first-come server, whatever the spread of paths", "[model]") {
    struct Case {
        double load, spread;
    };
    for (const Case c : {Case{0.5, 20}, Case{0.5, 100}, Case{0.9, 20}, Case{0.9, 100}, Case{0.99, 100}}) {
        const Arrivals a = poisson(c.load, c.spread, 200'000);
        INFO("load " << c.load << " spread " << c.spread);
        CHECK(by_calendar(a) == Approx(first_come(a)).epsilon(0.15));
    }
}

TEST_CASE("capacity is never given twice", "[model]") {
    Calendar server(kService);
    Fs latest = 0;
    for (std::uint64_t i = 0; i < 10'000; ++i)
        latest = std::max(latest, server.reserve(static_cast<Fs>(mix(i) % 100) * kService, kService));
    CHECK(latest >= 10'000 * kService);
}
