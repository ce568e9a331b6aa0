// What the streams of the micro-benchmarks ask of the machine.
#include "sim/kernels/probe/stream.h"
#include "tests/catch.h"
#include "tests/kernels/recording_cta.h"

using namespace rafter;

namespace {

test::Record record_of(const kernels::Stream::Parameters& p) { return test::record(kernels::stream_kernel(p), true); }

}  // namespace

TEST_CASE("a one-shot stream touches every byte once", "[kernels]") {
    kernels::Stream::Parameters p;
    p.reads = 3, p.writes = 1, p.threads = 64, p.grid = 10;
    p.array_bytes = 10 * 64 * 8;
    const auto record = record_of(p);
    for (std::size_t array = 0; array < 3; ++array)
        for (const auto count : record.read_count[array]) CHECK(count == 1);
    for (const auto count : record.write_count[3]) CHECK(count == 1);
    CHECK(kernels::Stream::bytes(p) == 4 * p.array_bytes);
}

TEST_CASE("a stream wraps around at the end of its array", "[kernels]") {
    kernels::Stream::Parameters p;
    p.threads = 96, p.grid = 10;  // 768 bytes a CTA, 7680 in all
    p.array_bytes = 1024;
    const auto record = record_of(p);
    CHECK(record.loaded[0] == 7680);
    for (std::size_t byte = 0; byte < 1024; ++byte) CHECK(record.read_count[0][byte] == (byte < 512 ? 8 : 7));
}

TEST_CASE("CTAs side by side share the array, one stride apart they do the same", "[kernels]") {
    kernels::Stream::Parameters p;
    p.threads = 32, p.element = 16, p.unroll = 2, p.steps = 3, p.grid = 8, p.stride = 4;
    p.array_bytes = 4 * 6 * 512;
    const auto record = record_of(p);
    for (const auto count : record.read_count[0]) CHECK(count == 2);
}
