// The commands of README.md and docs/quickstart.md run as written, and their links lead somewhere.
#include <cstdlib>
#include <filesystem>
#include <regex>
#include <sstream>

#include "tests/catch.h"
#include "tests/cli/command.h"
#include "tests/golden.h"

namespace fs = std::filesystem;
using rafter::test::command;
using rafter::test::Folder;
using rafter::test::read_text;

namespace {

fs::path source() { return std::getenv("RAFTER_SOURCE"); }

/// Lines "rafter ..." in the code blocks of a page, without comments; those with files of the reader's own are left out.
std::vector<std::string> commands(const std::string& page) {
    std::istringstream lines(read_text(source() / page));
    std::vector<std::string> found;
    bool fenced = false;
    for (std::string line; std::getline(lines, line);) {
        if (line.rfind("```", 0) == 0) fenced = !fenced;
        line = line.substr(0, line.find('#'));
        if (fenced && line.rfind("rafter ", 0) == 0 && line.find("my_") == std::string::npos) found.push_back(line);
    }
    return found;
}

std::vector<std::string> arguments(const std::string& line, const Folder& folder) {
    std::istringstream words(line);
    std::vector<std::string> list;
    for (std::string word; words >> word;) list.push_back(word == "out.json" || word == "errors.html" ? folder.file(word) : word);
    list.erase(list.begin());
    return list;
}

void check_commands(const std::string& page) {
    const auto list = commands(page);
    CHECK(list.size() >= 3);
    for (const auto& line : list) {
        const Folder folder;
        const auto o = command(arguments(line, folder));
        INFO(line << ": " << o.err);
        CHECK(o.code == 0);
    }
}

}  // namespace

TEST_CASE("commands of the README run", "[cli]") { check_commands("README.md"); }
TEST_CASE("commands of the quickstart run", "[cli]") { check_commands("docs/quickstart.md"); }

TEST_CASE("links between pages lead to files", "[cli]") {
    const std::regex link(R"(\]\(([^)#:]+)(#[^)]*)?\))");
    std::vector<fs::path> pages{source() / "README.md"};
    for (const auto& entry : fs::recursive_directory_iterator(source() / "docs"))
        if (entry.path().extension() == ".md") pages.push_back(entry.path());
    for (const auto& page : pages) {
        const std::string text = read_text(page);
        for (std::sregex_iterator it(text.begin(), text.end(), link), end; it != end; ++it) {
            INFO(page << ": " << (*it)[1]);
            CHECK(fs::exists(page.parent_path() / (*it)[1].str()));
        }
    }
}
