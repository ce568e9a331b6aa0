// A protocol decides what is counted before a kernel and what the L2 holds; it never scales a time.
#include "sim/engine/protocol.h"

#include "sim/engine/l2_state.h"
#include "tests/support.h"

using namespace rafter;

namespace {

test::Setup narrow_gemm(engine::Protocol protocol) {
    test::Setup setup;
    setup.dims = {{"m", "64"}, {"n", "2048"}, {"k", "2048"}};
    setup.protocol = protocol;
    return setup;
}

double time(engine::LaunchMode launch, engine::Caches caches, std::int64_t copies = 6) {
    return test::time_of("gemm", narrow_gemm({launch, caches, copies}));
}

}  // namespace

TEST_CASE("what is counted before a kernel is the only difference between launch modes", "[protocol]") {
    const auto launch = config::load_gpu("a100-sxm4-80gb", {}).launch;
    const double stream = time(engine::LaunchMode::stream, engine::Caches::cold);
    const auto differs_by = [&](engine::LaunchMode mode, Femtoseconds gap) {
        const double expected = static_cast<double>((gap - launch.stream_gap).value) * 1e-15;
        // The gaps lie 1.3 us and more apart; requests may meet in another order, which moves the end by tens of nanoseconds.
        CHECK(time(mode, engine::Caches::cold) - stream == Approx(expected).margin(1e-7));
    };
    differs_by(engine::LaunchMode::graph, launch.graph_gap);
    differs_by(engine::LaunchMode::kernel_only, launch.null_kernel);
    differs_by(engine::LaunchMode::events, launch.event_overhead);
}

TEST_CASE("cold, weights cold, warm: less and less comes from HBM", "[protocol]") {
    const auto read = [](engine::Caches caches, std::int64_t copies = 6) {
        const auto result = test::run("gemm", narrow_gemm({engine::LaunchMode::graph, caches, copies}));
        CHECK(result["options"]["caches"] == std::string(engine::name(caches)));
        return result["totals"]["hbm_read_bytes"].get<std::int64_t>();
    };
    const std::int64_t weights = 2048 * 2048 * 2, activations = 64 * 2048 * 2;
    CHECK(read(engine::Caches::cold) == weights + activations);
    CHECK(read(engine::Caches::producer_warm) == weights);
    CHECK(read(engine::Caches::weights_cold) == weights);  // 6 x 8 MiB do not fit 40 MiB
    CHECK(read(engine::Caches::weights_cold, 2) == 0);     // 2 x 8 MiB do
    CHECK(read(engine::Caches::warm) == 0);
}

TEST_CASE("names of protocols go there and back", "[protocol]") {
    for (const auto& name : engine::launch_names()) CHECK(engine::name(*engine::parse_launch(name)) == name);
    for (const auto& name : engine::caches_names()) CHECK(engine::name(*engine::parse_caches(name)) == name);
    CHECK_FALSE(engine::parse_launch("Stream").has_value());
}

TEST_CASE("a produced tensor is there in half of the room, and in the DRAM", "[protocol]") {
    engine::L2State state(1 << 20);
    state.produce("x", 3 << 20);
    state.produce("y", 1 << 19);
    CHECK(state.dirty_bytes() == 0);
    program::Kernel kernel;
    kernel.arguments = {{"x", 3 << 20, program::Use::read}, {"y", 1 << 19, program::Use::read}};
    const auto start = state.before(kernel);
    CHECK(start.arguments[0].resident == 1 << 19);
    CHECK(start.arguments[1].resident == 1 << 19);
    CHECK_FALSE(start.arguments[1].dirty);
}

TEST_CASE("appending to a cache does not forget the cache", "[protocol]") {
    engine::L2State state(64 << 20);
    state.produce("cache", 32 << 20);
    program::Kernel append;
    append.arguments = {{"new", 1 << 17, program::Use::read}, {"cache", 1 << 17, program::Use::write}};
    machine::KernelMeasurement measured;
    measured.buffers = {{1024, 0, 0}, {1024, 1024, 0}};  // lines: 128 KiB of each
    state.after(append, state.before(append), measured);
    program::Kernel read;
    read.arguments = {{"cache", 32 << 20, program::Use::read}};
    CHECK(state.before(read).arguments[0].resident >= (31 << 20));
    CHECK(state.dirty_bytes() == 1 << 17);
}
