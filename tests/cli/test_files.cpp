// rafter check, gpus, workloads and explain kernels over everything that is shipped.
#include <cstdlib>
#include <set>
#include <sstream>

#include "tests/catch.h"
#include "tests/cli/command.h"
#include "tests/golden.h"

using rafter::test::command;
using rafter::test::Folder;

namespace {

std::vector<std::string> first_words(const std::string& text, bool skip_first_line) {
    std::istringstream lines(text);
    std::vector<std::string> words;
    for (std::string line; std::getline(lines, line);) {
        if (!skip_first_line) words.push_back(line.substr(0, line.find(' ')));
        skip_first_line = false;
    }
    return words;
}

}  // namespace

TEST_CASE("every shipped file passes the check", "[cli]") {  // C083
    auto names = first_words(command({"gpus"}).out, true);
    CHECK(names.size() >= 25);
    for (const auto& workload : first_words(command({"workloads"}).out, false)) names.push_back(workload);
    CHECK(names.size() >= 25 + 5);
    for (const auto& name : names) {
        const auto o = command({"check", name});
        INFO(name << ": " << o.err);
        CHECK(o.code == 0);
        CHECK(o.err == "");
    }
}

TEST_CASE("every value of the shipped GPUs has its source", "[cli]") {
    const auto o = command({"gpus", "--lint"});
    CHECK(o.code == 0);
    CHECK(o.err == "");
}

TEST_CASE("every shipped GPU runs a product, a softmax and a gather", "[cli]") {
    const Folder folder;
    const auto workload = folder.write("small.yaml",
                                       "schema: rafter.workload/1\ntitle: small\nfamily: mlp\ndtype: fp16\nlayers:\n"
                                       "  - {name: gather, op: embedding_bag, rows: 1000, dim: 64, batch: 256}\n"
                                       "  - {name: fc, op: linear, m: 256, n: 256, k: 64}\n"
                                       "  - {name: soft, op: softmax, rows: 256, cols: 256}\n");
    for (const auto& name : first_words(command({"gpus"}).out, true)) {
        const auto o = command({"run", "--gpu", name, "--workload", workload, "--csv", "-", "--quiet"});
        INFO(name << ": " << o.err);
        CHECK(o.code == 0);
        CHECK(o.out.find("soft") != std::string::npos);
    }
}

TEST_CASE("check reports every file and fails when one does", "[cli]") {
    const Folder folder;
    const auto bad = folder.write("bad.yaml", "schema: rafter.gpu/1\nbase: t4\ntitle: Bad\nl2:\n  capasity: 50 MiB\n");
    const auto o = command({"check", "t4", bad, "mlp"});
    CHECK(o.code == 2);
    CHECK(o.out.find("NVIDIA T4") != std::string::npos);
    CHECK(o.out.find("mlp ") != std::string::npos);
    CHECK(o.err == bad + ":5:3: error: unknown key 'capasity' in l2 (did you mean 'capacity'?)\n  capasity: 50 MiB\n  ^\n");
}

TEST_CASE("explain kernels lists every layer", "[cli]") {
    const auto o = command({"explain", "kernels", "--gpu", "a100-sxm4-80gb", "--workload", "mlp"});
    CHECK(o.code == 0);
    CHECK(o.out.find("fc1 (linear)\n  kernel ") != std::string::npos);
}

TEST_CASE("the published timings are many, of every kind, and each has a name of its own", "[cli]") {
    std::istringstream lines(
        rafter::test::read_text(std::string(std::getenv("RAFTER_SOURCE")) + "/validate/measured/figures.yaml"));
    std::set<std::string> ids, gpus, ops;
    std::size_t count = 0;
    for (std::string line; std::getline(lines, line);) {
        if (line.rfind("  - id: ", 0) == 0) ++count, ids.insert(line);
        if (line.rfind("    gpu: ", 0) == 0) gpus.insert(line.substr(9));
        if (line.rfind("    op: ", 0) == 0) ops.insert(line.substr(8));
    }
    CHECK(count >= 110);
    CHECK(ids.size() == count);
    CHECK(gpus.size() >= 13);
    for (const char* op : {"gemm", "conv", "lstm", "embedding", "attention_prefill", "attention_decode", "softmax"})
        CHECK(ops.count(op) == 1);
    const auto o = command({"validate", "--gpu", "a40", "--gpu", "l40", "--gpu", "h200-sxm-141gb"});
    CHECK(o.code == 0);
    CHECK(o.out.find("not simulated") == std::string::npos);
}
