// Exit codes, whole messages, and what goes to which stream.
#include "tests/catch.h"
#include "tests/cli/command.h"

using rafter::test::Outcome;

namespace {

Outcome run(const std::vector<std::string>& arguments) { return rafter::test::command(arguments); }

void check_mistake(const std::vector<std::string>& arguments, const std::string& message) {
    const Outcome outcome = run(arguments);
    CHECK(outcome.code == 2);
    CHECK(outcome.out == "");
    CHECK(outcome.err == message);
}

const std::string kHint = "\nrafter --help and rafter COMMAND --help list what there is\n";

}  // namespace

TEST_CASE("version and help go to stdout", "[cli]") {
    const Outcome version = run({"--version"});
    CHECK(version.code == 0);
    CHECK(version.out == "rafter 0.1.0\n");
    CHECK(version.err == "");
    for (const std::vector<std::string>& help :
         {std::vector<std::string>{"--help"}, {"run", "--help"}, {"explain", "layer", "--help"}, {"check", "--help"}}) {
        const Outcome outcome = run(help);
        CHECK(outcome.code == 0);
        CHECK(outcome.out.find("Usage: rafter") != std::string::npos);
        CHECK(outcome.err == "");
    }
}

TEST_CASE("commands and options that do not exist", "[cli]") {
    check_mistake({"rn"}, "error: unknown command 'rn' (did you mean 'run'?)" + kHint);
    check_mistake({"run", "--gpo", "t4"}, "error: unknown option '--gpo' of rafter run (did you mean '--gpu'?)" + kHint);
    check_mistake({"explain", "kernls"}, "error: unknown command 'kernls' (did you mean 'kernels'?)" + kHint);
    check_mistake({"run"}, "error: --gpu is required" + kHint);
}

TEST_CASE("names that do not exist", "[cli]") {
    check_mistake({"check", "mlpp"},
                  "error: no GPU or workload named 'mlpp' (did you mean 'mlp'?); a file's name ends in .yaml\n");
    check_mistake({"check", "no-such.yaml"}, "error: no file 'no-such.yaml'\n");
    const Outcome gpu = run({"run", "--gpu", "t5", "--workload", "mlp"});
    CHECK(gpu.code == 2);
    CHECK(gpu.err.rfind("error: no GPU named 't5' (did you mean 't4'?); known: ", 0) == 0);
}

TEST_CASE("settings that name nothing", "[cli]") {
    const std::vector<std::string> base{"run", "--gpu", "t4", "--workload", "examples/relu", "--set"};
    const auto with = [&](const std::string& setting) {
        auto arguments = base;
        arguments.push_back(setting);
        return arguments;
    };
    check_mistake(with("l3.capacity=1MiB"), "error: --set l3.capacity=1MiB: 'l3' is no section of a GPU (did you mean 'l2'?)\n");
    check_mistake(with("batch"), "error: --set batch: expected PATH=VALUE\n");
    check_mistake(with("l2.capasity=1MiB"),
                  "--set l2.capasity=1MiB: error: unknown key 'capasity' in l2 (did you mean 'capacity'?)\n");
    CHECK(run(with("bacth=64")).code == 2);
}

TEST_CASE("explain layer shows the arithmetic of the fully connected layer", "[cli]") {
    const Outcome o = run({"explain", "layer", "--op", "gemm", "--m", "1", "--n", "4096", "--k=4096", "--dtype", "fp32"});
    CHECK(o.code == 0);
    CHECK(o.err == "");
    for (const char* line : {"MACs = batch x m x n x k = 1 x 1 x 4096 x 4096 = 16777216\n", "FLOPs = 2 x MACs = 33554432\n",
                             "bytes read = 67125248, written = 16384, in all = 67141632\n", "= 0.4998 FLOP/byte",
                             "verdict: memory-bound: 0.4998 FLOP/byte is left of the ridge\n", "  kernel "}) {
        INFO(line);
        CHECK(o.out.find(line) != std::string::npos);
    }
}

TEST_CASE("explain layer knows every operation", "[cli]") {
    const std::vector<std::vector<std::string>> layers{
        {"linear", "--m", "8", "--n", "64", "--k", "64"},
        {"bmm", "--batch", "2", "--m", "8", "--n", "64", "--k", "64"},
        {"conv2d", "--n", "1", "--c", "4", "--h", "8", "--w", "8", "--k", "8", "--kernel", "3", "--padding", "1"},
        {"attention", "--batch", "1", "--heads", "4", "--head_dim", "64", "--seq_q", "16", "--seq_kv", "16"},
        {"embedding_bag", "--rows", "1000", "--dim", "64", "--batch", "4"},
        {"rnn", "--batch", "4", "--steps", "3", "--input", "64", "--hidden", "64"},
        {"lstm", "--batch", "4", "--steps", "3", "--input", "64", "--hidden", "64"},
        {"gru", "--batch", "4", "--steps", "3", "--input", "64", "--hidden", "64"},
        {"elementwise", "--rows", "4", "--cols", "64", "--fn", "relu"},
        {"softmax", "--rows", "4", "--cols", "64"},
        {"layernorm", "--rows", "4", "--cols", "64"},
        {"rmsnorm", "--rows", "4", "--cols", "64"},
        {"reduce", "--rows", "4", "--cols", "64"},
        {"pool2d", "--n", "1", "--c", "8", "--h", "8", "--w", "8", "--kernel", "2", "--stride", "2"}};
    for (const auto& layer : layers) {
        std::vector<std::string> arguments{"explain", "layer", "--op"};
        arguments.insert(arguments.end(), layer.begin(), layer.end());
        const Outcome o = run(arguments);
        INFO(layer[0] << ": " << o.err);
        CHECK(o.code == 0);
        CHECK(o.out.find("verdict: ") != std::string::npos);
        CHECK(o.out.find("\n  kernel ") != std::string::npos);
    }
    check_mistake(
        {"explain", "layer", "--op", "gem"},
        "error: unknown op 'gem' (did you mean 'gemm'?); known: gemm, linear, bmm, conv2d, attention, embedding_bag, rnn, lstm, "
        "gru, elementwise, softmax, layernorm, rmsnorm, reduce, pool2d\n");
}

TEST_CASE("output that cannot be written is an error", "[cli]") {
    // the shell gives rafter a full disk for its stdout
    const std::string command = std::string(std::getenv("RAFTER_BINARY")) + " gpus >/dev/full 2>/dev/null";
    CHECK(WEXITSTATUS(std::system(command.c_str())) == 2);
}
