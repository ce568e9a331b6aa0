// The GPU of this process: whether there is one that can run the kernels, what it says of itself, and what its sensors read.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "validate/host/machine_log.h"

namespace rafter::validate {

/// Why nothing can run here, as one plain sentence; none when device 0 can. Does not throw.
std::optional<std::string> why_no_gpu();

/// Device 0 as a plain value.
Device describe_device();

/// NVML, loaded when the library is there. Without it every reading is unknown.
class Sensors {
public:
    Sensors();
    ~Sensors();
    Sensors(const Sensors&) = delete;
    Sensors& operator=(const Sensors&) = delete;
    bool found() const;
    Reading read() const;
    std::string driver_name() const;
    std::optional<double> power_limit_w() const;

private:
    struct Library;
    std::unique_ptr<Library> library_;
};

Machine describe_machine(const Sensors& sensors);

}  // namespace rafter::validate
