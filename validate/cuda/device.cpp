#include "validate/cuda/device.h"

#include <cuda_runtime_api.h>

#include <fmt/format.h>

#include "validate/cuda/check.h"
#include "validate/cuda/work.h"

namespace rafter::validate {

namespace {

constexpr int kOldest = 75;

int attribute(cudaDeviceAttr which) {
    int value = 0;
    RAFTER_CUDA(cudaDeviceGetAttribute(&value, which, 0));
    return value;
}

}  // namespace

std::optional<std::string> why_no_gpu() {
    int count = 0;
    const cudaError_t code = cudaGetDeviceCount(&count);
    cudaGetLastError();
    if (code == cudaErrorInsufficientDriver) {
        return fmt::format("the NVIDIA driver is missing or too old for CUDA {}.{}", CUDART_VERSION / 1000,
                           CUDART_VERSION % 1000 / 10);
    }
    if (code == cudaErrorNoDevice || (code == cudaSuccess && count == 0)) return "there is no NVIDIA GPU here";
    if (code != cudaSuccess) return fmt::format("the NVIDIA GPU cannot be used: {}", cudaGetErrorString(code));
    try {
        const int major = attribute(cudaDevAttrComputeCapabilityMajor), minor = attribute(cudaDevAttrComputeCapabilityMinor);
        if (10 * major + minor < kOldest) {
            return fmt::format("the GPU has compute capability {}.{}, and 7.5 or later is needed", major, minor);
        }
        require_kernels();
    } catch (const CudaError& e) {
        return fmt::format("this program has no kernels that the GPU can run: {}", cudaGetErrorString(e.code()));
    }
    return std::nullopt;
}

Device describe_device() {
    cudaDeviceProp p{};
    RAFTER_CUDA(cudaGetDeviceProperties(&p, 0));
    Device d;
    d.name = p.name;
    d.major = p.major, d.minor = p.minor;
    d.sms = p.multiProcessorCount;
    d.clock_hz = 1e3 * attribute(cudaDevAttrClockRate);
    d.memory_clock_hz = 1e3 * attribute(cudaDevAttrMemoryClockRate);
    d.bus_bits = p.memoryBusWidth;
    d.l2_bytes = p.l2CacheSize;
    d.memory_bytes = static_cast<std::int64_t>(p.totalGlobalMem);
    d.max_threads_per_sm = p.maxThreadsPerMultiProcessor;
    d.max_ctas_per_sm = p.maxBlocksPerMultiProcessor;
    d.registers_per_sm = p.regsPerMultiprocessor;
    d.shared_per_sm = static_cast<std::int64_t>(p.sharedMemPerMultiprocessor);
    d.shared_per_cta = static_cast<std::int64_t>(p.sharedMemPerBlockOptin);
    d.shared_reserved = static_cast<std::int64_t>(p.reservedSharedMemPerBlock);
    return d;
}

Machine describe_machine(const Sensors& sensors) {
    Machine m;
    m.device = describe_device();
    RAFTER_CUDA(cudaDriverGetVersion(&m.driver));
    RAFTER_CUDA(cudaRuntimeGetVersion(&m.runtime));
    m.driver_name = sensors.driver_name();
    m.power_limit_w = sensors.power_limit_w().value_or(-1);
    m.sensors = sensors.found();
    return m;
}

}  // namespace rafter::validate
