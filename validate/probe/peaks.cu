#include <algorithm>
#include <array>
#include <vector>

#include "validate/cuda/memory.h"
#include "validate/host/statistics.h"
#include "validate/probe/clocks.h"
#include "validate/probe/probe.h"
#include "validate/twins/launch.h"

namespace rafter::validate {

namespace {

constexpr int kFmaThreads = 1024, kFmaChains = 8;
constexpr int kTensorThreads = 512, kTensorChains = 4;
constexpr int kRounds = 2048;
constexpr double kSustained = 2.0;  ///< seconds of tensor load before the clock is read

// As volatile PTX: the compiler may move neither these nor the clock past one another.
__device__ void multiply_add(float& x, float y) { asm volatile("fma.rn.f32 %0, %0, %1, %1;" : "+f"(x) : "f"(y)); }
__device__ void multiply_add(double& x, double y) { asm volatile("fma.rn.f64 %0, %0, %1, %1;" : "+d"(x) : "d"(y)); }
__device__ void multiply_add(unsigned& x, unsigned y) { asm volatile("fma.rn.f16x2 %0, %0, %1, %1;" : "+r"(x) : "r"(y)); }

/// Eight independent chains a thread, every lane of the SM busy.
template <class T>
__global__ void __launch_bounds__(kFmaThreads) fma_kernel(Span* spans, T* sink, T factor, int rounds) {
    T x[kFmaChains];
#pragma unroll
    for (int i = 0; i < kFmaChains; ++i) x[i] = factor;
    time_cta(spans + blockIdx.x, [&] {
#pragma unroll 8
        for (int round = 0; round < rounds; ++round) {
#pragma unroll
            for (int i = 0; i < kFmaChains; ++i) multiply_add(x[i], factor);
        }
    });
    T sum = x[0];
#pragma unroll
    for (int i = 1; i < kFmaChains; ++i) sum = sum + x[i];
    sink[static_cast<std::size_t>(blockIdx.x) * kFmaThreads + threadIdx.x] = sum;  // keeps the chains
}

/// mma.sync of a dtype; kProducts are its multiply-adds. Turing has smaller ones. What an architecture lacks does nothing
/// there, and the host does not ask for it.
template <DType Type>
struct Instruction;

template <>
struct Instruction<DType::fp16> {
    using Sum = float;
    static constexpr int kProducts = 16 * 8 * 16;
    __device__ static void issue(float (&d)[4], const unsigned (&a)[4]) { mma_16x8x16<half_t>(d, a, a[1], a[2]); }
};

template <>
struct Instruction<DType::bf16> {
    using Sum = float;
    static constexpr int kProducts = 16 * 8 * 16;
    __device__ static void issue(float (&d)[4], const unsigned (&a)[4]) { mma_16x8x16<bfloat_t>(d, a, a[1], a[2]); }
};

template <>
struct Instruction<DType::tf32> {
    using Sum = float;
    static constexpr int kProducts = 16 * 8 * 8;
    __device__ static void issue([[maybe_unused]] float (&d)[4], [[maybe_unused]] const unsigned (&a)[4]) {
#if __CUDA_ARCH__ >= 800
        asm volatile(
            "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
            : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
            : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(a[1]), "r"(a[2]));
#endif
    }
};

template <>
struct Instruction<DType::fp8> {
    using Sum = float;
    static constexpr int kProducts = 16 * 8 * 32;
    __device__ static void issue([[maybe_unused]] float (&d)[4], [[maybe_unused]] const unsigned (&a)[4]) {
#if __CUDA_ARCH__ >= 890
        asm volatile(
            "mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e4m3.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
            : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
            : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(a[1]), "r"(a[2]));
#endif
    }
};

/// One instruction or, on Turing, four of 8 x 8 x 16.
template <>
struct Instruction<DType::int8> {
    using Sum = int;
    static constexpr int kProducts = 16 * 8 * 32;
    __device__ static void issue(int (&d)[4], const unsigned (&a)[4]) {
#if __CUDA_ARCH__ >= 800
        asm volatile(
            "mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
            : "+r"(d[0]), "+r"(d[1]), "+r"(d[2]), "+r"(d[3])
            : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(a[1]), "r"(a[2]));
#else
        for (int i = 0; i < 4; ++i) {
            asm volatile("mma.sync.aligned.m8n8k16.row.col.s32.s8.s8.s32 {%0, %1}, {%2}, {%3}, {%0, %1};"
                         : "+r"(d[i % 2 * 2]), "+r"(d[i % 2 * 2 + 1])
                         : "r"(a[i]), "r"(a[1]));
        }
#endif
    }
};

template <DType Type>
__global__ void __launch_bounds__(kTensorThreads) tensor_kernel(Span* spans, float* sink, int rounds) {
    using Sum = typename Instruction<Type>::Sum;
    Sum d[kTensorChains][4] = {};
    // Small values of many bit patterns: the clock under load depends on how the operands toggle.
    unsigned a[4];
    for (unsigned i = 0; i < 4; ++i) a[i] = 0x2a152a15U ^ ((threadIdx.x * 2654435761U + i * 40503U) & 0x03ff03ffU);
    time_cta(spans + blockIdx.x, [&] {
#pragma unroll 4
        for (int round = 0; round < rounds; ++round) {
#pragma unroll
            for (int i = 0; i < kTensorChains; ++i) Instruction<Type>::issue(d[i], a);
        }
    });
    float sum = 0;
    for (auto& chain : d) {
        for (const Sum value : chain) sum += static_cast<float>(value);
    }
    sink[static_cast<std::size_t>(blockIdx.x) * kTensorThreads + threadIdx.x] = sum;
}

class Peaks {
public:
    Peaks(ProbeResults& results, cudaStream_t stream)
        : r_(results),
          stream_(stream),
          sms_(results.device.sms),
          spans_(sms_ * static_cast<std::int64_t>(sizeof(Span))),
          sink_(std::int64_t{sms_} * kFmaThreads * 8) {}

    void lanes() {
        r_.fma_per_clk[DType::fp32] = fma<float>(1, 0.5F);
        r_.fma_per_clk[DType::fp64] = fma<double>(1, 0.5);
        r_.fma_per_clk[DType::fp16] = fma<unsigned>(2, 0x38003400U);  // two halves: 0.5, 0.25
    }

    void tensor() {
        const int capability = 10 * r_.device.major + r_.device.minor;
        rate<DType::fp16>();
        if (capability >= 80) rate<DType::bf16>();
        if (capability >= 80) rate<DType::tf32>();
        if (capability >= 89) rate<DType::fp8>();
        rate<DType::int8>();
        sustain();
    }

private:
    /// FMAs per clock of the median SM; `width` of them in an instruction.
    template <class T>
    double fma(int width, T factor) {
        launch(fma_kernel<T>, {sms_, kFmaThreads}, stream_, spans_.as<Span>(), sink_.as<T>(), factor, kRounds);
        return static_cast<double>(width) * kFmaThreads * kFmaChains * kRounds / median_clocks();
    }

    /// FLOP per clock of the median SM, and FLOP/s of the GPU at the clock it ran at.
    template <DType Type>
    void rate() {
        run<Type>(kRounds);
        const double flops = 2.0 * kTensorThreads / 32 * kTensorChains * Instruction<Type>::kProducts * kRounds;
        r_.tensor_flop_per_clk[Type] = flops / median_clocks();
        r_.tensor_flops_s[Type] = r_.tensor_flop_per_clk[Type] * sms_ * clock_hz();
    }

    template <DType Type>
    void run(int rounds) {
        launch(tensor_kernel<Type>, {sms_, kTensorThreads}, stream_, spans_.as<Span>(), sink_.as<float>(), rounds);
    }

    void sustain() {
        double seconds = 0;
        constexpr int kLong = 64 * kRounds;
        while (seconds < kSustained) {
            run<DType::fp16>(kLong);
            seconds += median([](const Span& s) { return static_cast<double>(s.nanoseconds) * 1e-9; }) + 1e-4;
        }
        r_.sustained_clock_hz = clock_hz();
        r_.tensor_flops_s[DType::fp16] = r_.tensor_flop_per_clk[DType::fp16] * sms_ * clock_hz();
    }

    template <class Value>
    double median(const Value& value) const {
        const auto raw = download(spans_.get(), sms_ * static_cast<std::int64_t>(sizeof(Span)), stream_);
        const Span* first = reinterpret_cast<const Span*>(raw.data());
        std::vector<double> all;
        std::transform(first, first + sms_, std::back_inserter(all), value);
        return summarise(all).median;
    }
    double median_clocks() const {
        return median([](const Span& s) { return static_cast<double>(s.clocks); });
    }
    double clock_hz() const {
        return median([](const Span& s) {
            return s.nanoseconds > 0 ? static_cast<double>(s.clocks) / static_cast<double>(s.nanoseconds) * 1e9 : 0.0;
        });
    }

    ProbeResults& r_;
    cudaStream_t stream_;
    int sms_;
    DeviceBuffer spans_, sink_;
};

}  // namespace

void probe_peaks(ProbeResults& results, cudaStream_t stream) {
    Peaks peaks(results, stream);
    peaks.lanes();
    peaks.tensor();
}

}  // namespace rafter::validate
