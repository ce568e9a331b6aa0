// From hw_configs/*.yaml to HwConfig.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "sim/config/hw_config.h"

namespace rafter::config {

using Settings = std::vector<std::pair<std::string, std::string>>;

/// `name_or_path` is a name in the data directories or a path ending in .yaml. Resolves `base:`, applies `settings`
/// (--set path=value), checks ranges and peaks. Throws Error with every mistake.
HwConfig load_gpu(const std::string& name_or_path, const Settings& settings);

/// Leaves of a shipped file that lack a source or a standing; a file of ours has none.
std::vector<std::string> lint_gpu(const HwConfig& gpu);
/// Peaks recomputed from parts, capacities in both units, standings: what `rafter check` prints.
std::string describe(const HwConfig& gpu);
/// Sections of the GPU schema, for telling a GPU's --set path from a workload's.
const std::vector<std::string>& gpu_sections();

/// Directories searched for shipped files, first match wins: $RAFTER_DATA, the source tree, the install prefix.
std::vector<std::string> data_directories();
std::string find_data_file(const std::string& folder, const std::string& name_or_path);  ///< "hw_configs" | "workloads"
std::vector<std::string> list_data_files(const std::string& folder);                     ///< names without .yaml, sorted

}  // namespace rafter::config
