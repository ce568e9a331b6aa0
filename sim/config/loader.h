// From hw_configs/*.yaml to HwConfig.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "sim/config/hw_config.h"

namespace rafter::config {

using Settings = std::vector<std::pair<std::string, std::string>>;

/// `name_or_path` is a name in the config directories or a path ending in .yaml. Resolves `base:`, applies `settings`
/// (--set path=value), checks ranges and peaks. Throws Error with every mistake.
HwConfig load_gpu(const std::string& name_or_path, const Settings& settings);

/// Directories searched for shipped files, first match wins: $RAFTER_DATA, the source tree the binary was built from, the install
/// prefix.
std::vector<std::string> data_directories();
std::string find_data_file(const std::string& folder,
                           const std::string& name_or_path);          ///< "hw_configs" | "workloads"; Error lists the names
std::vector<std::string> list_data_files(const std::string& folder);  ///< names without .yaml, sorted

}  // namespace rafter::config
