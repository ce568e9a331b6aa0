// CUDA threads on the host: every thread is a fiber, barriers and warp collectives switch between them. Made to find mistakes,
// not to be fast: shared memory starts as NaN, threads run in a chosen order, a barrier that not all reach is an error.
#pragma once

#include <cstdint>
#include <functional>
#include <stdexcept>

namespace rafter::validate::emulation {

struct Index {
    int x{0}, y{0}, z{0};
};
extern Index threadIdx, blockIdx, blockDim, gridDim;

/// ascending, descending: one warp runs until it must wait for others, then the next; lockstep: all warps advance together.
enum class Order : std::uint8_t { ascending, descending, lockstep };

struct Launch {
    int grid{1};
    int threads{32};
    int shared_bytes{0};
    bool cooperative{false};  ///< all CTAs at once, grid_barrier allowed
    Order order{Order::ascending};
};

/// Runs `kernel` for every thread. Errors: std::runtime_error for a barrier that some threads miss and for a misaligned access.
void run(const Launch& launch, const std::function<void()>& kernel);

void block_barrier();
void grid_barrier();
char* shared_memory();
float shuffle_xor(float value, int mask);
void ldmatrix_x4(unsigned (&r)[4], const void* row, bool transposed);
void mma_16x8x16(float (&d)[4], const unsigned (&a)[4], unsigned b0, unsigned b1, float (*decode)(unsigned, int));
void copy_async(void* to, const void* from);
void commit_copies();
void wait_copies(int pending);

}  // namespace rafter::validate::emulation
