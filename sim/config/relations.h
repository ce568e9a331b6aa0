// What must hold between the values of a GPU.
#pragma once

#include "sim/config/hw_config.h"
#include "sim/config/reader.h"

namespace rafter::config {

/// Records a diagnostic at the value that breaks a relation. The single values must have been read without error.
void check_relations(const Value& root, const HwConfig& gpu);

}  // namespace rafter::config
