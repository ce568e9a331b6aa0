// The command line: rafter run | check | explain | gpus | workloads | validate | calibrate | curves | cache.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace rafter::cli {

/// Exit codes: 0 done, 1 validate --fail-above exceeded, 2 the user's mistake, 3 ours, 130 interrupted.
int main(int argc, char** argv);

struct Settings {
    std::vector<std::pair<std::string, std::string>> gpu, workload;
};
/// Sorts --set path=value by whose schema the first component names; `gpu.` and `workload.` say so outright. Errors: Error.
Settings sort_settings(const std::vector<std::string>& given);

struct RunArguments {
    std::string gpu, workload, json, csv, launch{"stream"}, caches{"cold"}, data{"random"}, detail{"layer"};
    std::int64_t weight_copies{6}, passes{0};
    std::vector<std::string> set;
    bool exact{false}, no_cache{false}, force{false}, quiet{false};
};
int run(const RunArguments& arguments);

struct ValidateArguments {
    std::vector<std::string> files, gpu, op, dtype, source, set;
    std::string json, csv, html;
    std::int64_t jobs{0}, sample{0}, seed{1}, worst{5};  ///< jobs 0: every core
    double fail_above{-1};                               ///< MAPE in %; negative: never
    double time_limit_s{600};
    bool exact{false}, force{false}, quiet{false};
};
int validate(const ValidateArguments& arguments);

struct CalibrateArguments {
    std::string gpu, out;
    std::vector<std::string> measured, free, bounds, op, dtype, source;
    std::int64_t jobs{0}, sample{0}, seed{1}, folds{5}, iterations{12};
    bool force{false};
};
int calibrate(const CalibrateArguments& arguments);

struct CurvesArguments {
    std::string gpu, measured, svg, json;
    std::vector<std::string> curve, set;
    std::int64_t points{14}, jobs{0};
    bool force{false};
};
int curves(const CurvesArguments& arguments);

struct LayerArguments {
    std::string gpu{"a100-sxm4-80gb"}, op, dtype{"fp16"};
    std::vector<std::string> fields;  ///< key=value of the layer
};
int explain_layer(const LayerArguments& arguments);
int explain_kernels(const std::string& gpu, const std::string& workload, const std::vector<std::string>& set);
int check(const std::vector<std::string>& files);
/// Exit 2 when a value lies outside of what the GPU's file says.
int self_test(const std::vector<std::string>& gpus);
/// Size of the cache of kernels, or its removal.
int cache(bool clear);
int list_gpus(bool lint);
int list_workloads();

}  // namespace rafter::cli
