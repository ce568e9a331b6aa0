// The emulated device finds the mistakes it is there to find.
#include <stdexcept>

#include "tests/validate_host/emulated.h"
#include "validate/twins/kernels/device.h"

using namespace rafter::validate;

namespace {

/// Thread 0 writes, after `waits` barriers all read.
int readers_of_zero(int barriers, emulation::Order order) {
    int seen = 0;
    emulation::run({1, 64, 16, false, order}, [&] {
        int* shared = reinterpret_cast<int*>(dynamic_shared());
        if (threadIdx.x == 0) *shared = 7;
        for (int i = 0; i < barriers; ++i) __syncthreads();
        if (*shared == 7) ++seen;
    });
    return seen;
}

}  // namespace

TEST_CASE("a missing barrier shows in some order of threads", "[emulation]") {
    for (const auto order : {emulation::Order::ascending, emulation::Order::descending, emulation::Order::lockstep}) {
        CHECK(readers_of_zero(1, order) == 64);
    }
    CHECK(readers_of_zero(0, emulation::Order::descending) == 1);
}

TEST_CASE("a barrier that only some threads reach is an error", "[emulation]") {
    CHECK_THROWS_AS(emulation::run({1, 64, 0},
                                   [] {
                                       if (threadIdx.x < 32) __syncthreads();
                                       __syncthreads();
                                   }),
                    std::runtime_error);
}

TEST_CASE("an asynchronous copy arrives when it is waited for, oldest group first", "[emulation]") {
    alignas(16) const float data[8] = {1, 2, 3, 4, 5, 6, 7, 8};
    emulation::run({1, 32, 64}, [&] {
        float* shared = reinterpret_cast<float*>(dynamic_shared());
        if (threadIdx.x != 0) return;
        cp_async_16(shared, data);
        cp_async_commit();
        cp_async_16(shared + 4, data + 4);
        cp_async_commit();
        CHECK(std::isnan(shared[0]));
        cp_async_wait<1>();
        CHECK((shared[0] == 1 && std::isnan(shared[4])));
        cp_async_wait<0>();
        CHECK(shared[7] == 8);
    });
}

TEST_CASE("a misaligned copy is an error", "[emulation]") {
    alignas(16) const float data[8] = {};
    CHECK_THROWS_AS(emulation::run({1, 32, 64}, [&] { cp_async_16(dynamic_shared(), data + 1); }), std::runtime_error);
}

TEST_CASE("shuffles and grid barriers see what other threads wrote", "[emulation]") {
    std::vector<int> count(3, 0);
    emulation::run({3, 64, 0, true}, [&] {
        CHECK(warp_sum(1.0F) == 32.0F);
        CHECK(warp_max(static_cast<float>(threadIdx.x % 32)) == 31.0F);
        if (threadIdx.x == 0) count[static_cast<std::size_t>(blockIdx.x)] = 1;
        grid_barrier();
        CHECK(count == std::vector<int>{1, 1, 1});
    });
}
