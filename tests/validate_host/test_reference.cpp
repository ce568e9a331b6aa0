// The references against sums written out by hand, and their refusal of NaN.
#include "validate/host/reference.h"

#include <cmath>

#include "tests/catch.h"
#include "validate/host/random.h"

using namespace rafter;
using namespace rafter::validate;

TEST_CASE("random values are uniform, repeatable and rounded to the type", "[validate]") {
    const RandomTensor a{DType::fp32, 7, 1.0F}, b{DType::fp32, 8, 1.0F};
    double sum = 0, squares = 0;
    for (int i = 0; i < 10000; ++i) {
        CHECK((a(i) >= -1 && a(i) < 1));
        sum += a(i), squares += a(i) * a(i);
    }
    CHECK(std::abs(sum / 10000) < 0.02);
    CHECK(squares / 10000 == Approx(1.0 / 3).margin(0.01));
    CHECK(a(5) == a(5));
    CHECK(a(5) != b(5));
    CHECK(rounded(DType::bf16, 1.00390625F) == 1.0);  // half an ulp: to even
    CHECK(rounded(DType::fp16, 2049.0F) == 2048.0);
    CHECK(decode(DType::fp16, encode(DType::fp16, {1.5F, -2.0F}).data(), 2) == std::vector<float>{1.5F, -2.0F});
}

TEST_CASE("errors are relative, and a result that is not finite fails", "[validate]") {
    std::vector<float> c{1, 2, 3, 4};
    Comparison same(c);
    same.row(0, {1, 2, 3, 4});
    CHECK(same.error() == 0);
    Comparison apart(c);
    apart.row(0, {1, 2, 3, 5});
    CHECK(apart.error() == Approx(1 / std::sqrt(39.0)));
    c[0] = std::nanf("");
    Comparison broken(c);
    broken.row(2, {3, 4});  // rows that are not compared count as well
    CHECK(std::isnan(broken.error()));
    CHECK_FALSE(acceptable(broken.error(), 1.0));
    CHECK_FALSE(acceptable(std::numeric_limits<double>::infinity(), 1.0));
}

TEST_CASE("rows are sampled without repeats, the ends always", "[validate]") {
    CHECK(sample_rows(3, 8, 1) == std::vector<std::int64_t>{0, 1, 2});
    const auto some = sample_rows(1000, 8, 1);
    CHECK((some.size() == 8 && some.front() == 0 && some.back() == 999));
}

TEST_CASE("the product's reference: [1 2; 3 4] times [5 6; 7 8] transposed", "[validate]") {
    const auto a = [](std::int64_t i) { return static_cast<double>(i + 1); };
    const auto b = [](std::int64_t i) { return static_cast<double>(i + 5); };
    CHECK(gemm_error(2, 2, 2, a, b, {17, 23, 39, 53}) == 0);  // 1*5+2*6, 1*7+2*8, 3*5+4*6, 3*7+4*8
    CHECK(gemm_error(2, 2, 2, a, b, {17, 23, 39, 54}) > 0.01);
}

TEST_CASE("the convolution's reference: 3 x 3 ones over ones counts the taps inside", "[validate]") {
    const auto one = [](std::int64_t) { return 1.0; };
    const Conv conv{1, 2, 3, 3, 1, 3, 3, 1, 1, 1, 1};
    CHECK(conv_error(conv, false, one, one, {8, 12, 8, 12, 18, 12, 8, 12, 8}) == 0);  // 2 channels x 4, 6 or 9 taps
    const Conv single{1, 1, 3, 3, 1, 3, 3, 1, 1, 1, 1};
    CHECK(conv_error(single, true, one, one, {4, 6, 4, 6, 9, 6, 4, 6, 4}) == 0);
}

TEST_CASE("attention's reference: equal scores average the keys that are seen", "[validate]") {
    const Attention p{1, 1, 1, 2, 2, 3, true};
    const auto zero = [](std::int64_t) { return 0.0; };
    const auto v = [](std::int64_t i) { return static_cast<double>(i); };  // rows (0,1) (2,3) (4,5)
    CHECK(attention_error(p, {zero, zero, v}, {1, 2, 2, 3}) < 1e-15);      // two keys, then three
}

TEST_CASE("the recurrent references for one unit, one step", "[validate]") {
    const auto one = [](std::int64_t) { return 1.0; };
    const auto zero = [](std::int64_t) { return 0.0; };
    const double s = 1 / (1 + std::exp(-1.0)), t = std::tanh(1.0);
    const auto check = [&](int gates, double expected) {
        const std::vector<float> states{0.0F, static_cast<float>(expected)};
        CHECK(recurrent_error({1, 1, 1, gates}, DType::fp32, {one, one, zero}, states) < 1e-7);
    };
    check(1, t);
    check(3, (1 - s) * t);           // the state before is zero
    check(4, s * std::tanh(s * t));  // so is the cell
}

TEST_CASE("bags, points and rows", "[validate]") {
    const auto id = [](std::int64_t i) { return static_cast<double>(i); };
    const auto one = [](std::int64_t) { return 1.0; };
    CHECK(embedding_error({1, 2, 2, 2, 3}, {0, 2, 1, 1}, id, {4, 6, 4, 6}) == 0);  // rows 0 + 2, 1 + 1
    CHECK(point_error(PointOp::add, 3, id, one, {1, 2, 3}) == 0);
    CHECK(point_error(PointOp::relu, 2, [](std::int64_t i) { return i == 0 ? -1.0 : 2.0; }, one, {0, 2}) == 0);
    CHECK(rows_error(RowOp::softmax, 1, 2, one, one, one, {0.5F, 0.5F}) == 0);
    CHECK(rows_error(RowOp::layernorm, 1, 2, [](std::int64_t i) { return i == 0 ? -1.0 : 1.0; }, one, one, {0, 2}) < 1e-5);
    CHECK(rows_error(RowOp::rmsnorm, 1, 2, [](std::int64_t) { return 3.0; }, one, one, {1, 1}) < 1e-5);
}
