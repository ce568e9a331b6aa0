// Approved outputs under tests/golden_files. RAFTER_ACCEPT=1 ctest -R ... writes what is there now as the approved one.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

#include "tests/catch.h"

namespace rafter::test {

inline std::string read_text(const std::filesystem::path& path) {
    std::ifstream file(path, std::ios::binary);
    std::ostringstream text;
    text << file.rdbuf();
    return text.str();
}

inline void check_golden(const std::string& name, const std::string& actual) {
    const char* source = std::getenv("RAFTER_SOURCE");
    REQUIRE(source != nullptr);
    const auto path = std::filesystem::path(source) / "tests" / "golden_files" / name;
    if (const char* accept = std::getenv("RAFTER_ACCEPT"); accept != nullptr && std::string(accept) == "1") {
        std::filesystem::create_directories(path.parent_path());
        std::ofstream(path, std::ios::binary) << actual;
    }
    INFO("approved: " << path);
    CHECK(actual == read_text(path));
}

}  // namespace rafter::test
