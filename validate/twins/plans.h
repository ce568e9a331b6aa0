// How a twin is launched for a shape: the choices a library would make, as plain arithmetic (no CUDA).
#pragma once

#include <cstdint>
#include <string>

#include "sim/core/dtype.h"
#include "validate/twins/parameters.h"

namespace rafter::validate {

struct GemmPlan {
    int tile_m{}, tile_n{}, tile_k{};
    int splits{1}, k_per_split{};
    std::string variant;  ///< "twin_mma_128x128x32x3_splitk4"
    std::int64_t workspace_bytes(std::int64_t m, std::int64_t n) const { return splits > 1 ? splits * m * n * 4 : 0; }
    std::int64_t grid(std::int64_t m, std::int64_t n) const;
};

/// fp16 and bf16 on the tensor cores, fp32 on the FMA lanes. Large tiles when they fill the SMs, else small ones, and k is split
/// while SMs would be idle and every split keeps eight k blocks.
GemmPlan plan_gemm(DType dtype, std::int64_t m, std::int64_t n, std::int64_t k, int sms);

/// FlashAttention's num_splits_heuristic, as sim/kernels/attention_decode.cpp: `slots` is twice the SMs.
int plan_splits(std::int64_t work, std::int64_t slots, std::int64_t kv_blocks);

struct RowPlan {
    int threads{}, packs{};  ///< packs: 1 or 4 held a thread, 0: the row is read again
    bool wide{};             ///< sixteen bytes at a time
};
RowPlan plan_rows(DType dtype, std::int64_t cols);

}  // namespace rafter::validate
