// Runs a workload of tests/data on a GPU with settings, each in a child process: SystemC elaborates once a process.
#pragma once

#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "sim/config/loader.h"
#include "sim/engine/run.h"
#include "sim/report/report.h"
#include "sim/workload/model.h"
#include "tests/catch.h"

namespace rafter::test {

using Settings = std::vector<std::pair<std::string, std::string>>;
using Json = nlohmann::json;

inline std::string source_path(const std::string& path) {
    const char* root = std::getenv("RAFTER_SOURCE");
    return std::string(root != nullptr ? root : ".") + "/" + path;
}

struct Setup {
    Settings dims{};
    Settings hardware{};
    std::string gpu{"a100-sxm4-80gb"};
    bool exact{false};
    engine::Protocol protocol{};
    bool governed{false};  ///< the power limit moves the clock; else it is held at boost, so that a test sees its own knob
    bool every_step{false};
};

inline std::string simulate(const std::string& workload, const Setup& setup) {
    engine::RunOptions options;
    options.exact = setup.exact;
    options.protocol = setup.protocol;
    options.every_step = setup.every_step;
    try {
        const auto model = workload::load(workload, setup.dims);
        auto gpu = config::load_gpu(setup.gpu, setup.hardware);
        if (!setup.governed && !gpu.locked) gpu.locked = gpu.boost;
        return report::json(engine::run(gpu, model, options));
    } catch (const std::exception& e) {
        return Json{{"error", e.what()}}.dump();
    }
}

/// The result as JSON text, or {"error": message}.
inline std::string run_text(const std::string& workload, const Setup& setup = {}) {
    int ends[2];
    REQUIRE(pipe(ends) == 0);
    const pid_t child = fork();
    REQUIRE(child >= 0);
    if (child == 0) {
        close(ends[0]);
        const std::string text = simulate(workload, setup);
        for (std::size_t done = 0; done < text.size();) {
            const ssize_t n = write(ends[1], text.data() + done, text.size() - done);
            if (n <= 0) break;
            done += static_cast<std::size_t>(n);
        }
        _exit(0);
    }
    close(ends[1]);
    std::string text;
    char buffer[65536];
    for (ssize_t n = 0; (n = read(ends[0], buffer, sizeof buffer)) > 0;) text.append(buffer, static_cast<std::size_t>(n));
    close(ends[0]);
    int status = 0;
    waitpid(child, &status, 0);
    REQUIRE(status == 0);
    return text;
}

inline Json run(const std::string& data, const Setup& setup = {}) {
    const Json json = Json::parse(run_text(source_path("tests/data/" + data + ".yaml"), setup));
    INFO(json.value("error", ""));
    REQUIRE_FALSE(json.contains("error"));
    return json;
}

inline double time_of(const std::string& data, const Setup& setup = {}) {
    return run(data, setup)["totals"]["time_s"].get<double>();
}

}  // namespace rafter::test
