// Curves of the memory system: which measured points are taken, what is printed and drawn, and that the machine keeps to its
// file.
#include <filesystem>
#include <fstream>

#include "sim/config/loader.h"
#include "sim/core/error.h"
#include "sim/curves/curves.h"
#include "sim/curves/selftest.h"
#include "tests/catch.h"

using namespace rafter;
using curves::Curve;

namespace {

/// A file of micro-benchmarks that is gone at the end.
struct File {
    std::string path = (std::filesystem::temp_directory_path() / "rafter_curves_test.csv").string();
    explicit File(const std::string& text) { std::ofstream(path) << text; }
    ~File() { std::filesystem::remove(path); }
};

constexpr const char* kHeading = "source,gpu,op,dtype,shape,time_us,other_metric,other_unit,notes\n";

Curve with(std::vector<curves::Point> points) { return {"chase", "title", "x", "y", std::move(points)}; }

}  // namespace

TEST_CASE("points of the GPU and the curve are taken, the median of several", "[curves]") {
    const File file(std::string(kHeading) +
                    "s,t4,latency,int64,pattern=random_cycle;working_set_kB=64,1,30,cycles,n\n"
                    "s,t4,latency,int64,pattern=random_cycle;working_set_kB=64,1,31,cycles,n\n"
                    "s,t4,latency,int64,pattern=random_cycle;working_set_kB=64,1,90,cycles,n\n"
                    "s,t4,latency,int64,pattern=random_cycle;working_set_kB=128,1,50,ns,other unit\n"
                    "s,l4,latency,int64,pattern=random_cycle;working_set_kB=256,1,40,cycles,other GPU\n"
                    "s,t4,latency,int64,pattern=strided;working_set_kB=512,1,50,cycles,other pattern\n");
    const Curve curve = curves::plan("chase", config::load_gpu("t4", {}), file.path, 10);
    REQUIRE(curve.points.size() == 1);
    CHECK(curve.points[0].x == 64);
    CHECK(*curve.points[0].measured == 31);
}

TEST_CASE("a GPU without measured points has an axis of its own", "[curves]") {
    const Curve curve = curves::plan("gather", config::load_gpu("t4", {}), "", 10);
    CHECK(curve.points.size() == 8);
    CHECK_FALSE(curve.points[0].measured);
    CHECK_FALSE(curve.median_error());
}

TEST_CASE("mistakes are named", "[curves]") {
    const auto gpu = config::load_gpu("t4", {});
    CHECK_THROWS_WITH(curves::plan("chasse", gpu, "", 10),
                      "error: unknown curve 'chasse'; there are chase, size, ctas, gather, occupancy-read, occupancy-init, "
                      "occupancy-scale, occupancy-triad, warm-read, warm-write, warm-scale, warm-triad, ctas-write, ctas-copy, "
                      "cache (did you mean 'chase'?)");
    CHECK_THROWS_WITH(curves::plan("chase", gpu, "no/such.csv", 10), "error: cannot read no/such.csv");
    const File file("gpu,shape\n");
    CHECK_THROWS_WITH(
        curves::plan("chase", gpu, file.path, 10),
        file.path + ":1: error: no column 'other_metric'; a file of micro-benchmarks has gpu, shape, other_metric, other_unit");
}

TEST_CASE("the error of a curve is the median over its measured points", "[curves]") {
    CHECK(*with({{1, 100, 110}, {2, 100, 98}, {3, std::nullopt, 5}, {4, 100, 150}}).median_error() == Approx(0.10));
    const std::string text = curves::text({with({{1, 100, 110}})}, "t4");
    CHECK(text.find("+10.0%") != std::string::npos);
    CHECK(text.find("median error 10.0 %") != std::string::npos);
}

TEST_CASE("a plot has the line, the points and finite numbers", "[curves]") {
    const std::string svg = curves::svg(with({{1, 100, 110}, {10, std::nullopt, 200}, {100, 300, 310}}), "t4");
    CHECK(svg.find("<polyline") != std::string::npos);
    CHECK(svg.find("<circle") != std::string::npos);
    CHECK(svg.find("nan") == std::string::npos);
    CHECK(svg.find("inf") == std::string::npos);
    CHECK(curves::svg(with({{1, std::nullopt, 5}}), "t4").find("nan") == std::string::npos);  // one point
}

TEST_CASE("the machine of a GPU does what its file says: T4", "[curves]") {
    for (const auto& check : curves::self_test(config::load_gpu("t4", {}))) {
        INFO(check.name << " " << check.simulated << " " << check.unit << ", allowed " << check.low << " to " << check.high);
        CHECK(check.holds());
    }
}

TEST_CASE("the machine of a GPU does what its file says: H100, whose L2 has partitions", "[curves]") {
    for (const auto& check : curves::self_test(config::load_gpu("h100-pcie-80gb", {}))) {
        INFO(check.name << " " << check.simulated << " " << check.unit << ", allowed " << check.low << " to " << check.high);
        CHECK(check.holds());
    }
}

TEST_CASE("a 32-byte request to memory with 64-byte atoms moves 64", "[curves][hbm]") {
    std::vector<Curve> gathers{{"gather", "", "", "", {{32, std::nullopt, 0}, {64, std::nullopt, 0}}}};
    curves::simulate(gathers, config::load_gpu("a100-sxm4-80gb", {}));
    CHECK(gathers[0].points[1].simulated / gathers[0].points[0].simulated == Approx(2.0).epsilon(0.05));
}
