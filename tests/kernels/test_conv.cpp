#include <set>

#include "tests/kernels/layers.h"

using namespace rafter;
using test::layer_of;
using workload::Conv2d;

namespace {

Conv2d conv(std::int64_t n, std::int64_t c, std::int64_t h, std::int64_t w, std::int64_t k, std::int64_t r, std::int64_t s) {
    Conv2d op;
    op.n = n, op.c = c, op.h = h, op.w = w, op.k = k, op.r = r, op.s = s;
    return op;
}

void infer(Conv2d& op) {
    op.p = (op.h + op.pad_top + op.pad_bottom - (op.r - 1) * op.dilation_h - 1) / op.stride_h + 1;
    op.q = (op.w + op.pad_left + op.pad_right - (op.s - 1) * op.dilation_w - 1) / op.stride_w + 1;
}

/// Pixels some tap of some output falls on, padding left out.
std::int64_t touched_elements(const Conv2d& op) {
    std::set<std::int64_t> rows, columns;
    for (std::int64_t p = 0; p < op.p; ++p)
        for (std::int64_t r = 0; r < op.r; ++r) rows.insert(p * op.stride_h - op.pad_top + r * op.dilation_h);
    for (std::int64_t q = 0; q < op.q; ++q)
        for (std::int64_t s = 0; s < op.s; ++s) columns.insert(q * op.stride_w - op.pad_left + s * op.dilation_w);
    std::int64_t y = 0, x = 0;
    for (const auto v : rows) y += v >= 0 && v < op.h ? 1 : 0;
    for (const auto v : columns) x += v >= 0 && v < op.w ? 1 : 0;
    return op.n * y * x * op.c;
}

/// Taps of all outputs that are not padding, times the channels of a group: elements an implicit GEMM gathers.
std::int64_t gathered_elements(const Conv2d& op) {
    std::int64_t y = 0, x = 0;
    for (std::int64_t p = 0; p < op.p; ++p)
        for (std::int64_t r = 0; r < op.r; ++r) {
            const std::int64_t v = p * op.stride_h - op.pad_top + r * op.dilation_h;
            y += v >= 0 && v < op.h ? 1 : 0;
        }
    for (std::int64_t q = 0; q < op.q; ++q)
        for (std::int64_t s = 0; s < op.s; ++s) {
            const std::int64_t v = q * op.stride_w - op.pad_left + s * op.dilation_w;
            x += v >= 0 && v < op.w ? 1 : 0;
        }
    return op.n * y * x * op.c;
}

void check_gather(const Conv2d& op, const config::HwConfig& gpu) {
    const auto launches = lowering::lower(layer_of(op), gpu);
    const auto& kernel = launches.at(0).kernel;
    const auto r = test::record(kernel, true);
    std::int64_t touched = 0;
    for (const auto times : r.read_count[0]) touched += times > 0 ? 1 : 0;
    CHECK(touched == touched_elements(op) * 2);
    // Every column of tiles gathers the image once.
    CHECK(r.loaded[0] % (gathered_elements(op) * 2) == 0);
    test::each_byte_touched(r.read_count[1]);
    const auto last = test::record(launches.back().kernel, true);
    test::each_byte_once(last.write_count.back());
    CHECK(r.macs == kernel.issued_macs);
    CHECK(r.macs >= Count(op.n) * op.p * op.q * op.k * op.r * op.s * (op.c / op.groups));
}

}  // namespace

TEST_CASE("Implicit GEMM reads every pixel a tap falls on and no padding", "[kernels][conv]") {
    std::vector<Conv2d> cases;
    cases.push_back(conv(2, 64, 14, 14, 128, 1, 1));  // pointwise
    cases.push_back(conv(1, 64, 15, 13, 64, 3, 3));
    cases.back().pad_top = cases.back().pad_left = cases.back().pad_bottom = cases.back().pad_right = 1;
    cases.push_back(conv(2, 64, 28, 28, 96, 1, 1));  // strided: a quarter of the image is never touched
    cases.back().stride_h = cases.back().stride_w = 2;
    cases.push_back(conv(1, 32, 17, 19, 40, 3, 3));  // asymmetric padding and stride
    cases.back().pad_top = 2, cases.back().pad_right = 1, cases.back().stride_w = 2;
    cases.push_back(conv(1, 64, 20, 20, 64, 3, 3));  // dilated
    cases.back().dilation_h = cases.back().dilation_w = 2, cases.back().pad_top = cases.back().pad_left = 2;
    cases.push_back(conv(1, 3, 30, 31, 64, 7, 7));  // first layer: taps of a row are one run
    cases.back().stride_h = cases.back().stride_w = 2;
    cases.back().pad_top = cases.back().pad_left = cases.back().pad_bottom = cases.back().pad_right = 3;
    cases.push_back(conv(1, 96, 9, 9, 64, 3, 3));  // grouped
    cases.back().groups = 4, cases.back().pad_top = cases.back().pad_left = 1;
    cases.push_back(
        conv(2, 160, 7, 7, 320, 1, 5));  // channels that do not fill the k block; a window as wide as the image nearly
    cases.back().pad_left = 4, cases.back().pad_right = 4;
    for (Conv2d& op : cases) {
        infer(op);
        INFO("k " << op.k << " c " << op.c << " r " << op.r << " s " << op.s);
        check_gather(op, test::a100());
        check_gather(op, test::h100());
        check_gather(op, test::v100());
    }
}

TEST_CASE("Depthwise convolution reads each weight per block and writes each output once", "[kernels][conv]") {
    Conv2d op = conv(2, 96, 19, 23, 96, 3, 3);
    op.groups = 96;
    op.pad_top = op.pad_left = op.pad_bottom = op.pad_right = 1;
    for (const std::int64_t stride : {1, 2}) {
        op.stride_h = op.stride_w = stride;
        infer(op);
        const auto kernel = lowering::lower(layer_of(op), test::a100()).at(0).kernel;
        CHECK_FALSE(kernel.tensor);
        const auto r = test::record(kernel, true);
        std::int64_t touched = 0;
        for (const auto times : r.read_count[0]) touched += times > 0 ? 1 : 0;
        CHECK(touched == touched_elements(op) * 2);
        test::each_byte_once(r.write_count.back());
        CHECK(r.fma >= 2 * 96 * op.p * op.q * 9);
        CHECK(r.macs == 0);
    }
}

TEST_CASE("Pooling writes each output once and touches the whole image", "[kernels][pool]") {
    workload::Pool2d op;
    op.n = 2, op.c = 64, op.h = 112, op.w = 112, op.r = op.s = 3, op.stride_h = op.stride_w = 2;
    op.pad_top = op.pad_left = op.pad_bottom = op.pad_right = 1, op.p = op.q = 56;
    const auto r = test::record(lowering::lower(layer_of(op), test::a100()).at(0).kernel, true);
    test::each_byte_touched(r.read_count[0]);
    test::each_byte_once(r.write_count.back());
    CHECK(r.loaded[0] < 2 * 112 * 112 * 64 * 2 * 3 / 2);  // the halo is a small part
}

TEST_CASE("Bias and residual of a convolution are read in the epilogue", "[kernels][conv]") {
    Conv2d op = conv(1, 64, 28, 28, 128, 1, 1);
    op.bias = op.residual = true;
    infer(op);
    auto layer = layer_of(op);
    layer.inputs = {{"x", Bytes(28 * 28 * 64 * 2)}, {"skip", Bytes(28 * 28 * 128 * 2)}};
    layer.parameters = {{"weight", Bytes((128 * 64 + 128) * 2)}};
    layer.outputs = {{"y", Bytes(28 * 28 * 128 * 2)}};
    const auto launches = lowering::lower(layer, test::a100());
    const auto& kernel = launches.back().kernel;
    const auto r = test::record(kernel, true);
    test::each_byte_once(r.read_count[test::argument_index(kernel, "skip")]);
    const auto& weight = r.read_count[test::argument_index(kernel, "weight")];
    for (std::size_t i = 128 * 64 * 2; i < weight.size(); ++i) REQUIRE(weight[i] > 0);  // the bias lies behind the weights
}
