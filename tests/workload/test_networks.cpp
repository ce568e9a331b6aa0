// The shipped networks: totals with their derivation, and the memory they need.
#include <cmath>
#include <sstream>

#include "sim/config/loader.h"
#include "tests/workload/helpers.h"

using namespace rafter;
using namespace rafter::workload;
using namespace rafter::workload::test;

namespace {

std::int64_t resident(const Model& model, const std::string& name) {
    for (const Consumer& c : model.memory())
        if (c.name.rfind(name, 0) == 0) return c.size.value;
    return 0;
}

std::int64_t total_memory(const Model& model) {
    std::int64_t sum = 0;
    for (const Consumer& c : model.memory()) sum += c.size.value;
    return sum;
}

}  // namespace

TEST_CASE("C083 every shipped workload is read", "[workload]") {
    const auto names = config::list_data_files("workloads");
    CHECK(names.size() >= 20);
    for (const std::string& name : names) {
        INFO(name);
        const Model model = load(name, {});
        CHECK_FALSE(model.title.empty());
        CHECK_FALSE(model.source.empty());
        CHECK_FALSE(model.phases.empty());
    }
}

TEST_CASE("the five networks fit a 16 GB GPU", "[workload]") {
    for (const char* name : {"dlrm", "mlp", "cnn", "rnn", "transformer"}) {
        INFO(name);
        CHECK(total_memory(load(name, {})) < 14'000'000'000);
    }
}

TEST_CASE("cnn is ResNet-50", "[workload]") {
    const Model model = load("cnn", {});
    // An image: conv1 118,013,952; stages 667,942,912 + 1,027,604,480 + 1,464,336,384 + 809,238,528; fc 2,048,000
    CHECK(text(total_macs(model)) == text(Count{32} * 4'089'184'256));
    CHECK(total_macs(load("cnn", {{"batch", "1"}})) == Count{4'089'184'256});
    // 23,454,912 in convolutions, 2,049,000 in the linear layer, 26,560 folded biases
    CHECK(resident(model, "weights") == 2 * (23'454'912 + 2'049'000 + 26'560));
    std::int64_t convolutions = 0;
    for (const Block& block : model.phases[0].blocks)
        for (const Layer& layer : block.layers) convolutions += layer.op == "conv2d" ? block.repeat : 0;
    CHECK(convolutions == 53);
}

TEST_CASE("transformer is Llama 3.2 3B", "[workload]") {
    const Model model = load("transformer", {});
    // 28 * (3072 * 5120 + 3072^2 + 3 * 3072 * 8192 + 2 * 3072) + 3072 + 128256 * 3072 (tied) = 3,212,749,824 parameters
    CHECK(resident(model, "weights") + resident(model, "embedding table embed") == 2 * 3'212'749'824);
    // The cache after 2048 + 32 tokens: 28 layers * 2 * 8 * 128 * 2 B = 114,688 B a token
    CHECK(resident(model, "KV cache") == 2080 * 114'688);
    const Layer head = find(model, "prefill", "lm_head");
    CHECK(text(count(head).macs) == text(Count{3072} * 128256));  // C025: the last token only
    CHECK(head.parameters.at(0).id == "embed.table");
    for (std::int64_t t = 0; t < 32; ++t) {
        const Layer attention = find(model, "decode", "attention", t, 5);
        CHECK(attention.parameters.at(0).id == "decoder[5]/attention.kv");
        CHECK(28 * attention.parameters.at(0).size.value == (2049 + t) * 114'688);
    }
    const Count prefill = count(find(model, "prefill", "attention")).macs;
    CHECK(text(prefill) == text(Count{24} * 2 * 128 * (2048 * 2049 / 2)));
}

TEST_CASE("transformer takes the shape of Llama 3 8B", "[workload]") {
    const Model model = load("transformer", {{"layers", "32"}, {"hidden", "4096"}, {"heads", "32"}, {"ffn", "14336"}});
    // 8,030,261,248 parameters less the untied lm_head (128256 * 4096)
    CHECK(resident(model, "weights") + resident(model, "embedding table embed") == 2 * (8'030'261'248 - 128256LL * 4096));
}

TEST_CASE("dlrm is the Criteo model with 26 tables", "[workload]") {
    const Model model = load("dlrm", {});
    std::int64_t tables = 0, rows = 0;
    Count looked_up{};
    for (const Block& block : model.phases[0].blocks) {
        for (const Layer& layer : block.layers) {
            if (const auto* bag = std::get_if<EmbeddingBag>(&layer.operation)) {
                tables += bag->tables;
                rows += bag->tables * bag->rows;
                looked_up += static_cast<Count>(count(layer).parameter_bytes.value);
            }
        }
    }
    CHECK(tables == 26);
    CHECK(std::abs(rows - 32'709'138) < 26);  // the sum of the 26 cardinalities, to the rounding of the means
    CHECK(text(looked_up) == text(Count{2048} * 26 * 128 * 2));
    // A sample: bottom 170,496, interaction 27 * 27 * 128 = 93,312, top 480-1024-1024-512-256-1 = 2,195,712
    CHECK(text(total_macs(model)) == text(Count{2048} * (170'496 + 93'312 + 2'195'712)));
}

TEST_CASE("rnn is the large Penn Treebank model", "[workload]") {
    const Model model = load("rnn", {});
    // a token: 2 layers * 4 * 1500 * 3000, decoder 1500 * 10000
    CHECK(text(total_macs(model)) == text(Count{20 * 35} * (2 * 4 * 1500 * 3000 + 1500 * 10000)));
    CHECK(chain_length(find(model, "forward", "lstm")) == 70);
}

TEST_CASE("mlp reuses its weights over the batch", "[workload]") {
    const Model model = load("mlp", {});
    CHECK(text(total_macs(model)) == text(Count{1024} * (5 * 4096 * 4096 + 4096)));
    const Model twice = load("mlp", {{"batch", "2048"}});
    CHECK(total_macs(twice) == 2 * total_macs(model));
    CHECK(resident(twice, "weights") == resident(model, "weights"));
}

TEST_CASE("the file in workloads/README.md is read as written", "[workload]") {
    const auto folder = std::filesystem::path(config::find_data_file("workloads", "mlp")).parent_path();
    std::ifstream readme(folder / "README.md");
    std::stringstream stream;
    stream << readme.rdbuf();
    const std::string content = stream.str();
    const auto from = content.find("```yaml\n") + 8, to = content.find("```", from);
    const TemporaryFile file(content.substr(from, to - from));
    // 64 * (1024 * 4096 + 3 * 4096 * 4096 + 4096 * 1024)
    CHECK(text(total_macs(load(file.path(), {}))) == "3758096384");
}

TEST_CASE("dlrm_small and dlrm_mlperf have the published tables", "[workload]") {
    const Layer small = find(load("dlrm_small", {}), "forward", "tables");
    CHECK(std::get<EmbeddingBag>(small.operation).tables == 26);
    CHECK(small.parameters.at(0).size.value == 33'762'577LL * 16 * 4);
    CHECK(count(small).parameter_bytes.value == 128 * 26 * 16 * 4);
    const Layer large = find(load("dlrm_mlperf", {}), "forward", "tables");
    CHECK(std::get<EmbeddingBag>(large.operation).tables == 26);
    CHECK(large.parameters.at(0).size.value == 187'767'399LL * 128 * 2);
    CHECK(count(large).parameter_bytes.value == 2048 * 26 * 128 * 2);
    // A sample: bottom 13-512-256-64-16, interaction 27 * 27 * 16, top 367-512-256-1
    CHECK(text(total_macs(load("dlrm_small", {}))) ==
          text(Count{128} * (13 * 512 + 512 * 256 + 256 * 64 + 64 * 16 + 27 * 27 * 16 + 367 * 512 + 512 * 256 + 256)));
    CHECK(text(total_macs(load("dlrm_mlperf", {}))) == text(Count{2048} * (170'496 + 93'312 + 2'195'712)));
}
