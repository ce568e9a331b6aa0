#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "sim/core/error.h"
#include "sim/report/report.h"
#include "tests/catch.h"
#include "tests/golden.h"

using namespace rafter;
namespace fs = std::filesystem;

namespace {

struct Folder {
    fs::path path = fs::temp_directory_path() / ("rafter-test-" + std::to_string(getpid()));
    Folder() { fs::create_directories(path); }
    ~Folder() { fs::remove_all(path); }
    std::string file(const char* name) const { return (path / name).string(); }
    std::size_t files() const {
        return static_cast<std::size_t>(std::distance(fs::directory_iterator(path), fs::directory_iterator()));
    }
};

std::string refused(const std::string& path, bool force) {
    try {
        report::write_file(path, "new", force);
    } catch (const Error& e) {
        return e.what();
    }
    return "";
}

}  // namespace

TEST_CASE("a file that exists is kept unless forced", "[report]") {  // C098
    const Folder folder;
    const std::string path = folder.file("out.json");
    report::write_file(path, "old", false);
    CHECK(refused(path, false) == "error: " + path + " exists; give --force to replace it");
    CHECK(test::read_text(path) == "old");
    CHECK(refused(path, true) == "");
    CHECK(test::read_text(path) == "new");
    CHECK(folder.files() == 1);  // no .part left
}

TEST_CASE("what cannot be written is said", "[report]") {
    const Folder folder;
    CHECK(refused(folder.file("none/out.json"), false) ==
          "error: cannot write " + folder.file("none/out.json") + ": no folder " + folder.file("none"));
    CHECK(refused(folder.path.string(), true) == "error: cannot write " + folder.path.string() + ": it is a folder");
}

TEST_CASE("a device is written to, never replaced", "[report]") {
    CHECK(refused("/dev/null", false) == "");
    CHECK(fs::is_character_file("/dev/null"));
    CHECK(refused("/dev/full", false).rfind("error: cannot write /dev/full: ", 0) == 0);
}

TEST_CASE("a dangling link is not followed into a surprise", "[report]") {
    const Folder folder;
    fs::create_symlink(folder.file("nowhere"), folder.file("link"));
    CHECK(refused(folder.file("link"), false) == "error: " + folder.file("link") + " exists; give --force to replace it");
}
