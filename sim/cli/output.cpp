#include "sim/cli/output.h"

#include <algorithm>
#include <cstdio>

#include <fmt/format.h>

#include "sim/core/error.h"
#include "sim/report/report.h"

namespace rafter::cli {

void check_targets(const std::vector<Target>& targets, bool force) {
    for (std::size_t i = 0; i < targets.size(); ++i) {
        const Target& target = targets[i];
        if (target.path.empty()) continue;
        for (std::size_t j = 0; j < i; ++j) {
            if (targets[j].path == target.path)
                throw Error(fmt::format("error: {} and {} both write to {}", targets[j].option, target.option, target.path));
        }
        if (target.path != "-") report::check_writable(target.path, force);
    }
}

bool to_stdout(const std::vector<Target>& targets) {
    return std::any_of(targets.begin(), targets.end(), [](const Target& t) { return t.path == "-"; });
}

void write(const std::string& target, const std::string& content, bool force) {
    if (target == "-") {
        std::fwrite(content.data(), 1, content.size(), stdout);
    } else {
        report::write_file(target, content, force);
    }
}

}  // namespace rafter::cli
