// Closed forms of the memory system.
#include "tests/support.h"

using rafter::test::Json;
using rafter::test::run;
using rafter::test::Settings;

namespace {

double total(const Json& r, const char* key) { return r["totals"][key].get<double>(); }

/// Repeated passes of a copy over `mib` MiB in all: what a pass still moves between L2 and HBM, in bytes a byte of the tensors.
double moved_warm(double mib, const Settings& hardware, const std::string& gpu = "a100-sxm4-80gb") {
    rafter::test::Setup setup;
    const auto elements = static_cast<std::int64_t>(mib * 1024 * 1024 / 4);
    setup.dims = {{"elements", std::to_string(elements)}};
    setup.hardware = hardware;
    setup.gpu = gpu;
    setup.protocol.caches = rafter::engine::Caches::warm;
    const Json r = run("copy", setup);
    return (total(r, "hbm_read_bytes") + total(r, "hbm_write_bytes")) / (static_cast<double>(elements) * 4);
}

}  // namespace

TEST_CASE("copies between the L2's partitions bring the knee from the capacity to half of it", "[limits][l2]") {
    const Settings apart{{"l2.link_bytes_per_clk", "0"}};
    CHECK(moved_warm(16, {}) < 0.05);
    CHECK(moved_warm(32, apart) < 0.1);  // of 40 MiB
    CHECK(moved_warm(32, {}) > 0.2);
}

TEST_CASE("a faster link between the partitions is never slower", "[limits][l2][properties]") {
    double before = 1e9;
    for (const char* bytes : {"400", "800", "1600", "6400"}) {
        const Json r = run("gemm", {{{"m", "256"}}, {{"l2.link_bytes_per_clk", bytes}}});
        CHECK(total(r, "time_s") <= before * 1.02);  // requests meet in another order
        before = total(r, "time_s");
    }
}

TEST_CASE("a kernel that only writes is held by the DRAM, steady or not", "[limits][hbm]") {
    for (const char* gpu : {"p100-pcie-16gb", "a100-sxm4-80gb"}) {
        rafter::test::Setup setup;
        setup.gpu = gpu;
        setup.dims = {{"elements", "134217728"}};
        const Json r = run("write", setup);
        const double bytes = 134217728.0 * 2;
        INFO(gpu);
        CHECK(bytes / total(r, "time_s") < 1.25 * (gpu[0] == 'p' ? 732e9 : 2039e9));  // the L2 keeps the last of it
        setup.exact = true;
        CHECK(total(run("write", setup), "time_s") == Approx(total(r, "time_s")).epsilon(0.02));
    }
}

TEST_CASE("ECC that lies in the same memory takes its share of the bandwidth", "[limits][hbm]") {
    const Settings none{{"dram.inline_ecc", "0"}}, eighth{{"dram.inline_ecc", "8"}};
    const double without = total(run("copy", {{}, none, "l40"}), "time_s"),
                 with = total(run("copy", {{}, eighth, "l40"}), "time_s");
    CHECK(with / without == Approx(1.125).epsilon(0.03));
}

TEST_CASE("a table on the host takes no HBM and is read over the link, no faster than that", "[limits][link][C053]") {
    const Json r = run("outside");  // 51 GB of rows
    const double rows = 4096.0 * 4 * 256;
    CHECK(total(r, "link_read_bytes") == rows);  // hardly a row is asked for twice
    CHECK(total(r, "hbm_read_bytes") < 0.1 * rows);
    CHECK(rows / total(r, "time_s") <= 26.8e9);
    CHECK(r["layers"][0]["bound"] == "memory_bandwidth");
    CHECK(r["layers"][0]["causes"]["link"].get<double>() > 0.5);
}

TEST_CASE("a faster link is never slower", "[limits][link][properties]") {
    double before = 1e9;
    for (const char* bandwidth : {"6 GB/s", "13 GB/s", "27 GB/s", "54 GB/s", "400 GB/s"}) {
        const double time = total(run("outside", {{}, {{"links.host_bandwidth", bandwidth}}}), "time_s");
        CHECK(time <= before * 1.001);
        before = time;
    }
}
