// Curves of streams: which row is which point, by its shape and for every GPU alike, and that the machine runs them.
#include "sim/config/loader.h"
#include "sim/core/error.h"
#include "sim/curves/streams.h"
#include "sim/validate/measured.h"
#include "tests/catch.h"

using namespace rafter;
using curves::Point;

namespace {

const config::HwConfig& a100() {
    static const auto gpu = config::load_gpu("a100-sxm4-80gb", {});
    return gpu;
}

std::optional<Point> point(const std::string& curve, const std::string& text) {
    std::string problem;
    const auto shape = validate::parse_shape(text, problem);
    for (const auto& kind : curves::stream_kinds()) {
        if (kind.name == curve) return curves::stream_point(kind, shape, a100());
    }
    return std::nullopt;
}

config::HwConfig small() { return config::load_gpu("t4", {{"sm.count", "4"}, {"l2.capacity", "512KiB"}, {"l2.slices", "4"}}); }

}  // namespace

TEST_CASE("streams by occupancy: CTAs an SM are given, or follow from the threads", "[curves]") {
    const auto given =
        point("occupancy-triad", "kernel=triad;bytes=8589934656;block=512;threads=55296;blocks_per_sm=1;occupancy_pct=25.0");
    REQUIRE(given);
    CHECK(given->x == Approx(25));
    CHECK(given->stream->parameters.reads == 3);
    CHECK(given->stream->ctas_per_sm == 1);
    const auto computed = point("occupancy-read", "kernel=read;block=256;threads=55296;occupancy_pct=25.0");
    REQUIRE(computed);
    CHECK(computed->stream->ctas_per_sm == 2);  // 55296 / 256 / 108
    CHECK_FALSE(point("occupancy-read", "kernel=scale;block=256;threads=55296;occupancy_pct=25.0"));
    CHECK_FALSE(point("occupancy-read", "kernel=3pt;block=256;threads=55296;occupancy_pct=25.0"));
    CHECK_FALSE(point("occupancy-scale", "kernel=scale;n=100;bytes=1600;block=256;mode=launch"));
}

TEST_CASE("streams over a working set, over one buffer, and by CTAs", "[curves]") {
    const std::string warm = "bench=l2_stream;kernel=scale;working_set_kB=383;block=768;blocks_per_sm=2;occupancy_pct=75";
    REQUIRE(point("warm-scale", warm));
    CHECK(point("warm-scale", warm)->stream->parameters.array_bytes == 383 * 1024 / 2 / 128 * 128);
    CHECK_FALSE(point("occupancy-scale", warm));
    const auto cache = point("cache", "bench=cache_read_bw;per_block_set_kB=4;all_blocks_same_buffer=1;blocks=1_per_sm");
    REQUIRE(cache);
    CHECK(cache->stream->parameters.grid == 108);
    const auto ctas = point("ctas-copy", "kernel=copy;pair=hbm_hbm;blocks=138;threads=1024;sweep=blocks");
    REQUIRE(ctas);
    CHECK(ctas->stream->ctas_per_sm == 2);
    CHECK_FALSE(point("ctas-copy", "kernel=copy;pair=hbm_ddr;blocks=138;threads=1024;sweep=blocks"));
    CHECK_FALSE(point("ctas-write", "kernel=write;mem=ddr;blocks=138;threads=1024;sweep=blocks"));
}

TEST_CASE("every GPU has points of its own for every curve of streams", "[curves]") {
    for (const auto& name : config::list_data_files("hw_configs")) {
        const auto gpu = config::load_gpu(name, {});
        for (const auto& kind : curves::stream_kinds()) {
            INFO(name << " " << kind.name);
            const auto points = curves::own_points(kind, gpu);
            CHECK(points.size() >= 6);
            for (const auto& p : points) CHECK((p.x > 0 && p.stream && !p.measured));
        }
    }
}

TEST_CASE("a name stands for itself and for those that begin with it", "[curves]") {
    CHECK(curves::curves_of("chase") == std::vector<std::string>{"chase"});
    CHECK(curves::curves_of("ctas") == std::vector<std::string>{"ctas", "ctas-write", "ctas-copy"});
    CHECK(curves::curves_of("warm").size() == 4);
    CHECK(curves::curves_of("all") == curves::curve_names());
    CHECK_THROWS_AS(curves::curves_of("war"), Error);
}

TEST_CASE("streams of a small GPU, every point in a child: more threads more bandwidth, the L2 faster than the DRAM",
          "[curves]") {
    const auto gpu = small();
    std::vector<curves::Curve> all{curves::plan("occupancy-scale", gpu, "", 10), curves::plan("warm-read", gpu, "", 10),
                                   curves::plan("cache", gpu, "", 10)};
    curves::simulate(all, gpu, {2, {}});
    const double peak = gpu.dram.peak_bytes_per_s() * 1e-9;
    for (const auto& p : all[0].points) CHECK((p.simulated > 0 && p.simulated < peak));
    CHECK(all[0].points.front().simulated < all[0].points.back().simulated);
    CHECK(all[1].points.front().simulated > all[1].points.back().simulated);
    CHECK(all[1].points.back().simulated < peak);
    CHECK(all[2].points.front().simulated > all[2].points.back().simulated);
}

TEST_CASE("children and this process give the same", "[curves]") {
    const auto gpu = small();
    std::vector<curves::Curve> one{curves::plan("ctas-copy", gpu, "", 10)};
    one[0].points.resize(2);
    auto other = one;
    curves::simulate(one, gpu, {2, {}});  // first: a child of a process that has a machine cannot make one
    curves::simulate(other, gpu);
    for (std::size_t i = 0; i < 2; ++i) CHECK(one[0].points[i].simulated == other[0].points[i].simulated);
}
