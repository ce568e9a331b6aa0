#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "sim/core/dtype.h"
#include "tests/catch.h"

using namespace rafter;

TEST_CASE("every format has its name and its exact width", "[core][dtype]") {
    const std::vector<std::pair<std::string, std::int64_t>> expected{
        {"fp64", 64}, {"fp32", 32}, {"tf32", 32}, {"fp16", 16}, {"bf16", 16},  {"fp8", 8},    {"int8", 8},
        {"int4", 4},  {"fp4", 4},   {"nf4", 4},   {"fp6", 6},   {"int32", 32}, {"int64", 64},
    };
    REQUIRE(dtype_names().size() == expected.size());
    for (const auto& [text, width] : expected) {
        INFO(text);
        const auto type = parse_dtype(text);
        REQUIRE(type.has_value());
        CHECK(name(*type) == text);
        CHECK(bits(*type) == width);
    }
    for (const std::string& text : dtype_names()) {
        INFO(text);
        CHECK(parse_dtype(text).has_value());
    }
}

TEST_CASE("each enumerator is described by its own row", "[core][dtype]") {
    CHECK(name(DType::fp64) == "fp64");
    CHECK(name(DType::tf32) == "tf32");
    CHECK(name(DType::bf16) == "bf16");
    CHECK(name(DType::int4) == "int4");
    CHECK(name(DType::nf4) == "nf4");
    CHECK(name(DType::fp6) == "fp6");
    CHECK(name(DType::int64) == "int64");
}

TEST_CASE("aliases are read, other spellings are not", "[core][dtype]") {
    CHECK(parse_dtype("e4m3") == DType::fp8);
    CHECK(parse_dtype("e5m2") == DType::fp8);
    CHECK(parse_dtype("half") == DType::fp16);
    CHECK_FALSE(parse_dtype("").has_value());
    CHECK_FALSE(parse_dtype("FP16").has_value());
    CHECK_FALSE(parse_dtype("fp1").has_value());
    CHECK_FALSE(parse_dtype("fp16 ").has_value());
}

TEST_CASE("storage rounds up to a whole byte", "[core][dtype]") {
    CHECK(storage(DType::int4, 0) == Bytes(0));
    CHECK(storage(DType::int4, 1) == Bytes(1));
    CHECK(storage(DType::int4, 2) == Bytes(1));
    CHECK(storage(DType::int4, 3) == Bytes(2));
    CHECK(storage(DType::fp6, 1) == Bytes(1));
    CHECK(storage(DType::fp6, 3) == Bytes(3));  // 18 bits
    CHECK(storage(DType::fp6, 4) == Bytes(3));  // 24 bits
    CHECK(storage(DType::tf32, 5) == Bytes(20));
    CHECK(storage(DType::fp64, 5) == Bytes(40));
}

TEST_CASE("storage does not overflow where the bits pass 2^63", "[core][dtype]") {
    const std::int64_t elements = std::int64_t{1} << 59;  // x 64 bits = 2^65 bits
    CHECK(storage(DType::fp64, elements) == Bytes(std::int64_t{1} << 62));
}
