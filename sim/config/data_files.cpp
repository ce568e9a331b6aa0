#include <algorithm>
#include <cstdlib>
#include <filesystem>

#include <fmt/format.h>

#include "sim/config/loader.h"
#include "sim/core/error.h"

namespace rafter::config {

namespace fs = std::filesystem;

std::vector<std::string> data_directories() {
    std::vector<std::string> directories;
    if (const char* chosen = std::getenv("RAFTER_DATA")) directories.emplace_back(chosen);
#ifdef RAFTER_SOURCE_DATA
    directories.emplace_back(RAFTER_SOURCE_DATA);
#endif
    std::error_code ignored;
    const fs::path self = fs::read_symlink("/proc/self/exe", ignored);
    if (!self.empty()) directories.push_back((self.parent_path().parent_path() / "share" / "rafter").string());
    return directories;
}

std::vector<std::string> list_data_files(const std::string& folder) {
    std::vector<std::string> names;
    for (const std::string& directory : data_directories()) {
        const fs::path root = fs::path(directory) / folder;
        std::error_code stopped;
        if (!fs::is_directory(root, stopped)) continue;
        for (fs::recursive_directory_iterator it(root, stopped), end; !stopped && it != end; it.increment(stopped)) {
            const fs::path& path = it->path();
            if (path.extension() == ".yaml") names.push_back(path.lexically_relative(root).replace_extension("").string());
        }
        break;  // the first directory that exists is the one in use
    }
    std::sort(names.begin(), names.end());
    return names;
}

std::string find_data_file(const std::string& folder, const std::string& name_or_path) {
    const fs::path given(name_or_path);
    std::error_code ignored;
    const bool is_path = given.extension() == ".yaml" || given.extension() == ".yml";
    if (is_path && fs::exists(given, ignored)) return name_or_path;
    for (const std::string& directory : data_directories()) {
        const fs::path path = fs::path(directory) / folder / (is_path ? name_or_path : name_or_path + ".yaml");
        if (!name_or_path.empty() && given.is_relative() && fs::is_regular_file(path, ignored)) return path.string();
    }
    if (is_path) throw Error(fmt::format("error: no file '{}'", name_or_path));
    const auto names = list_data_files(folder);
    const std::string near = nearest_name(name_or_path, names);
    std::string all;
    for (const std::string& name : names) all += (all.empty() ? "" : ", ") + name;
    throw Error(fmt::format("error: no {} named '{}'{}; known: {}", folder == "hw_configs" ? "GPU" : "workload", name_or_path,
                            near.empty() ? "" : fmt::format(" (did you mean '{}'?)", near), all));
}

}  // namespace rafter::config
