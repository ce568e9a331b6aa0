// NVML by dlopen: its header is not part of every toolkit, and its library comes with the driver.
#include <cuda_runtime_api.h>
#include <dlfcn.h>

#include <array>

#include "validate/cuda/check.h"
#include "validate/cuda/device.h"

namespace rafter::validate {

namespace {

using Handle = void*;
constexpr int kSmClock = 1, kMemoryClock = 2, kGpuTemperature = 0;  // nvml.h: NVML_CLOCK_SM, NVML_CLOCK_MEM, NVML_TEMPERATURE_GPU

template <class Function>
Function symbol(void* library, const char* name) {
    return reinterpret_cast<Function>(dlsym(library, name));
}

}  // namespace

struct Sensors::Library {
    void* library{dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL)};
    Handle device{nullptr};
    int (*shutdown)(){nullptr};
    int (*driver)(char*, unsigned){nullptr};
    int (*clock)(Handle, int, unsigned*){nullptr};
    int (*power)(Handle, unsigned*){nullptr};
    int (*limit)(Handle, unsigned*){nullptr};
    int (*temperature)(Handle, int, unsigned*){nullptr};
    int (*throttle)(Handle, unsigned long long*){nullptr};

    bool open() {
        if (library == nullptr) return false;
        const auto start = symbol<int (*)()>(library, "nvmlInit_v2");
        const auto find = symbol<int (*)(const char*, Handle*)>(library, "nvmlDeviceGetHandleByPciBusId_v2");
        shutdown = symbol<int (*)()>(library, "nvmlShutdown");
        driver = symbol<int (*)(char*, unsigned)>(library, "nvmlSystemGetDriverVersion");
        clock = symbol<int (*)(Handle, int, unsigned*)>(library, "nvmlDeviceGetClockInfo");
        power = symbol<int (*)(Handle, unsigned*)>(library, "nvmlDeviceGetPowerUsage");
        limit = symbol<int (*)(Handle, unsigned*)>(library, "nvmlDeviceGetEnforcedPowerLimit");
        temperature = symbol<int (*)(Handle, int, unsigned*)>(library, "nvmlDeviceGetTemperature");
        throttle = symbol<int (*)(Handle, unsigned long long*)>(library, "nvmlDeviceGetCurrentClocksThrottleReasons");
        std::array<char, 32> bus{};
        if (start == nullptr || find == nullptr || start() != 0) return false;
        RAFTER_CUDA(cudaDeviceGetPCIBusId(bus.data(), static_cast<int>(bus.size()), 0));
        return find(bus.data(), &device) == 0;
    }
};

Sensors::Sensors() : library_(std::make_unique<Library>()) {
    if (!library_->open()) library_->device = nullptr;
}

Sensors::~Sensors() {
    if (library_->device != nullptr && library_->shutdown != nullptr) library_->shutdown();
}

bool Sensors::found() const { return library_->device != nullptr; }

Reading Sensors::read() const {
    Reading r;
    if (!found()) return r;
    const Library& l = *library_;
    unsigned value = 0;
    unsigned long long reasons = 0;
    if (l.clock != nullptr && l.clock(l.device, kSmClock, &value) == 0) r.sm_clock_mhz = value;
    if (l.clock != nullptr && l.clock(l.device, kMemoryClock, &value) == 0) r.memory_clock_mhz = value;
    if (l.power != nullptr && l.power(l.device, &value) == 0) r.power_w = value / 1e3;
    if (l.temperature != nullptr && l.temperature(l.device, kGpuTemperature, &value) == 0) r.temperature_c = value;
    if (l.throttle != nullptr && l.throttle(l.device, &reasons) == 0) r.throttle = static_cast<std::int64_t>(reasons);
    return r;
}

std::string Sensors::driver_name() const {
    std::array<char, 96> text{};
    const Library& l = *library_;
    if (!found() || l.driver == nullptr || l.driver(text.data(), static_cast<unsigned>(text.size())) != 0) return "unknown";
    return text.data();
}

std::optional<double> Sensors::power_limit_w() const {
    unsigned milliwatts = 0;
    const Library& l = *library_;
    if (!found() || l.limit == nullptr || l.limit(l.device, &milliwatts) != 0) return std::nullopt;
    return milliwatts / 1e3;
}

}  // namespace rafter::validate
