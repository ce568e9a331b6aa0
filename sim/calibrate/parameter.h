// Leaves of a GPU file as numbers that may be moved.
#pragma once

#include <string>
#include <vector>

#include "sim/config/hw_config.h"

namespace rafter::calibrate {

/// One free leaf of the effective config, in its base unit.
struct Parameter {
    std::string path;  ///< "l2.bytes_per_clk"
    std::string unit;  ///< "B", "fs", "clk", "" for a count
    double start{0}, lower{0}, upper{0};

    /// "3200", "211 clk": whole base units, as --set takes them.
    std::string text(double value) const;
};

/// Half to twice the value of the config unless `bounds` ("path=low..high", in the unit of the file) says otherwise. Errors:
/// Error for an unknown path (with the nearest), one that is not a number, or a bound that does not hold the start.
std::vector<Parameter> find_parameters(const config::HwConfig& gpu, const std::vector<std::string>& paths,
                                       const std::vector<std::string>& bounds);

/// A GPU file with these values over `base`, standing measured, `command` as their source.
std::string to_yaml(const std::string& base, const std::string& title, const std::string& compute_capability,
                    const std::vector<Parameter>& parameters, const std::vector<double>& values, const std::string& command);

}  // namespace rafter::calibrate
