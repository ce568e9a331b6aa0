#include <random>

#include "tests/workload/helpers.h"

using namespace rafter;
using namespace rafter::workload;
using namespace rafter::workload::test;

TEST_CASE("C013 grouped convolution", "[workload]") {
    const Counts counts = count(layer_of("op: conv2d, n: 1, c: 128, h: 56, w: 56, k: 128, kernel: 3, padding: 1, groups: 32"));
    CHECK(text(counts.macs) == "14450688");  // 56 * 56 * 128 * 4 * 9
    CHECK(counts.parameter_bytes.value == 128 * 4 * 9 * 2);
}

TEST_CASE("C014 groups that do not divide the channels", "[workload]") {
    const std::string error = layer_error("op: conv2d, n: 1, c: 100, h: 8, w: 8, k: 64, kernel: 3, groups: 32");
    CHECK(error.find("channels not divisible by groups: c = 100, k = 64, groups = 32") != std::string::npos);
}

TEST_CASE("C016 asymmetric padding is top, left, bottom, right", "[workload]") {
    const std::string conv = "op: conv2d, n: 1, c: 3, h: 224, w: 224, k: 32, kernel: 3, stride: 2, padding: ";
    const Layer same = layer_of(conv + "[0, 0, 1, 1]");
    const auto& operation = std::get<Conv2d>(same.operation);
    CHECK(operation.p == 112);
    CHECK(operation.q == 112);
    CHECK(text(count(same).macs) == "10838016");  // 112 * 112 * 32 * 27
    const auto halo = std::get<Conv2d>(layer_of(conv + "[2, 0, 0, 1]").operation);
    CHECK(halo.pad_top == 2);
    CHECK(halo.pad_left == 0);
    CHECK(halo.pad_bottom == 0);
    CHECK(halo.pad_right == 1);
    const Counts swapped = count(layer_of(conv + "[1, 1, 0, 0]"));
    CHECK(swapped.macs == count(same).macs);
}

TEST_CASE("C017 padding is neither fetched nor paid", "[workload]") {
    const Counts counts = count(layer_of("op: conv2d, n: 1, c: 3, h: 224, w: 224, k: 64, kernel: 7, stride: 2, padding: 3"));
    CHECK(text(counts.macs) == "118013952");  // 112 * 112 * 64 * 147
    CHECK(counts.input_bytes.value == 224 * 224 * 3 * 2);
}

TEST_CASE("C019 a kernel larger than the padded input names the output size", "[workload]") {
    const std::string error = layer_error("op: conv2d, n: 1, c: 1, h: 3, w: 3, k: 1, kernel: 7");
    CHECK(error.find("the output would be -3 high: floor((3 + 0 padding - 7 kernel) / 1 stride) + 1") != std::string::npos);
    CHECK(error.find("the output would be -3 wide") != std::string::npos);
    CHECK(layer_error("op: conv2d, n: 1, c: 1, h: 3, w: 3, k: 1, kernel: 4, stride: 2").find("would be 0 high") !=
          std::string::npos);
}

TEST_CASE("padding is one number or four", "[workload]") {
    CHECK(layer_error("op: conv2d, n: 1, c: 1, h: 3, w: 3, k: 1, kernel: 1, padding: [1, 1]")
              .find("expected one number or [top, left, bottom, right], found 2 numbers") != std::string::npos);
}

namespace {

struct Brute {
    std::int64_t p{0}, q{0}, macs{0};
};

/// Every output that exists, every product of it: padded positions count as products with zero, as the MAC convention has it.
Brute loop_nest(const Conv2d& c) {
    Brute b;
    const std::int64_t height = c.h + c.pad_top + c.pad_bottom, width = c.w + c.pad_left + c.pad_right;
    for (std::int64_t y = 0; y + (c.r - 1) * c.dilation_h < height; y += c.stride_h) ++b.p;
    for (std::int64_t x = 0; x + (c.s - 1) * c.dilation_w < width; x += c.stride_w) ++b.q;
    for (std::int64_t n = 0; n < c.n; ++n)
        for (std::int64_t k = 0; k < c.k; ++k)
            for (std::int64_t at = 0; at < b.p * b.q; ++at)
                for (std::int64_t ch = 0; ch < c.c; ++ch)
                    if (ch / (c.c / c.groups) == k / (c.k / c.groups)) b.macs += c.r * c.s;
    return b;
}

}  // namespace

TEST_CASE("convolution counts equal a loop nest for random parameters", "[workload]") {
    std::mt19937 random(20240229);
    const auto pick = [&](int from, int to) { return std::uniform_int_distribution<int>(from, to)(random); };
    for (int trial = 0; trial < 60; ++trial) {
        const int groups = pick(1, 3);
        const std::string fields = fmt::format(
            "op: conv2d, n: {}, c: {}, h: {}, w: {}, k: {}, r: {}, s: {}, stride_h: {}, stride_w: {}, dilation_h: {}, "
            "dilation_w: {}, groups: {}, padding: [{}, {}, {}, {}]",
            pick(1, 2), groups * pick(1, 3), pick(7, 12), pick(7, 12), groups * pick(1, 3), pick(1, 3), pick(1, 3), pick(1, 3),
            pick(1, 3), pick(1, 3), pick(1, 3), groups, pick(0, 3), pick(0, 3), pick(0, 3), pick(0, 3));
        INFO(fields);
        const Layer layer = layer_of(fields);
        const auto& c = std::get<Conv2d>(layer.operation);
        const Brute expected = loop_nest(c);
        CHECK(c.p == expected.p);
        CHECK(c.q == expected.q);
        CHECK(text(count(layer).macs) == fmt::format("{}", expected.macs));
        CHECK(count(layer).output_bytes.value == c.n * c.k * expected.p * expected.q * 2);
    }
}

TEST_CASE("pooling", "[workload]") {
    const Layer layer = layer_of("op: pool2d, n: 2, c: 64, h: 112, w: 112, kernel: 3, stride: 2, padding: 1");
    const auto& pool = std::get<Pool2d>(layer.operation);
    CHECK(pool.p == 56);
    CHECK(text(count(layer).macs) == "0");
    CHECK(count(layer).output_bytes.value == 2 * 64 * 56 * 56 * 2);
}
