// What the kernels ask of the device. Under nvcc it is PTX; under a plain C++ compiler the same kernels run on emulated threads
// (validate/emulation), which is how they are tested without a GPU.
#pragma once

#if defined(__CUDACC__)
#include "validate/twins/kernels/device_cuda.h"
#else
#include "validate/emulation/device.h"
#endif

namespace rafter::validate {

struct alignas(16) Pack16 {
    unsigned words[4];
};

RAFTER_BOTH constexpr int ceil_of(int a, int b) { return (a + b - 1) / b; }
RAFTER_BOTH constexpr long long ceil_of(long long a, long long b) { return (a + b - 1) / b; }
RAFTER_BOTH constexpr int least(int a, int b) { return a < b ? a : b; }
RAFTER_BOTH constexpr long long least(long long a, long long b) { return a < b ? a : b; }
RAFTER_BOTH constexpr int most(int a, int b) { return a > b ? a : b; }

/// Elements of T in sixteen bytes.
template <class T>
constexpr int kPack = 16 / static_cast<int>(sizeof(T));

template <class T>
union Pack {
    Pack16 raw;
    T values[kPack<T>];
    __device__ Pack() : raw{} {}
};

template <class T>
__device__ Pack<T> load_pack(const T* from) {
    Pack<T> pack;
    pack.raw = *reinterpret_cast<const Pack16*>(from);
    return pack;
}

template <class T>
__device__ void store_pack(T* to, const Pack<T>& pack) {
    *reinterpret_cast<Pack16*>(to) = pack.raw;
}

__device__ inline float warp_sum(float value) {
    for (int step = 16; step > 0; step /= 2) value += shuffle_xor(value, step);
    return value;
}

__device__ inline float warp_max(float value) {
    for (int step = 16; step > 0; step /= 2) value = fmaxf(value, shuffle_xor(value, step));
    return value;
}

}  // namespace rafter::validate
