// The device functions of device.h as CUDA and PTX.
#pragma once

#include <cooperative_groups.h>
#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <type_traits>

#define RAFTER_BOTH __host__ __device__

namespace rafter::validate {

using half_t = __half;
using bfloat_t = __nv_bfloat16;

__device__ inline float to_float(float x) { return x; }
__device__ inline float to_float(half_t x) { return __half2float(x); }
__device__ inline float to_float(bfloat_t x) { return __bfloat162float(x); }

template <class T>
__device__ T from_float(float x) {
    if constexpr (std::is_same_v<T, half_t>) {
        return __float2half_rn(x);
    } else if constexpr (std::is_same_v<T, bfloat_t>) {
        return __float2bfloat16_rn(x);
    } else {
        return x;
    }
}

/// Two values as the register pair of a tensor instruction: `low` in the lower half.
template <class T>
__device__ unsigned pack_pair(float low, float high) {
    T pair[2] = {from_float<T>(low), from_float<T>(high)};
    return *reinterpret_cast<unsigned*>(pair);
}

__device__ inline char* dynamic_shared() {
    extern __shared__ __align__(128) char rafter_dynamic_shared[];
    return rafter_dynamic_shared;
}

__device__ inline unsigned shared_address(const void* pointer) {
    return static_cast<unsigned>(__cvta_generic_to_shared(pointer));
}

__device__ inline float shuffle_xor(float value, int mask) { return __shfl_xor_sync(0xffffffffU, value, mask); }

/// Of a row that another SM may have written: read in the L2.
__device__ inline half_t load_l2(const half_t* p) { return __ldcg(p); }
__device__ inline bfloat_t load_l2(const bfloat_t* p) { return __ldcg(p); }
__device__ inline float load_l2(const float* p) { return __ldcg(p); }

/// Four 8 x 8 matrices of 16-bit elements: lane i gives the address of row i % 8 of matrix i / 8.
__device__ inline void ldmatrix_x4(unsigned (&r)[4], const void* row) {
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
                 : "r"(shared_address(row))
                 : "memory");
}

__device__ inline void ldmatrix_x4_trans(unsigned (&r)[4], const void* row) {
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
                 : "r"(shared_address(row))
                 : "memory");
}

/// d[16 x 8] += a[16 x 16] b[16 x 8]. Turing has half the depth; it has no bf16, and the host never launches that there.
template <class T>
__device__ void mma_16x8x16(float (&d)[4], const unsigned (&a)[4], unsigned b0, unsigned b1) {
#if __CUDA_ARCH__ >= 800
    if constexpr (std::is_same_v<T, half_t>) {
        asm volatile(
            "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
            : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
            : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
    } else {
        asm volatile(
            "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, "
            "%3};"
            : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
            : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
    }
#else
    if constexpr (std::is_same_v<T, half_t>) {
        asm volatile("mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5}, {%6}, {%0, %1, %2, %3};"
                     : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
                     : "r"(a[0]), "r"(a[1]), "r"(b0));
        asm volatile("mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5}, {%6}, {%0, %1, %2, %3};"
                     : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
                     : "r"(a[2]), "r"(a[3]), "r"(b1));
    } else {
        asm volatile("trap;");
    }
#endif
}

/// Sixteen bytes from global to shared memory; null gives zeros. Reads pass by the L1. Turing copies through registers, at once.
__device__ inline void cp_async_16(void* to, const void* from) {
    if (from == nullptr) {
        *reinterpret_cast<uint4*>(to) = make_uint4(0, 0, 0, 0);
        return;
    }
#if __CUDA_ARCH__ >= 800
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(shared_address(to)), "l"(__cvta_generic_to_global(from))
                 : "memory");
#else
    *reinterpret_cast<uint4*>(to) = __ldcg(reinterpret_cast<const uint4*>(from));
#endif
}

__device__ inline void cp_async_commit() {
#if __CUDA_ARCH__ >= 800
    asm volatile("cp.async.commit_group;" ::: "memory");
#endif
}

/// Waits until at most N groups of this thread are under way.
template <int N>
__device__ void cp_async_wait() {
#if __CUDA_ARCH__ >= 800
    asm volatile("cp.async.wait_group %0;" ::"n"(N) : "memory");
#endif
}

/// Of a cooperative launch: all CTAs wait, and see what all wrote before.
__device__ inline void grid_barrier() { cooperative_groups::this_grid().sync(); }

}  // namespace rafter::validate
