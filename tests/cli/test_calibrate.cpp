// rafter calibrate finds the GPU that made the rows: timings simulated with other values than the file's are fitted from the
// file.
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

/// Rows whose times are those of a T4 with these settings.
std::string made_with(const Folder& folder, const std::vector<std::string>& settings) {
    std::string table = kMeasuredHeader;
    for (const char* rows : {"16", "200", "700", "1000", "1500", "2000", "2500", "3000"})
        table += "lab,t4,elementwise,fp16,rows=" + std::string(rows) +
                 ";cols=512;reads=1;writes=1;fn=relu,10,graph_replay;l2=warm_if_fits,\n";
    std::vector<std::string> arguments{"validate", folder.write("shapes.csv", table), "--json", "-"};
    for (const auto& setting : settings) arguments.insert(arguments.end(), {"--set", setting});
    const auto o = command(arguments);
    INFO(o.err);
    REQUIRE(o.code == 0);
    std::string made = kMeasuredHeader;
    const json report = json::parse(o.out);
    for (const auto& row : report["rows"]) {
        made += "lab,t4,elementwise,fp16," + row["shape"].get<std::string>() + "," + std::to_string(row["sim_us"].get<double>()) +
                ",graph_replay;l2=warm_if_fits,\n";
    }
    return folder.write("made.csv", made);
}

}  // namespace

TEST_CASE("the value that made the rows is found, and what they do not depend on is not claimed", "[calibrate]") {
    const Folder folder;
    const std::string rows = made_with(folder, {"launch.graph_gap=1.7us"}), out = folder.file("fitted.yaml");
    const auto o = command({"calibrate", "--gpu", "t4", "--measured", rows, "--free", "launch.graph_gap,launch.grid_sync",
                            "--folds", "2", "--out", out});
    INFO(o.out << o.err);
    REQUIRE(o.code == 0);
    CHECK_THAT(o.out, Contains("8 rows"));
    CHECK_THAT(o.out, Contains("2 folds, rows held out"));
    CHECK_THAT(o.out, Contains("warning: launch.grid_sync is not identifiable"));
    const std::string yaml = rafter::test::read_text(out);
    CHECK_THAT(yaml, Contains("standing: measured"));
    CHECK_THAT(yaml, Contains("rafter calibrate --gpu t4 --measured made.csv"));
    CHECK(yaml.find("grid_sync: {") == std::string::npos);
    const auto at = yaml.find("graph_gap: {value: ");
    REQUIRE(at != std::string::npos);
    CHECK(std::stod(yaml.substr(at + 19)) == Approx(1.7e9).epsilon(0.01));
    CHECK(command({"check", out}).code == 0);
}

TEST_CASE("a value at its bound is warned of", "[calibrate]") {
    const Folder folder;
    const std::string rows = made_with(folder, {"launch.graph_gap=4us"});
    const auto o = command({"calibrate", "--gpu", "t4", "--measured", rows, "--free", "launch.graph_gap", "--folds", "0"});
    INFO(o.out << o.err);
    CHECK(o.code == 0);
    CHECK_THAT(o.out, Contains("warning: launch.graph_gap sits at its bound"));
}

TEST_CASE("calibration refuses too few rows, unknown values and files that exist", "[calibrate]") {
    const Folder folder;
    const std::string rows =
        folder.write("m.csv", kMeasuredHeader + "lab,t4,gemm,fp16,m=64;n=64;k=64,10,graph_replay;l2=cold,\n");
    auto o = command({"calibrate", "--gpu", "t4", "--measured", rows, "--free", "launch.graph_gap"});
    CHECK(o.code == 2);
    CHECK_THAT(o.err, Contains("1 rows of t4 for 1 free values and 5 folds; at least 7 are needed"));
    o = command({"calibrate", "--gpu", "t4", "--measured", rows, "--free", "launch.graph_gape", "--folds", "0"});
    CHECK(o.code == 2);
    CHECK_THAT(o.err, Contains("did you mean 'launch.graph_gap'?"));
    o = command({"calibrate", "--gpu", "t4", "--measured", rows, "--free", "launch.graph_gap", "--out", rows});
    CHECK(o.code == 2);
    CHECK_THAT(o.err, Contains("--force"));
}
