// The command line: rafter run | check | explain | gpus | workloads.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace rafter::cli {

/// Exit codes: 0 done, 2 the user's mistake, 3 ours.
int main(int argc, char** argv);

struct Settings {
    std::vector<std::pair<std::string, std::string>> gpu, workload;
};
/// Sorts --set path=value by whose schema the first component names; `gpu.` and `workload.` say so outright. Errors: Error.
Settings sort_settings(const std::vector<std::string>& given);

struct RunArguments {
    std::string gpu, workload, json, csv, launch{"stream"}, caches{"cold"}, detail{"layer"};
    std::int64_t weight_copies{6};
    std::vector<std::string> set;
    bool exact{false}, force{false}, quiet{false};
};
int run(const RunArguments& arguments);

struct LayerArguments {
    std::string gpu{"a100-sxm4-80gb"}, op, dtype{"fp16"};
    std::vector<std::string> fields;  ///< key=value of the layer
};
int explain_layer(const LayerArguments& arguments);
int explain_kernels(const std::string& gpu, const std::string& workload, const std::vector<std::string>& set);
int check(const std::vector<std::string>& files);
int list_gpus(bool lint);
int list_workloads();

}  // namespace rafter::cli
