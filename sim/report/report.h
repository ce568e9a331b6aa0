// Reports of a run. They read RunResult and nothing else.
#pragma once

#include <string>

#include "sim/core/quantity.h"
#include "sim/stats/result.h"

namespace rafter::report {

struct TextOptions {
    bool color{false};
    bool kernels{false};  ///< a row per kernel under each layer
};

std::string text(const stats::RunResult& result, const TextOptions& options);
std::string json(const stats::RunResult& result);  ///< schema rafter.result/1
std::string csv(const stats::RunResult& result);   ///< a row a layer, RFC 4180

/// Roofline in characters: log-log, a mark a layer.
std::string roofline_chart(const stats::RunResult& result);

/// Writes beside the target and renames: never half a file. Errors: Error when the file exists and `force` is not set, or cannot
/// be written.
void write_file(const std::string& path, const std::string& content, bool force);

/// "1.23 ms", "4.56 MB", "7.89 G": three digits and the prefix that fits.
std::string human_time(Femtoseconds t);
std::string human_bytes(Bytes b);
std::string human_count(double n);

}  // namespace rafter::report
