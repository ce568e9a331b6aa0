// Nothing is allocated per CTA, step or line request: a kernel sixteen times as large allocates as often.
#include <atomic>
#include <cstdlib>
#include <new>

#include "sim/config/loader.h"
#include "sim/engine/kernel_runner.h"
#include "sim/lowering/lower.h"
#include "sim/workload/layer.h"
#include "tests/catch.h"

namespace {

std::atomic<std::int64_t> allocations{0};

}  // namespace

void* operator new(std::size_t size) {
    ++allocations;
    if (void* memory = std::malloc(size > 0 ? size : 1)) return memory;
    throw std::bad_alloc();
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }

namespace {

using namespace rafter;

program::Kernel product(const config::HwConfig& gpu, std::int64_t m) {
    workload::Layer layer;
    layer.name = "gemm";
    workload::Gemm gemm;
    gemm.m = m, gemm.n = 1024, gemm.k = 512;
    layer.operation = gemm;
    return lowering::lower(layer, gpu).at(0).kernel;
}

std::int64_t allocations_of(machine::Machine& machine, const program::Kernel& kernel, bool steady) {
    machine::KernelRun run;
    run.kernel = &kernel;
    run.buffers = engine::assign_addresses(kernel);
    run.ctas_per_sm = 2;
    run.steady = steady;
    const std::int64_t before = allocations;
    machine.run(run);
    return allocations - before;
}

}  // namespace

TEST_CASE("a larger kernel allocates no more", "[allocations]") {
    const auto gpu = config::load_gpu("a100-sxm4-80gb", {});
    machine::Machine machine(gpu);
    const auto small = product(gpu, 8192), large = product(gpu, 131072);
    for (const bool steady : {false, true}) {
        allocations_of(machine, small, steady);  // frames and the like are kept from the first run
        const std::int64_t few = allocations_of(machine, small, steady), many = allocations_of(machine, large, steady);
        INFO("steady " << steady << ": " << few << " allocations");
        CHECK(many <= few);
        CHECK(few < 1000);
    }
}
