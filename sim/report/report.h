// Reports of a run. They read RunResult and nothing else.
#pragma once

#include <string>
#include <string_view>

#include "sim/core/quantity.h"
#include "sim/stats/result.h"

namespace rafter::report {

struct TextOptions {
    bool color{false};
    bool kernels{false};  ///< a row per kernel under each layer
};

std::string text(const stats::RunResult& result, const TextOptions& options);
std::string json(const stats::RunResult& result);  ///< schema rafter.result/1, docs/results.md
std::string csv(const stats::RunResult& result);   ///< a row a layer; quoting of RFC 4180, lines end in LF

/// Chart.js, for pages that hold all they need.
extern const std::string_view kChartLibrary;

/// Roofline in characters: log-log, a mark a layer.
std::string roofline_chart(const stats::RunResult& result);

/// Errors: Error when `path` exists and `force` is not set, or its folder does not. For the moment before a long run.
void check_writable(const std::string& path, bool force);

/// Writes beside the target and renames: never half a file, and never over a file that exists unless `force` is set, even when
/// two runs race for it. Devices and pipes are written directly. Errors: Error.
void write_file(const std::string& path, const std::string& content, bool force);

/// "1.234 ms", "4.56 MB", "7.89 G": the prefix that fits.
std::string human_time(Femtoseconds t);
std::string human_bytes(Bytes b);
std::string human_count(double n);
std::string human_energy(double joules);
std::string human_ratio(double r);  ///< three digits, no exponent: "0.75", "152", "1404", "573 k"

}  // namespace rafter::report
