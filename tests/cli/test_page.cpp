// The page of `rafter validate --html` in a real browser, from disk, with no network to ask.
#include <cstdio>
#include <cstdlib>

#include "tests/catch.h"
#include "tests/cli/command.h"

using Catch::Matchers::Contains;
using rafter::test::command;
using rafter::test::Folder;

namespace {

std::string browser() {
    for (const char* name : {"chromium", "chromium-browser", "google-chrome"}) {
        const std::string probe = std::string("command -v ") + name + " >/dev/null 2>&1";
        if (std::system(probe.c_str()) == 0) return name;
    }
    return "";
}

std::string output_of(const std::string& line) {
    std::string text;
    FILE* pipe = popen(line.c_str(), "r");
    REQUIRE(pipe != nullptr);
    char buffer[65536];
    for (std::size_t n = 0; (n = fread(buffer, 1, sizeof buffer, pipe)) > 0;) text.append(buffer, n);
    pclose(pipe);
    return text;
}

}  // namespace

TEST_CASE("the page draws its plots and tables in a browser", "[validate]") {
    const std::string name = browser();
    if (name.empty()) {
        WARN("skipped: no chromium here");
        return;
    }
    const Folder folder;
    std::string table = rafter::test::kMeasuredHeader;
    for (const char* m : {"16", "32", "64"})
        table += std::string("lab,t4,gemm,fp16,m=") + m + ";n=128;k=128,9,graph_replay;l2=cold,\n";
    table += "lab,t5,gemm,fp16,m=1;n=1;k=1,9,graph_replay;l2=cold,\n";
    const std::string page = folder.file("page.html");
    REQUIRE(command({"validate", folder.write("m.csv", table), "--html", page, "--quiet"}).code == 0);
    const std::string dom = output_of(name + " --headless --no-sandbox --disable-gpu --user-data-dir=" + folder.file("profile") +
                                      " --virtual-time-budget=5000 --dump-dom file://" + page + " 2>/dev/null");
    if (dom.empty()) {
        WARN("skipped: the browser here does not start");
        return;
    }
    CHECK_THAT(dom, Contains("data-ready=\"yes\""));
    CHECK_THAT(dom, Contains("4 measured rows, 3 simulations, 3 rows scored, 1 not scored."));
    CHECK_THAT(dom, Contains("unknown GPU 't5'"));
    CHECK_THAT(dom, Contains("id=\"histogram-gemm\""));
}
