// rafter validate as a user runs it: tables with mistakes, filters, exit codes, files that are whole or not there.
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "tests/catch.h"
#include "tests/cli/command.h"
#include "tests/golden.h"

using Catch::Matchers::Contains;
using nlohmann::json;
using rafter::test::command;
using rafter::test::Folder;
using rafter::test::kMeasuredHeader;

namespace {

std::string gemm(const std::string& time, const std::string& gpu = "t4") {
    return "lab," + gpu + ",gemm,fp16,m=64;n=128;k=128," + time + ",graph_replay;l2=warm_if_fits,\n";
}

json report(const Folder& folder, const std::string& table, std::vector<std::string> more = {}) {
    std::vector<std::string> arguments{"validate", folder.write("m.csv", table), "--json", "-"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    const auto o = command(arguments);
    INFO(o.err);
    REQUIRE(o.code == 0);
    return json::parse(o.out);
}

double simulated_us(const Folder& folder) { return report(folder, kMeasuredHeader + gemm("10"))["rows"][0]["sim_us"]; }

}  // namespace

TEST_CASE("rows 50 % off either way: MAPE 50 %, bias 0", "[validate]") {
    const Folder folder;
    const double sim = simulated_us(folder);
    const auto r = report(folder, kMeasuredHeader + gemm(std::to_string(sim / 1.5)) + gemm(std::to_string(sim / 0.5)));
    CHECK(r["overall"]["mape"].get<double>() == Approx(0.5).epsilon(1e-4));
    CHECK(r["overall"]["bias"].get<double>() == Approx(0).margin(1e-4));
    CHECK(r["overall"]["simulations"] == 1);
}

TEST_CASE("broken rows and unknown GPUs are counted with their line, the others are scored", "[validate]") {
    const Folder folder;
    const auto o =
        command({"validate", folder.write("m.csv", kMeasuredHeader + gemm("10") + gemm("ten") + gemm("10", "t44") + "half,a\n" +
                                                       "lab,t4,gemm,fp16,m=64;n=128,10,graph_replay;l2=cold,\n")});
    CHECK(o.code == 0);
    CHECK_THAT(o.out, Contains("not simulated: 4 of 5 rows"));
    CHECK_THAT(o.out, Contains("time_us: expected a positive number of microseconds, found 'ten'") && Contains("m.csv:3)"));
    CHECK_THAT(o.out, Contains("unknown GPU 't44' (did you mean 't4'?)") && Contains("m.csv:4)"));
    CHECK_THAT(o.out, Contains("2 fields, the header has 8"));
    CHECK_THAT(o.out, Contains("shape: 'k' is missing"));
    CHECK_THAT(o.out, Contains("5 rows read, 1 simulations"));
}

TEST_CASE("milliseconds taken for microseconds are beyond a physical peak: flagged, not scored", "[validate]") {
    const Folder folder;
    const std::string big = "lab,t4,gemm,fp16,m=512;n=4096;k=4096,0.4,kernel_only;l2=cold,\n";
    const auto r = report(folder, kMeasuredHeader + gemm("10") + big);
    CHECK(r["overall"]["rows"] == 1);
    REQUIRE(r["unscored"].size() == 1);
    CHECK(r["unscored"][0]["status"] == "impossible");
    CHECK_THAT(r["unscored"][0]["reason"].get<std::string>(), Contains("is the time in microseconds?"));
    CHECK(r["unscored"][0]["line"] == 3);
}

TEST_CASE("a wrong header, a missing file and a folder are the user's mistakes", "[validate]") {
    const Folder folder;
    const auto o = command({"validate", folder.write("m.csv", "source,gpu,op,dtype,shape,time_ms,protocol,notes\n")});
    CHECK(o.code == 2);
    CHECK_THAT(o.err, Contains("m.csv:1:1: error: column 'time_us' is missing (found 'time_ms')"));
    CHECK(command({"validate", folder.file("none.csv")}).code == 2);
    CHECK(command({"validate", folder.file("")}).code == 2);
    CHECK(command({"validate", folder.write("e.csv", "")}).code == 2);
}

TEST_CASE("the same bytes for any number of jobs", "[validate]") {
    const Folder folder;
    std::string table = "\xEF\xBB\xBF" + kMeasuredHeader;
    for (int m = 1; m < 20; ++m) {
        table += "lab,a100-sxm4-80gb,gemm,fp16,m=" + std::to_string(m * 16) + ";n=256;k=256,9,event_per_call;l2=cold,\r\n";
        table += "lab,t4,softmax,fp32,rows=" + std::to_string(m) + ";cols=500;reads=1;writes=1,9,event_per_call;l2=cold,\r\n";
    }
    const std::string file = folder.write("m.csv", table);
    const auto one = command({"validate", file, "--jobs", "1"}), two = command({"validate", file, "--jobs", "2"});
    CHECK(one.code == 0);
    CHECK(one.out == two.out);
    CHECK(command({"validate", file, "-j1", "--json", "-"}).out == command({"validate", file, "-j3", "--json", "-"}).out);
    CHECK(command({"validate", file, "-j1", "--html", "-"}).out == command({"validate", file, "-j2", "--html", "-"}).out);
    const auto sample = command({"validate", file, "--sample", "5", "--seed", "3", "--csv", "-"});
    CHECK(std::count(sample.out.begin(), sample.out.end(), '\n') == 6);
    CHECK(sample.out == command({"validate", file, "--sample", "5", "--seed", "3", "--csv", "-"}).out);
}

TEST_CASE("100,000 rows of one shape are one simulation", "[validate]") {
    const Folder folder;
    std::string table = kMeasuredHeader;
    for (int i = 0; i < 100'000; ++i) table += gemm("1" + std::to_string(i));
    const auto o = command({"validate", folder.write("m.csv", table)});
    CHECK(o.code == 0);
    CHECK_THAT(o.out, Contains("100000 rows read, 1 simulations"));
}

TEST_CASE("filters choose rows; one that matches nothing is a mistake", "[validate]") {
    const Folder folder;
    const std::string table = kMeasuredHeader + gemm("10") + gemm("10", "v100-sxm2-16gb");
    CHECK(report(folder, table, {"--gpu", "t4"})["overall"]["rows"] == 1);
    CHECK(report(folder, table, {"--op", "gemm", "--dtype", "fp16", "--source", "lab"})["overall"]["rows"] == 2);
    const auto o = command({"validate", folder.write("m.csv", table), "--op", "gem"});
    CHECK(o.code == 2);
    CHECK_THAT(o.err, Contains("--op gem: no row has it (did you mean 'gemm'?)"));
}

TEST_CASE("fail-above ends with 1 when the error is above, else with 0", "[validate]") {
    const Folder folder;
    const std::string file = folder.write("m.csv", kMeasuredHeader + gemm(std::to_string(simulated_us(folder) / 1.2)));
    CHECK(command({"validate", file, "--fail-above", "25"}).code == 0);
    const auto o = command({"validate", file, "--fail-above", "15"});
    CHECK(o.code == 1);
    CHECK_THAT(o.err, Contains("is above 15 %"));
}

TEST_CASE("files that exist are kept, and nothing is simulated first", "[validate]") {
    const Folder folder;
    const std::string file = folder.write("m.csv", kMeasuredHeader + gemm("10")), out = folder.write("out.json", "mine");
    const auto o = command({"validate", file, "--json", out});
    CHECK(o.code == 2);
    CHECK_THAT(o.err, Contains("--force"));
    CHECK(rafter::test::read_text(out) == "mine");
    CHECK(command({"validate", file, "--json", out, "--force", "--quiet"}).code == 0);
    CHECK(json::parse(rafter::test::read_text(out))["schema"] == "rafter.validation/1");
}

TEST_CASE("Ctrl-C leaves no file behind, whole or half", "[validate]") {
    const Folder folder;
    std::string table = kMeasuredHeader;
    for (int m = 1; m < 400; ++m)
        table += "lab,t4,gemm,fp32,m=" + std::to_string(m * 8) + ";n=2048;k=2048,900,event_per_call;l2=cold,\n";
    const std::string file = folder.write("m.csv", table), out = folder.file("out.json");
    const pid_t child = fork();
    if (child == 0) {
        execl(std::getenv("RAFTER_BINARY"), "rafter", "validate", file.c_str(), "--quiet", "--json", out.c_str(), nullptr);
        _exit(127);
    }
    usleep(700'000);
    kill(child, SIGINT);
    int status = 0;
    waitpid(child, &status, 0);
    REQUIRE(WIFEXITED(status));
    CHECK(WEXITSTATUS(status) == 130);
    for (const auto& entry : std::filesystem::directory_iterator(folder.file(""))) CHECK(entry.path().filename() == "m.csv");
}
