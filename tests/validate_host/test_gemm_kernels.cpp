// The matrix kernels of the twins, run on emulated threads.
#include "tests/validate_host/emulated.h"
#include "validate/twins/kernels/conv2d.h"
#include "validate/twins/kernels/direct_window.h"
#include "validate/twins/kernels/gemm.h"
#include "validate/twins/kernels/sgemm.h"
#include "validate/twins/kernels/split_k_reduce.h"
#include "validate/twins/plans.h"

using namespace rafter;
using namespace rafter::validate;

namespace {

template <class Shape, class T>
double gemm_run(int m, int n, int k, int splits, emulation::Order order) {
    const RandomTensor ta{dtype_of<T>(), 1, 1.0F}, tb{dtype_of<T>(), 2, 1.0F};
    const auto a = filled<T>(ta, m * k), b = filled<T>(tb, n * k);
    auto c = unwritten<T>(m * n);
    const int k_per_split = ceil_of(ceil_of(k, Shape::kK), splits) * Shape::kK;
    splits = ceil_of(k, k_per_split);
    auto partials = unwritten<float>(splits > 1 ? splits * m * n : 1);
    const RowSource<T> left{a.data(), k, m, k, k % 8 == 0}, right{b.data(), k, n, k, k % 8 == 0};
    const GemmOutput<T> out{c.data(), partials.data(), m, n, k, splits, k_per_split, n % 8 == 0};
    const int grid = ceil_of(m, Shape::kM) * ceil_of(n, Shape::kN) * splits;
    emulation::run({grid, Shape::kThreads, Shape::kSharedBytes, false, order},
                   [&] { gemm_kernel<Shape, T, RowSource<T>>(left, right, out); });
    if (splits > 1) {
        emulation::run({ceil_of(m * n, kReduceElements), kReduceThreads, 0, false, order},
                       [&] { split_k_reduce_kernel<T>(partials.data(), c.data(), m * n, splits); });
    }
    return gemm_error(m, n, k, ta, tb, as_floats(c));
}

template <class Shape, class T>
void check_gemm(int m, int n, int k, int splits = 1) {
    INFO(m << " x " << n << " x " << k << ", splits " << splits);
    check_orders(dtype_of<T>(), [&](emulation::Order order) { return gemm_run<Shape, T>(m, n, k, splits, order); });
}

using Large = TileShape<128, 128, 32, 3, 2, 2>;
using Small = TileShape<64, 64, 32, 4, 2, 2>;

void check_sgemm(int m, int n, int k) {
    INFO(m << " x " << n << " x " << k);
    const RandomTensor ta{DType::fp32, 1, 1.0F}, tb{DType::fp32, 2, 1.0F};
    const auto a = filled<float>(ta, m * k), b = filled<float>(tb, n * k);
    check_orders(DType::fp32, [&](emulation::Order order) {
        auto c = unwritten<float>(m * n);
        const SgemmArguments args{a.data(), b.data(), c.data(), m, n, k, k % 4 == 0};
        emulation::run({ceil_of(m, 128) * ceil_of(n, 128), SgemmShape::kThreads, SgemmShape::kSharedBytes, false, order},
                       [&] { sgemm_kernel(args); });
        return gemm_error(m, n, k, ta, tb, c);
    });
}

template <class T>
void check_conv(const Conv& conv) {
    INFO(conv.c << " channels, " << conv.r << " x " << conv.s);
    const int m = conv.n * conv.p() * conv.q(), depth = conv.r * conv.s * conv.c;
    const RandomTensor ti{dtype_of<T>(), 1, 1.0F}, tw{dtype_of<T>(), 2, 1.0F};
    const auto image = filled<T>(ti, conv.n * conv.h * conv.w * conv.c), weights = filled<T>(tw, conv.k * depth);
    check_orders(dtype_of<T>(), [&](emulation::Order order) {
        auto c = unwritten<T>(m * conv.k);
        const PatchSource<T> patches{image.data(), conv, depth, conv.c % 8 == 0};
        const RowSource<T> filters{weights.data(), depth, conv.k, depth, depth % 8 == 0};
        const GemmOutput<T> out{c.data(), nullptr, m, conv.k, depth, 1, depth, conv.k % 8 == 0};
        emulation::run({ceil_of(m, Small::kM) * ceil_of(conv.k, Small::kN), Small::kThreads, Small::kSharedBytes, false, order},
                       [&] { gemm_kernel<Small, T, PatchSource<T>>(patches, filters, out); });
        return conv_error(conv, false, ti, tw, as_floats(c));
    });
}

template <class T>
void check_depthwise(const Conv& conv) {
    const RandomTensor ti{dtype_of<T>(), 1, 1.0F}, tw{dtype_of<T>(), 2, 1.0F};
    const auto image = filled<T>(ti, conv.n * conv.h * conv.w * conv.c), weights = filled<T>(tw, conv.r * conv.s * conv.c);
    const int tiles = conv.n * ceil_of(conv.p(), 8) * ceil_of(conv.q(), 16) * ceil_of(conv.c, DirectWindow::kChannels<T>);
    check_orders(dtype_of<T>(), [&](emulation::Order order) {
        auto out = unwritten<T>(conv.n * conv.p() * conv.q() * conv.c);
        emulation::run({tiles, DirectWindow::kThreads, 0, false, order},
                       [&] { direct_window_kernel<T>(conv, image.data(), weights.data(), out.data()); });
        return conv_error(conv, true, ti, tw, as_floats(out));
    });
}

}  // namespace

TEST_CASE("the tensor-core product is right for whole, partial and odd tiles", "[twins][gemm]") {
    check_gemm<Small, half_t>(64, 64, 32);
    check_gemm<Small, half_t>(64, 64, 256);
    check_gemm<Small, bfloat_t>(65, 72, 40);
    check_gemm<Small, half_t>(1, 8, 8);
    check_gemm<Small, half_t>(70, 130, 100);  // k is no multiple of 8: the scalar way in
    check_gemm<Small, bfloat_t>(33, 37, 51);  // and the scalar way out
    check_gemm<Large, half_t>(128, 128, 96);
    check_gemm<Large, bfloat_t>(130, 136, 72);
}

TEST_CASE("splits of k add up, also when the last is short", "[twins][gemm]") {
    check_gemm<Small, half_t>(48, 56, 320, 4);
    check_gemm<Small, half_t>(65, 33, 200, 3);
    check_gemm<Small, bfloat_t>(16, 16, 96, 8);  // fewer blocks than splits wanted
}

TEST_CASE("tiles are walked in groups of eight rows, each once", "[twins][gemm]") {
    check_gemm<Small, half_t>(64 * 9 + 1, 64 * 2, 32);
    std::vector<int> seen(19 * 5, 0);
    for (int i = 0; i < 19 * 5; ++i) {
        const TilePlace place = raster(i, 19, 5);
        ++seen.at(static_cast<std::size_t>(place.row * 5 + place.column));
    }
    CHECK(seen == std::vector<int>(19 * 5, 1));
}

TEST_CASE("the fp32 product is right for whole, partial and odd tiles", "[twins][gemm]") {
    check_sgemm(128, 128, 32);
    check_sgemm(129, 140, 20);
    check_sgemm(3, 5, 7);
    check_sgemm(100, 260, 65);
}

TEST_CASE("the convolution is right with padding, strides and few channels", "[twins][conv]") {
    check_conv<half_t>({2, 16, 9, 7, 24, 3, 3, 1, 1, 1, 1});
    check_conv<bfloat_t>({1, 8, 11, 12, 64, 5, 3, 2, 3, 2, 0});
    check_conv<half_t>({2, 3, 15, 15, 40, 7, 7, 2, 2, 3, 3});  // three channels: the scalar way in
    check_conv<half_t>({3, 32, 6, 6, 70, 1, 1, 1, 1, 0, 0});
}

TEST_CASE("the depthwise convolution is right", "[twins][conv]") {
    check_depthwise<half_t>({2, 72, 11, 19, 72, 3, 3, 1, 1, 1, 1});
    check_depthwise<float>({1, 36, 20, 9, 36, 5, 5, 2, 2, 2, 2});
}
