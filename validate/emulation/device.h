// The device functions of validate/twins/kernels/device.h for emulated threads. Collectives meet at barriers; an asynchronous
// copy poisons its target at once and writes it only when waited for; addresses must be aligned as the hardware wants them.
#pragma once

#include <math.h>  // the functions without std, as in CUDA

#include <Eigen/Core>
#include <cstring>
#include <type_traits>

#include "validate/emulation/threads.h"

#define RAFTER_BOTH
#define __global__
#define __device__
#define __forceinline__ inline
#define __launch_bounds__(...)

namespace rafter::validate {

using half_t = Eigen::half;
using bfloat_t = Eigen::bfloat16;
using emulation::blockDim;
using emulation::blockIdx;
using emulation::gridDim;
using emulation::threadIdx;

inline void __syncthreads() { emulation::block_barrier(); }
inline void grid_barrier() { emulation::grid_barrier(); }
inline char* dynamic_shared() { return emulation::shared_memory(); }

inline float to_float(float x) { return x; }
inline float to_float(half_t x) { return static_cast<float>(x); }
inline float to_float(bfloat_t x) { return static_cast<float>(x); }

template <class T>
T from_float(float x) {
    return T(x);
}

template <class T>
unsigned pack_pair(float low, float high) {
    const T pair[2] = {T(low), T(high)};
    unsigned bits = 0;
    std::memcpy(&bits, pair, sizeof bits);
    return bits;
}

template <class T>
T load_l2(const T* p) {
    return *p;
}

inline float rsqrtf(float x) { return 1.0F / sqrtf(x); }
inline float shuffle_xor(float value, int mask) { return emulation::shuffle_xor(value, mask); }
inline void ldmatrix_x4(unsigned (&r)[4], const void* row) { emulation::ldmatrix_x4(r, row, false); }
inline void ldmatrix_x4_trans(unsigned (&r)[4], const void* row) { emulation::ldmatrix_x4(r, row, true); }

template <class T>
void mma_16x8x16(float (&d)[4], const unsigned (&a)[4], unsigned b0, unsigned b1) {
    const auto decode = [](unsigned bits, int half) {
        T pair[2];
        std::memcpy(static_cast<void*>(pair), &bits, sizeof bits);
        return static_cast<float>(pair[half]);
    };
    emulation::mma_16x8x16(d, a, b0, b1, decode);
}

inline void cp_async_16(void* to, const void* from) { emulation::copy_async(to, from); }
inline void cp_async_commit() { emulation::commit_copies(); }
template <int N>
void cp_async_wait() {
    emulation::wait_copies(N);
}

}  // namespace rafter::validate
