// Number formats and their exact sizes.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sim/core/quantity.h"

namespace rafter {

/// Storage and compute formats. tf32 is stored in 32 bits and multiplied on tensor cores.
enum class DType : std::uint8_t { fp64, fp32, tf32, fp16, bf16, fp8, int8, int4, fp4, nf4, fp6, int32, int64 };

std::int64_t bits(DType t);
std::string_view name(DType t);
/// Accepts the names of `dtype_names()` and the aliases e4m3, e5m2 (fp8), half (fp16).
std::optional<DType> parse_dtype(std::string_view text);
const std::vector<std::string>& dtype_names();

/// Bytes of `elements` values, rounded up to a whole byte. Sub-byte formats are exact: 3 int4 values take 2 bytes.
Bytes storage(DType t, std::int64_t elements);

}  // namespace rafter
