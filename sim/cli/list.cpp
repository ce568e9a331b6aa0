#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "sim/cli/cli.h"
#include "sim/config/loader.h"
#include "sim/config/reader.h"
#include "sim/core/error.h"
#include "sim/workload/model.h"

namespace rafter::cli {

namespace {

void check_workload(const std::string& path) {
    const auto model = workload::load(path, {});
    Count macs{};
    std::int64_t layers = 0;
    for (const auto& phase : model.phases) {
        for (const auto& block : phase.blocks) {
            layers += static_cast<std::int64_t>(block.layers.size());
            for (const auto& layer : block.layers) {
                macs += workload::count(layer).macs * static_cast<Count>(block.repeat) * static_cast<Count>(phase.steps);
            }
        }
    }
    fmt::print("{}  {}\n{} phases, {} layers, {:.4g} MACs (decode at its first context)\n", model.name, model.title,
               model.phases.size(), layers, static_cast<double>(macs));
    fmt::print("resident in GPU memory:\n");
    for (const auto& c : model.memory()) fmt::print("  {:44} {:>20} B\n", c.name, c.size.value);
}

bool is_gpu(const std::string& path) {
    const auto* schema = config::Document::load(path).tree()->find("schema");
    return schema != nullptr && schema->value->text == "rafter.gpu/1";
}

bool contains(const std::vector<std::string>& names, const std::string& name) {
    return std::find(names.begin(), names.end(), name) != names.end();
}

/// The file of a shipped name, or the path itself. Errors: Error with the nearest name of either kind.
std::string resolve(const std::string& name) {
    auto gpus = config::list_data_files("hw_configs");
    const auto workloads = config::list_data_files("workloads");
    if (contains(gpus, name)) return config::find_data_file("hw_configs", name);
    if (contains(workloads, name) || name.ends_with(".yaml") || name.ends_with(".yml"))
        return config::find_data_file("workloads", name);
    gpus.insert(gpus.end(), workloads.begin(), workloads.end());
    const std::string near = nearest_name(name, gpus);
    throw Error(fmt::format("error: no GPU or workload named '{}'{}; a file's name ends in .yaml", name,
                            near.empty() ? "" : fmt::format(" (did you mean '{}'?)", near)));
}

}  // namespace

int check(const std::vector<std::string>& files) {
    int code = 0;
    for (const std::string& file : files) {
        try {
            const std::string path = resolve(file);
            if (is_gpu(path)) {
                const auto gpu = config::load_gpu(path, {});
                fmt::print("{}", config::describe(gpu));
                for (const auto& leaf : config::lint_gpu(gpu)) fmt::print("  no source: {} (standing estimate)\n", leaf);
            } else {
                check_workload(path);
            }
        } catch (const Error& e) {
            fmt::print(stderr, "{}\n", e.what());
            code = 2;
        }
    }
    return code;
}

int list_gpus(bool lint) {
    int code = 0;
    fmt::print("{:<18} {:<26} {:>5} {:>12} {:>12} {:>9} {:>10} {:>8}  {}\n", "name", "title", "SMs", "fp16 FLOP/s", "fp32 FLOP/s",
               "DRAM GB", "DRAM GB/s", "L2 MiB", "datasheet/measured/derived/estimate");
    for (const std::string& name : config::list_data_files("hw_configs")) {
        const auto gpu = config::load_gpu(name, {});
        std::array<int, 4> standing{};
        for (const auto& leaf : gpu.effective) ++standing[static_cast<std::size_t>(leaf.standing)];
        fmt::print("{:<18} {:<26} {:>5} {:>11.1f}T {:>11.1f}T {:>9.1f} {:>10.0f} {:>8.1f}  {}/{}/{}/{}\n", gpu.name, gpu.title,
                   gpu.sm.count, gpu.peak_flops(DType::fp16) / 1e12, gpu.peak_flops(DType::fp32) / 1e12,
                   static_cast<double>(gpu.dram.capacity.value) / 1e9, gpu.dram.peak_bytes_per_s() / 1e9,
                   static_cast<double>(gpu.l2.capacity.value) / 1048576.0, standing[0], standing[1], standing[2], standing[3]);
        for (const auto& leaf : config::lint_gpu(gpu)) {
            if (!lint) break;
            fmt::print(stderr, "{}: {} has no source\n", name, leaf);
            code = 2;
        }
    }
    return code;
}

int list_workloads() {
    for (const std::string& name : config::list_data_files("workloads")) {
        const auto model = workload::load(name, {});
        fmt::print("{:<34} {}\n", name, model.title);
    }
    return 0;
}

}  // namespace rafter::cli
