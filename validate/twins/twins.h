// The twins as functions: device pointers in, a launch on a stream. Layouts are those of the kernels (twins/kernels/*.h);
// pointers start at 16 bytes. Errors: CudaError.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "sim/core/dtype.h"
#include "validate/twins/parameters.h"
#include "validate/twins/plans.h"

namespace rafter::validate {

struct GemmBuffers {
    const void *a, *b;
    void* c;
    float* workspace;  ///< GemmPlan::workspace_bytes
};
void launch_gemm(const GemmPlan& plan, DType dtype, int m, int n, int k, const GemmBuffers& buffers, cudaStream_t stream);
/// fp32 partial sums [split][elements] to `dtype`.
void launch_split_k_reduce(DType dtype, const float* partials, void* out, std::int64_t elements, int splits, cudaStream_t stream);

/// Implicit GEMM, NHWC, KRSC; fp16 and bf16.
void launch_conv2d(DType dtype, const Conv& conv, const void* image, const void* weights, void* out, cudaStream_t stream);
/// Depthwise, weights [r][s][c]; channels are a multiple of sixteen bytes.
void launch_direct_window(DType dtype, const Conv& conv, const void* image, const void* weights, void* out, cudaStream_t stream);

struct PrefillBuffers {
    const void *q, *k, *v;
    void* out;
};
/// head_dim 64 or 128; fp16 and bf16. `shared_limit`: what a CTA may ask for, decides between 128 and 64 rows.
void launch_attention_prefill(DType dtype, const Attention& p, int shared_limit, const PrefillBuffers& buffers,
                              cudaStream_t stream);

struct DecodeBuffers {
    const void *q, *new_k, *new_v;
    void *cache_k, *cache_v, *out;
    float *partials, *log_sums;
    int capacity;
};
/// CTAs without a split; the split count is plan_splits of it.
std::int64_t decode_work(const Attention& p);
int decode_splits(const Attention& p, int sms);
void launch_attention_decode(DType dtype, const Attention& p, int splits, const DecodeBuffers& buffers, cudaStream_t stream);

void launch_embedding_bag(DType dtype, const Embedding& p, const long long* indices, const void* tables, void* out,
                          cudaStream_t stream);

struct CellBuffers {
    const void *inputs, *weights;
    void* states;
    float* cell;
};
/// p.steps launches of the step kernel.
void launch_rnn_steps(DType dtype, const Recurrent& p, const CellBuffers& buffers, cudaStream_t stream);
enum class Persistence : std::uint8_t { none, streamed, resident };
/// What one cooperative kernel can do here: nothing when its CTAs do not fit the machine at once.
Persistence rnn_persistence(DType dtype, const Recurrent& p, int sms, int shared_limit);
void launch_rnn_persistent(DType dtype, const Recurrent& p, Persistence persistence, const CellBuffers& buffers,
                           cudaStream_t stream);

void launch_elementwise(PointOp op, DType dtype, std::int64_t elements, const void* a, const void* b, void* out,
                        cudaStream_t stream);

struct RowBuffers {
    const void *in, *scale, *shift;
    void* out;
};
void launch_row_reduction(RowOp op, DType dtype, int rows, int cols, const RowBuffers& buffers, cudaStream_t stream);

/// Element i becomes random_value(seed, i, scale) rounded to the type (fp32, fp16, bf16).
void launch_fill(DType dtype, void* to, std::int64_t elements, std::uint64_t seed, float scale, cudaStream_t stream);

}  // namespace rafter::validate
