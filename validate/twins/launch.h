// Helpers of the .cu files: one checked way to launch, and from a dtype at run time to a type.
#pragma once

#include <cuda_runtime.h>

#include <limits>
#include <map>

#include "sim/core/dtype.h"
#include "sim/core/error.h"
#include "validate/cuda/check.h"
#include "validate/twins/kernels/device.h"

namespace rafter::validate {

constexpr int kSharedWithoutAsking = 48 * 1024;

/// More than 48 KiB of shared memory are asked for once a kernel, not once a launch.
inline void allow_shared(const void* kernel, int bytes) {
    static std::map<const void*, int> allowed;
    if (bytes <= kSharedWithoutAsking || allowed[kernel] >= bytes) return;
    RAFTER_CUDA(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes));
    allowed[kernel] = bytes;
}

inline unsigned checked_grid(long long grid) {
    RAFTER_CHECK(grid > 0 && grid <= std::numeric_limits<int>::max(), "a grid that a launch cannot hold");
    return static_cast<unsigned>(grid);
}

struct LaunchShape {
    long long grid;
    int threads;
    int shared_bytes{0};
};

template <class... Parameters, class... Arguments>
void launch(void (*kernel)(Parameters...), const LaunchShape& shape, cudaStream_t stream, const Arguments&... arguments) {
    allow_shared(reinterpret_cast<const void*>(kernel), shape.shared_bytes);
    kernel<<<checked_grid(shape.grid), static_cast<unsigned>(shape.threads), static_cast<std::size_t>(shape.shared_bytes),
             stream>>>(arguments...);
    RAFTER_CUDA(cudaGetLastError());
}

template <class T>
struct Tag {
    using type = T;
};

/// body(Tag<T>) for fp16 and bf16.
template <class Body>
void with_half(DType dtype, const Body& body) {
    RAFTER_CHECK(dtype == DType::fp16 || dtype == DType::bf16, "a twin for 16-bit types only");
    if (dtype == DType::fp16) {
        body(Tag<half_t>{});
    } else {
        body(Tag<bfloat_t>{});
    }
}

/// body(Tag<T>) for fp32, fp16 and bf16.
template <class Body>
void with_float(DType dtype, const Body& body) {
    if (dtype == DType::fp32) {
        body(Tag<float>{});
    } else {
        with_half(dtype, body);
    }
}

}  // namespace rafter::validate
