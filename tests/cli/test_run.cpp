#include <filesystem>
#include <nlohmann/json.hpp>

#include "tests/catch.h"
#include "tests/cli/command.h"
#include "tests/golden.h"

using rafter::test::command;
using rafter::test::Folder;
using rafter::test::read_text;
using Json = nlohmann::ordered_json;

namespace {

std::vector<std::string> small_run(std::initializer_list<std::string> more) {
    std::vector<std::string> arguments{"run", "--gpu", "t4", "--workload", "examples/mlp_layer"};
    arguments.insert(arguments.end(), more);
    return arguments;
}

Json without_simulator(const std::string& text) {
    auto json = Json::parse(text);
    json.erase("simulator");
    return json;
}

}  // namespace

TEST_CASE("a run answers the three questions", "[cli]") {
    const auto o = command(small_run({}));
    CHECK(o.code == 0);
    CHECK(o.err == "");  // no progress: not a terminal
    CHECK(o.out.find('\033') == std::string::npos);
    for (const char* part : {"What is the GPU waiting on?", "How much can run at once?", "How often is data reused?", "Why",
                             "Totals", "Roofline of t4"})
        CHECK(o.out.find(part) != std::string::npos);
}

TEST_CASE("a dash sends JSON or CSV alone to stdout", "[cli]") {
    const auto json = command(small_run({"--json", "-"}));
    CHECK(json.code == 0);
    const auto parsed = Json::parse(json.out);
    CHECK(parsed.at("schema") == "rafter.result/1");
    CHECK(parsed.at("gpu").at("name") == "t4");
    CHECK(parsed.at("layers").at(0).at("macs") == 8'388'608);
    CHECK(parsed.at("layers").at(0).at("time_s") >= parsed.at("layers").at(0).at("roofline_time_s"));
    const auto csv = command(small_run({"--csv", "-"}));
    CHECK(csv.out.rfind("phase,name,op,", 0) == 0);
    const auto both = command(small_run({"--json", "-", "--csv", "-"}));
    CHECK(both.code == 2);
    CHECK(both.err == "error: --json and --csv both write to -\n");
}

TEST_CASE("quiet prints nothing and changes no figure", "[cli]") {  // C029
    const Folder folder;
    const auto o = command(small_run({"--quiet", "--json", folder.file("q.json")}));
    CHECK(o.code == 0);
    CHECK(o.out == "");
    CHECK(o.err == "");
    CHECK(command(small_run({"--detail", "kernel", "--json", folder.file("k.json")})).code == 0);
    CHECK(without_simulator(read_text(folder.file("q.json"))) == without_simulator(read_text(folder.file("k.json"))));
}

TEST_CASE("the same input gives the same bytes, in any locale", "[cli]") {  // C079
    const auto first = without_simulator(command(small_run({"--json", "-"})).out);
    const auto second = without_simulator(command(small_run({"--json", "-"}), {"LC_ALL=de_DE.UTF-8"}).out);
    CHECK(first.dump() == second.dump());
}

TEST_CASE("a result is not overwritten without --force", "[cli]") {  // C098
    const Folder folder;
    const auto path = folder.write("r.json", "precious");
    const auto refused = command(small_run({"--json", path}));
    CHECK(refused.code == 2);
    CHECK(refused.out == "");  // refused before the run
    CHECK(refused.err == "error: " + path + " exists; give --force to replace it\n");
    CHECK(read_text(path) == "precious");
    CHECK(command(small_run({"--json", path, "--force"})).code == 0);
    CHECK(Json::parse(read_text(path)).at("schema") == "rafter.result/1");
}

TEST_CASE("what does not fit is refused before the run, without an output file", "[cli]") {  // C053
    const Folder folder;
    const auto o = command({"run", "--gpu", "t4", "--workload", "examples/embedding_100m", "--json", folder.file("r.json")});
    CHECK(o.code == 2);
    CHECK(o.out == "");
    CHECK(o.err.find("51200000000") != std::string::npos);
    CHECK_FALSE(std::filesystem::exists(folder.file("r.json")));
}

TEST_CASE("settings reach GPU and workload and are on record", "[cli]") {
    const auto o = command(small_run({"--set", "sm.count=7", "--launch", "graph", "--json", "-"}));
    INFO(o.err);
    REQUIRE(o.code == 0);
    const auto j = Json::parse(o.out);
    CHECK(j.at("gpu").at("sms") == 7);
    CHECK(j.at("options").at("launch") == "graph");
    bool recorded = false;
    for (const auto& leaf : j.at("gpu").at("effective_config"))
        recorded |= leaf.at("path") == "sm.count" && leaf.at("source").get<std::string>().find("--set") != std::string::npos;
    CHECK(recorded);
}

TEST_CASE("no colour even when asked by nobody", "[cli]") {
    CHECK(command(small_run({}), {"NO_COLOR=1"}).out.find('\033') == std::string::npos);
}

TEST_CASE("the two DLRMs with published tables run, the large one in 48 GB", "[cli]") {
    for (const char* name : {"dlrm_small", "dlrm_mlperf"}) {
        const auto o = command({"run", "--gpu", "a100-sxm4-80gb", "--workload", name, "--csv", "-", "--quiet"});
        INFO(name << ": " << o.err);
        CHECK(o.code == 0);
        CHECK(o.out.find("tables") != std::string::npos);
    }
    const auto o = command({"run", "--gpu", "t4", "--workload", "dlrm_mlperf"});
    CHECK(o.code == 2);
    CHECK(o.err.find("embedding tables tables[0..25]") != std::string::npos);
}

TEST_CASE("a backward pass of look-ups runs, sorted and with atomics", "[cli]") {
    const Folder folder;
    const std::string bag =
        "op: embedding_bag, tables: 2, rows: 5000, dim: 64, batch: 512, pooling: 8, pattern: zipf, alpha: 1.2";
    const auto workload =
        folder.write("back.yaml", "schema: rafter.workload/1\ntitle: back\nfamily: dlrm\ndtype: fp32\nlayers:\n  - {name: emb, " +
                                      bag + "}\n  - {name: atomics, " + bag +
                                      ", pass: backward, gradient: atomics, optimizer: sgd, share: emb}\n  - {name: sorted, " +
                                      bag + ", pass: backward, optimizer: rowwise_adagrad, inputs: [emb]}\n");
    const auto o = command({"run", "--gpu", "t4", "--workload", workload, "--json", "-"});
    INFO(o.err);
    REQUIRE(o.code == 0);
    const auto layers = Json::parse(o.out).at("layers");
    REQUIRE(layers.size() == 3);
    CHECK(layers.at(1).at("l1_write_bytes") == 2 * 512 * 8 * 64 * 4);  // every look-up adds its row
    // A row that is popular is added up before it is written.
    CHECK(layers.at(2).at("kernels").back().at("name") == "split_embedding_backward_rowwise_adagrad_fp32");
}

TEST_CASE("the cache of kernels changes no byte of a result, and can be counted and cleared", "[cli]") {
    const Folder folder;
    setenv("XDG_CACHE_HOME", folder.file("cache").c_str(), 1);
    const auto result = [&](std::initializer_list<std::string> more) { return Json::parse(command(small_run(more)).out); };
    const Json none = result({"--no-cache", "--json", "-"});
    CHECK(command({"cache"}).out.find("\n0 kernels") != std::string::npos);
    const Json cold = result({"--json", "-"}), warm = result({"--json", "-"});
    CHECK(cold.at("simulator").at("kernels_simulated") == none.at("simulator").at("kernels_simulated"));
    CHECK(warm.at("simulator").at("kernels_simulated") == 0);
    CHECK(warm.at("simulator").at("kernels_cached") == cold.at("simulator").at("kernels_simulated"));
    for (const Json& other : {cold, warm}) CHECK(without_simulator(other.dump()) == without_simulator(none.dump()));
    CHECK(command({"cache", "stats"}).out.find("\n0 kernels") == std::string::npos);
    CHECK(command({"cache", "clear"}).out.find("removed: ") != std::string::npos);
    CHECK(command({"cache", "stats"}).out.find("\n0 kernels") != std::string::npos);
    unsetenv("XDG_CACHE_HOME");
}
