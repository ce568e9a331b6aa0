// The two clocks of an SM, for kernels that time themselves.
#pragma once

namespace rafter::validate {

/// Of one CTA: clocks of its SM, and nanoseconds of the GPU-wide timer.
struct Span {
    long long clocks;
    long long nanoseconds;
};

#if defined(__CUDACC__)

__device__ inline long long global_nanoseconds() {
    long long now = 0;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now)::"memory");
    return now;
}

__device__ inline long long sm_clocks() {
    long long now = 0;
    asm volatile("mov.u64 %0, %%clock64;" : "=l"(now)::"memory");
    return now;
}

/// Runs `body` in all threads of the CTA between two barriers and notes how long that took.
template <class Body>
__device__ void time_cta(Span* span, const Body& body) {
    __syncthreads();
    const long long clocks = sm_clocks(), nanoseconds = global_nanoseconds();
    body();
    __syncthreads();
    if (threadIdx.x == 0) *span = {sm_clocks() - clocks, global_nanoseconds() - nanoseconds};
}

#endif

}  // namespace rafter::validate
