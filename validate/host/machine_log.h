// The JSON beside a CSV: the machine, and for every sample what the sensors said.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "validate/host/gpu_peaks.h"

namespace rafter::validate {

/// Read right after a sample; what is not known stays negative.
struct Reading {
    double sm_clock_mhz{-1}, memory_clock_mhz{-1}, power_w{-1}, temperature_c{-1};
    std::int64_t throttle{-1};  ///< NVML's bits
};

struct Sample {
    double time_us{};
    Reading reading;
};

struct Machine {
    Device device;
    int driver{}, runtime{};  ///< CUDA's: 13000 is 13.0
    std::string driver_name;  ///< "580.65.06"
    double power_limit_w{-1};
    bool sensors{false};  ///< NVML was found
};

/// "sw_power_cap+hw_thermal_slowdown", "none", or "unknown".
std::string throttle_text(std::int64_t bits);

/// Grows with every case and is replaced as a whole (written beside, then renamed). An existing file is carried on.
class MachineLog {
public:
    MachineLog(std::string path, const Machine& machine, std::uint64_t seed);
    void add(const std::string& key, const std::vector<Sample>& samples);
    void save() const;

private:
    std::string path_;
    nlohmann::json json_;
};

}  // namespace rafter::validate
