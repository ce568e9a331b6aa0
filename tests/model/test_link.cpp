#include "sim/model/link.h"
#include "tests/catch.h"

using namespace rafter;
using model::Fs;
using model::Link;

namespace {

config::Link pcie() { return {25'000'000'000, Femtoseconds(1'200'000'000)}; }  // 25 GB/s, 1.2 us
constexpr Fs kLine = 5'120'000;                                                // 128 B at 25 GB/s

}  // namespace

TEST_CASE("one read takes the latency and its time on the link", "[model][link]") {
    Link link(pcie());
    const auto one = link.access(1000, 128, false);
    CHECK(one.done == 1000 + 1'200'000'000 + kLine);
    CHECK(one.wait == 0);
    CHECK(link.read_bytes() == 128);
    CHECK(link.write_bytes() == 0);
}

TEST_CASE("many reads take the bandwidth, however many wait", "[model][link]") {
    Link link(pcie());
    Fs last = 0;
    constexpr std::int64_t kLines = 100'000;
    for (std::int64_t i = 0; i < kLines; ++i) last = std::max(last, link.access(i % 1000, 128, false).done);
    const double seconds = static_cast<double>(last) * 1e-15;
    CHECK(kLines * 128 / seconds == Approx(25e9).epsilon(0.01));
    CHECK(kLines * 128 / seconds <= 25e9);
}

TEST_CASE("the directions do not hinder each other", "[model][link]") {
    Link both(pcie());
    Fs last = 0;
    for (int i = 0; i < 10'000; ++i) last = std::max({last, both.access(0, 128, false).done, both.access(0, 128, true).done});
    CHECK(last == Approx(1.2e9 + 10'000.0 * kLine).epsilon(0.001));
    both.reset();
    CHECK(both.read_bytes() + both.write_bytes() == 0);
    CHECK(both.access(0, 128, false).wait == 0);
}
