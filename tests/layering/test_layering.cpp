// The table of docs/architecture.md, held against every #include line of sim/.
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <string>

#include "tests/catch.h"

namespace fs = std::filesystem;

namespace {

const std::map<std::string, std::set<std::string>> kAllowed{
    {"core", {}},
    {"config", {"core"}},
    {"stats", {"core", "config"}},
    {"program", {"core"}},
    {"workload", {"core", "config"}},
    {"model", {"core", "config", "stats", "program"}},
    {"kernels", {"core", "program"}},
    {"lowering", {"core", "config", "program", "workload", "kernels"}},
    {"machine", {"core", "config", "stats", "program", "model"}},
    {"report", {"core", "config", "stats"}},
    {"engine", {"core", "config", "stats", "program", "model", "workload", "lowering", "machine"}},
    {"validate", {"core", "config", "stats", "workload", "report", "engine"}},
    {"calibrate", {"core", "config", "engine", "validate"}},
    {"curves", {"core", "config", "program", "kernels", "engine", "validate"}},
    {"cli", {"core", "config", "stats", "workload", "lowering", "report", "engine", "validate", "calibrate", "curves"}},
};

fs::path source() {
    const char* set = std::getenv("RAFTER_SOURCE");
    return set != nullptr ? set : ".";
}

template <class Visit>
void each_line(const fs::path& path, Visit visit) {
    std::ifstream file(path);
    for (std::string line; std::getline(file, line);) visit(line);
}

bool is_source(const fs::path& path) { return path.extension() == ".h" || path.extension() == ".cpp"; }

}  // namespace

TEST_CASE("modules include only what the plan allows", "[layering]") {
    for (const auto& [module, allowed] : kAllowed) {
        for (const auto& entry : fs::recursive_directory_iterator(source() / "sim" / module)) {
            if (!is_source(entry.path())) continue;
            each_line(entry.path(), [&](const std::string& line) {
                const std::string prefix = "#include \"sim/";
                if (line.rfind(prefix, 0) == 0) {
                    const std::string used = line.substr(prefix.size(), line.find('/', prefix.size()) - prefix.size());
                    INFO(entry.path() << ": " << line);
                    CHECK((used == module || allowed.contains(used)));
                }
                if (line.find("#include <systemc") == 0 || line.find("#include <tlm") == 0) {
                    INFO(entry.path() << ": " << line);
                    CHECK((module == "machine" || module == "engine" || module == "cli"));
                }
            });
        }
    }
}

TEST_CASE("no file is longer than 400 lines and no folder holds more than 15 units", "[layering]") {
    for (const auto& [module, allowed] : kAllowed) {
        std::map<fs::path, std::set<std::string>> units;
        for (const auto& entry : fs::recursive_directory_iterator(source() / "sim" / module)) {
            if (!is_source(entry.path())) continue;
            int lines = 0;
            each_line(entry.path(), [&](const std::string&) { ++lines; });
            INFO(entry.path());
            CHECK(lines <= 400);
            units[entry.path().parent_path()].insert(entry.path().stem().string());
        }
        for (const auto& [folder, held] : units) {
            INFO(folder);
            CHECK(held.size() <= 15);
        }
    }
}
