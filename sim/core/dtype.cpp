#include "sim/core/dtype.h"

#include <algorithm>
#include <array>

namespace rafter {

namespace {

struct Format {
    DType type;
    std::string_view name;
    std::int64_t bits;
};

constexpr std::array kFormats{
    Format{DType::fp64, "fp64", 64},   Format{DType::fp32, "fp32", 32}, Format{DType::tf32, "tf32", 32},
    Format{DType::fp16, "fp16", 16},   Format{DType::bf16, "bf16", 16}, Format{DType::fp8, "fp8", 8},
    Format{DType::int8, "int8", 8},    Format{DType::int4, "int4", 4},  Format{DType::fp4, "fp4", 4},
    Format{DType::nf4, "nf4", 4},      Format{DType::fp6, "fp6", 6},    Format{DType::int32, "int32", 32},
    Format{DType::int64, "int64", 64},
};

const Format& format(DType t) { return kFormats[static_cast<std::size_t>(t)]; }

}  // namespace

std::int64_t bits(DType t) { return format(t).bits; }

std::string_view name(DType t) { return format(t).name; }

std::optional<DType> parse_dtype(std::string_view text) {
    if (text == "e4m3" || text == "e5m2") return DType::fp8;
    if (text == "half") return DType::fp16;
    const auto it = std::find_if(kFormats.begin(), kFormats.end(), [&](const Format& f) { return f.name == text; });
    if (it == kFormats.end()) return std::nullopt;
    return it->type;
}

const std::vector<std::string>& dtype_names() {
    static const std::vector<std::string> names = [] {
        std::vector<std::string> all;
        for (const Format& f : kFormats) all.emplace_back(f.name);
        return all;
    }();
    return names;
}

Bytes storage(DType t, std::int64_t elements) {
    __extension__ using Wide = __int128;
    return Bytes(static_cast<std::int64_t>((Wide{elements} * bits(t) + 7) / 8));
}

}  // namespace rafter
