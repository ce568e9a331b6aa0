#include <algorithm>
#include <numeric>
#include <random>
#include <vector>

#include "validate/cuda/memory.h"
#include "validate/host/statistics.h"
#include "validate/probe/clocks.h"
#include "validate/probe/probe.h"
#include "validate/twins/launch.h"

namespace rafter::validate {

namespace {

constexpr std::int64_t kLine = 128;
constexpr int kSteps = 8192, kHits = 2048, kChain = 4096, kSharedWords = 1024, kBarriers = 512;
constexpr std::int64_t kLeast = 4 << 10;
constexpr double kLeastRise = 1.2;

/// The address in a line is that of the next: no arithmetic stands between two loads.
__device__ const void* next_cached(const void* at) {
    const void* to = nullptr;
    asm volatile("ld.global.ca.u64 %0, [%1];" : "=l"(to) : "l"(at) : "memory");
    return to;
}
__device__ const void* next_in_l2(const void* at) {
    const void* to = nullptr;
    asm volatile("ld.global.cg.u64 %0, [%1];" : "=l"(to) : "l"(at) : "memory");
    return to;
}

__global__ void chase_kernel(const void* start, int warm, int steps, Span* span, const void** sink) {
    const void* at = start;
    for (int i = 0; i < warm; ++i) at = next_cached(at);
    const long long before = sm_clocks();
#pragma unroll 4
    for (int i = 0; i < steps; ++i) at = next_cached(at);
    *sink = at;  // waits for the last load
    *span = {sm_clocks() - before, 0};
}

/// Clocks of single loads that hit the L2. The store waits for the load, and the clock is read after it.
__global__ void hits_kernel(const void* start, int warm, int* clocks) {
    __shared__ volatile unsigned sink;
    const void* at = start;
    for (int i = 0; i < warm; ++i) at = next_in_l2(at);
    for (int i = 0; i < kHits; ++i) {
        const long long before = sm_clocks();
        at = next_in_l2(at);
        sink = static_cast<unsigned>(reinterpret_cast<unsigned long long>(at));
        clocks[i] = static_cast<int>(sm_clocks() - before);
    }
}

__global__ void shared_kernel(Span* span, unsigned* sink) {
    __shared__ volatile unsigned next[kSharedWords];
    for (unsigned i = threadIdx.x; i < kSharedWords; i += blockDim.x) next[i] = (i + 33) % kSharedWords;
    __syncthreads();
    if (threadIdx.x != 0) return;
    unsigned at = 0;
    const long long before = sm_clocks();
    for (int i = 0; i < kSteps; ++i) at = next[at];
    *sink = at;
    *span = {sm_clocks() - before, 0};
}

__global__ void fma_chain_kernel(Span* span, float* sink, float factor) {
    float x = factor;
    const long long before = sm_clocks();
#pragma unroll 64
    for (int i = 0; i < kChain; ++i) asm volatile("fma.rn.f32 %0, %0, %1, %1;" : "+f"(x) : "f"(factor));
    *sink = x;
    *span = {sm_clocks() - before, 0};
}

__global__ void mma_chain_kernel(Span* span, float* sink) {
    float d[4] = {};
    const unsigned a[4] = {0x3c003c00U, 0x3c003c00U, 0x3c003c00U, 0x3c003c00U};  // ones
    const long long before = sm_clocks();
#pragma unroll 16
    for (int i = 0; i < kChain; ++i) mma_16x8x16<half_t>(d, a, 0, 0);
    sink[threadIdx.x] = d[0] + d[1] + d[2] + d[3];
    if (threadIdx.x == 0) *span = {sm_clocks() - before, 0};
}

__global__ void barrier_kernel(Span* span) {
    time_cta(span, [] {
        for (int i = 0; i < kBarriers; ++i) __syncthreads();
    });
}

/// One random cycle through all lines of a buffer (Sattolo).
std::vector<const void*> cycle(const char* base, std::int64_t lines) {
    std::vector<std::int64_t> order(static_cast<std::size_t>(lines));
    std::iota(order.begin(), order.end(), std::int64_t{0});
    std::mt19937_64 random(1);
    for (std::size_t i = order.size() - 1; i > 0; --i) std::swap(order[i], order[random() % i]);
    std::vector<const void*> memory(static_cast<std::size_t>(lines * kLine) / sizeof(void*), nullptr);
    for (std::size_t i = 0; i < order.size(); ++i) {
        memory[i * (kLine / sizeof(void*))] = base + order[i] * kLine;
    }
    return memory;
}

class Latency {
public:
    Latency(ProbeResults& results, cudaStream_t stream) : r_(results), stream_(stream), spans_(sizeof(Span)), sink_(4096) {}

    void chase() {
        const std::int64_t l2 = r_.device.l2_bytes, largest = 8 * std::max<std::int64_t>(l2, 1 << 20);
        const DeviceBuffer buffer(largest);
        for (std::int64_t bytes = kLeast; bytes <= largest; bytes = bytes * 5 / 4 / kLine * kLine) {
            upload(buffer, bytes);
            // Beyond twice the L2 a whole turn warms nothing.
            const std::int64_t warm = bytes <= 2 * l2 ? bytes / kLine : kSteps;
            launch(chase_kernel, {1, 1}, stream_, buffer.get(), static_cast<int>(warm), kSteps, spans_.as<Span>(),
                   sink_.as<const void*>());
            r_.latency_clk.push_back({static_cast<double>(bytes), clocks() / kSteps});
        }
        const auto size = static_cast<double>(l2);
        r_.l1_latency_clk = plateau(r_.latency_clk, 0, 16 << 10);
        const auto beyond = plateau(r_.latency_clk, 4 * size, 1e18);
        if (beyond && r_.l1_latency_clk && *beyond > kLeastRise * *r_.l1_latency_clk) r_.memory_latency_clk = beyond;
    }

    void hits() {
        const std::int64_t bytes = std::max<std::int64_t>(kLine * kHits, std::min<std::int64_t>(r_.device.l2_bytes / 4, 4 << 20));
        const DeviceBuffer buffer(bytes), out(kHits * sizeof(int));
        upload(buffer, bytes);
        launch(hits_kernel, {1, 1}, stream_, buffer.get(), static_cast<int>(bytes / kLine), out.as<int>());
        const auto raw = download(out.get(), kHits * static_cast<std::int64_t>(sizeof(int)), stream_);
        const int* first = reinterpret_cast<const int*>(raw.data());
        const Summary s = summarise({first, first + kHits});
        r_.l2_near_clk = s.lower, r_.l2_far_clk = s.upper;
    }

    void chains() {
        launch(shared_kernel, {1, 32}, stream_, spans_.as<Span>(), sink_.as<unsigned>());
        r_.shared_latency_clk = clocks() / kSteps;
        launch(fma_chain_kernel, {1, 1}, stream_, spans_.as<Span>(), sink_.as<float>(), 0.5F);
        r_.fma_latency_clk = clocks() / kChain;
        launch(mma_chain_kernel, {1, 32}, stream_, spans_.as<Span>(), sink_.as<float>());
        r_.tensor_latency_clk = clocks() / kChain;
        launch(barrier_kernel, {1, 256}, stream_, spans_.as<Span>());
        r_.barrier_latency_clk = clocks() / kBarriers;
    }

private:
    void upload(const DeviceBuffer& buffer, std::int64_t bytes) const {
        const auto memory = cycle(buffer.as<char>(), bytes / kLine);
        RAFTER_CUDA(cudaMemcpyAsync(buffer.get(), memory.data(), memory.size() * sizeof(void*), cudaMemcpyHostToDevice, stream_));
        RAFTER_CUDA(cudaStreamSynchronize(stream_));
    }
    double clocks() const {
        const auto raw = download(spans_.get(), sizeof(Span), stream_);
        return static_cast<double>(reinterpret_cast<const Span*>(raw.data())->clocks);
    }

    ProbeResults& r_;
    cudaStream_t stream_;
    DeviceBuffer spans_, sink_;
};

}  // namespace

void probe_latency(ProbeResults& results, cudaStream_t stream) {
    Latency latency(results, stream);
    latency.chase();
    latency.hits();
    latency.chains();
}

}  // namespace rafter::validate
