#include "tests/workload/helpers.h"

using namespace rafter;
using namespace rafter::workload;
using namespace rafter::workload::test;

TEST_CASE("C058 a gather is not a GEMM", "[workload]") {
    const Layer one = layer_of("op: embedding_bag, tables: 26, rows: 1000, dim: 64, batch: 128, pooling: 1", "fp32");
    CHECK(text(count(one).macs) == "0");
    CHECK(text(count(one).flops) == "0");
    CHECK(count(one).parameter_bytes.value == 26 * 128 * 64 * 4);  // rows looked up, not the table
    const Layer pooled = layer_of("op: embedding_bag, tables: 26, rows: 1000, dim: 64, batch: 128, pooling: 20", "fp32");
    CHECK(text(count(pooled).flops) == fmt::format("{}", 26 * 128 * 19 * 64));
    CHECK(count(pooled).parameter_bytes.value == 26 * 128 * 20 * 64 * 4);
    CHECK(count(pooled).output_bytes.value == 26 * 128 * 64 * 4);
}

TEST_CASE("C056 narrow rows keep their useful bytes", "[workload]") {
    for (const int dim : {1, 3, 4, 8, 16, 32}) {
        const Counts counts = count(layer_of(fmt::format("op: embedding_bag, rows: 1000, dim: {}, batch: 64", dim), "fp32"));
        CHECK(counts.parameter_bytes.value == 64 * dim * 4);
    }
}

namespace {

std::string index_error(const std::string& indices, const std::string& rows) {
    const TemporaryFile file(indices, ".txt");
    return layer_error(fmt::format("op: embedding_bag, rows: {}, dim: 8, batch: 2, indices: {}", rows, file.name()));
}

}  // namespace

TEST_CASE("C059 an index beyond the table names its line", "[workload]") {
    CHECK(index_error("1\n2\n100\n", "100").find(".txt:3:1: error: index 100 is outside the table; allowed: 0 to 99\n100\n^") !=
          std::string::npos);
    CHECK(index_error("1\n-7\n", "100").find(":2:1: error: index -7 is outside the table") != std::string::npos);
    CHECK(index_error("1\nx7\n", "100").find(":2:1: error: expected one index a line, found 'x7'") != std::string::npos);
    CHECK(index_error("# nothing\n", "100").find("holds no index") != std::string::npos);
    CHECK(layer_error("op: embedding_bag, rows: 8, dim: 8, batch: 2, indices: no_such.txt").find("cannot read") !=
          std::string::npos);
}

TEST_CASE("C059 tables of more than 2^31 rows", "[workload]") {
    const TemporaryFile file("2147483648\n4294967295\n", ".txt");
    const Layer layer =
        layer_of(fmt::format("op: embedding_bag, rows: 4294967296, dim: 8, batch: 2, indices: {}", file.name()), "fp32");
    CHECK(std::get<EmbeddingBag>(layer.operation).indices == std::vector<std::int64_t>{2147483648, 4294967295});
    CHECK(layer.parameters.at(0).size.value == 4294967296 * 8 * 4);
}

TEST_CASE("C082 comments, blank lines, CRLF and a trailing comma in an index file", "[workload]") {
    const TemporaryFile file("# ids\r\n1,\r\n\r\n  2\r\n3", ".txt");
    const Layer layer = layer_of(fmt::format("op: embedding_bag, rows: 10, dim: 8, batch: 3, indices: {}", file.name()));
    CHECK(std::get<EmbeddingBag>(layer.operation).indices == std::vector<std::int64_t>{1, 2, 3});
}

TEST_CASE("the seed and the distribution are in the notes", "[workload]") {
    const Model model = load_text(
        "dtype: fp32\nlayers:\n  - {name: e, op: embedding_bag, rows: 9, dim: 8, batch: 2, pattern: zipf, alpha: 1.05, seed: "
        "7}\n");
    REQUIRE(model.notes.size() == 1);
    CHECK(model.notes[0] == "e: Zipf indices, alpha 1.05, seed 7");
    CHECK(layer_error("op: embedding_bag, rows: 9, dim: 8, batch: 2, pattern: zipf").find("zipf needs alpha") !=
          std::string::npos);
}

TEST_CASE("a mean multiplies every value once, weights every value read", "[workload]") {
    const std::string bag = "op: embedding_bag, tables: 3, rows: 1000, dim: 16, batch: 10, pooling: 7, mode: ";
    const Counts sum = count(layer_of(bag + "sum")), mean = count(layer_of(bag + "mean")),
                 each = count(layer_of(bag + "weighted"));
    CHECK(text(sum.flops) == fmt::format("{}", 3 * 10 * 6 * 16));
    CHECK(text(mean.flops) == fmt::format("{}", 3 * 10 * 7 * 16));
    CHECK(text(each.flops) == fmt::format("{}", 3 * 10 * 13 * 16));
    CHECK(mean.total_bytes().value == sum.total_bytes().value);
    CHECK(each.total_bytes().value == sum.total_bytes().value + 3 * 10 * 7 * 4);
    CHECK(layer_error(bag + "max").find("'max' is not one of sum, mean, weighted") != std::string::npos);
}

TEST_CASE("lengths of bags: their total is the sum, all occur, empty bags add nothing", "[workload]") {
    const BagLengths lengths{0, 40, 7};
    std::int64_t total = 0, filled = 0;
    std::vector<int> seen(41);
    for (std::int64_t b = 0; b < 100'000; ++b) {
        const std::int64_t n = lengths(b);
        REQUIRE((n >= 0 && n <= 40));
        if (b % 977 == 0) CHECK(lengths.before(b) == total);
        total += n, filled += n > 0 ? 1 : 0, ++seen[static_cast<std::size_t>(n)];
    }
    CHECK(lengths.before(100'000) == total);
    CHECK(lengths.filled(100'000) == filled);
    double chi = 0;  // 40 degrees of freedom: mean 40, standard deviation 9
    for (const int n : seen) chi += (n - 100'000.0 / 41) * (n - 100'000.0 / 41) / (100'000.0 / 41);
    CHECK(chi < 40 + 5 * 9 * 1.5);  // complements in pairs widen it
    // A billion bags: periods of 2^20, each with the mean of 20.
    CHECK(lengths.before(BagLengths::kPeriod * 1000) == BagLengths::kPeriod * 1000 * 20);
    CHECK(lengths.filled(BagLengths::kPeriod * 1000) == 1000 * lengths.filled(BagLengths::kPeriod));

    const Layer layer =
        layer_of("op: embedding_bag, tables: 4, rows: 100, dim: 8, batch: 25000, seed: 7, lengths: {min: 0, max: 40}");
    CHECK(count(layer).parameter_bytes.value == total * 8 * 2);
    CHECK(text(count(layer).flops) == fmt::format("{}", (total - filled) * 8));
    const Layer mean = layer_of(
        "op: embedding_bag, tables: 4, rows: 100, dim: 8, batch: 25000, seed: 7, mode: mean, lengths: {min: 0, max: 40}");
    CHECK(text(count(mean).flops) == fmt::format("{}", total * 8));
}

TEST_CASE("mistakes in lengths, hot sets and lists of rows name their place", "[workload]") {
    const std::string bag = "op: embedding_bag, dim: 8, batch: 2, ";
    const auto error = [&](const std::string& more) { return layer_error(bag + more); };
    CHECK(error("rows: 9, pooling: 3, lengths: {min: 0, max: 4}").find("a bag has either a pooling or lengths") !=
          std::string::npos);
    CHECK(error("rows: 9, lengths: {min: 5, max: 4}").find("4 is out of range; allowed: min = 5 to 1073741824") !=
          std::string::npos);
    CHECK(error("rows: 9, lengths: {min: 0, max: 4, mean: 2}").find("unknown key 'mean'") != std::string::npos);
    CHECK(error("rows: 9, lengths: {min: 0}").find("max") != std::string::npos);
    CHECK(error("rows: 9, hot_set: {rows: 2, lookups: 0.9}").find("hot_set.rows") != std::string::npos);
    CHECK(error("rows: 9, hot_set: {rows: 0.1}").find("lookups") != std::string::npos);
    CHECK(error("rows: 9, pattern: hot_set").find("hot_set needs hot_set: {rows: SHARE, lookups: SHARE}") != std::string::npos);
    CHECK(error("rows: 9, pattern: uniform, hot_set: {rows: 0.1, lookups: 0.9}").find("only the pattern hot_set has one") !=
          std::string::npos);
    CHECK(error("rows: [9, 0]").find("0 is out of range; allowed: 1 to") != std::string::npos);
    CHECK(error("rows: []").find("at least one table") != std::string::npos);
    CHECK(error("rows: [9, 8], tables: 3").find("3 tables, but rows lists 2") != std::string::npos);
    CHECK(error("rows: 9, kernels: each").find("'each' is not one of table_batched, one_per_table") != std::string::npos);
}

TEST_CASE("tables of different rows are one tensor of all rows", "[workload]") {
    const Layer layer =
        layer_of("op: embedding_bag, rows: [1460, 583, 3], dim: 16, batch: 4, hot_set: {rows: 0.01, lookups: 0.9}");
    const auto& bag = std::get<EmbeddingBag>(layer.operation);
    CHECK(bag.tables == 3);
    CHECK(bag.pattern == IndexPattern::hot_set);
    CHECK(layer.parameters.at(0).size.value == (1460 + 583 + 3) * 16 * 2);
    CHECK(count(layer).parameter_bytes.value == 3 * 4 * 16 * 2);
    CHECK(layer.outputs.at(0).size.value == 3 * 4 * 16 * 2);
}

TEST_CASE("the backward pass reads gradients of bags and writes rows", "[workload]") {
    const std::string bag = "op: embedding_bag, tables: 3, rows: 1000, dim: 16, batch: 10, pooling: 7, pass: backward";
    constexpr std::int64_t kRows = 3 * 10 * 7, kRow = 16 * 2;
    const Layer dense = layer_of(bag), step = layer_of(bag + ", optimizer: sgd, gradient: atomics");
    CHECK(count(dense).input_bytes.value == 3 * 10 * kRow);
    CHECK(count(dense).parameter_bytes.value == 0);
    CHECK(count(dense).output_bytes.value == kRows * kRow);
    CHECK(text(count(dense).flops) == fmt::format("{}", kRows * 16));
    CHECK(dense.outputs.at(0).size.value == kRows * kRow);
    CHECK(count(step).parameter_bytes.value == kRows * kRow);
    CHECK(count(step).output_bytes.value == kRows * kRow);
    CHECK(step.outputs.at(0).id == step.parameters.at(0).id);
    const Layer adagrad = layer_of(bag + ", optimizer: rowwise_adagrad");
    CHECK(adagrad.parameters.at(1).size.value == 3 * 1000 * 4);
    CHECK(count(adagrad).output_bytes.value == kRows * (kRow + 4));
    CHECK(text(count(layer_of(bag + ", mode: weighted")).flops) == fmt::format("{}", 2 * kRows * 16));

    CHECK(layer_error(bag + ", gradient: atomics, optimizer: rowwise_adagrad").find("allowed with atomics: none, sgd") !=
          std::string::npos);
    CHECK(layer_error(bag + ", kernels: one_per_table").find("table_batched kernels only") != std::string::npos);
    CHECK(layer_error(bag + ", optimizer: adam").find("is not one of none, sgd, rowwise_adagrad") != std::string::npos);
    CHECK(layer_error("op: embedding_bag, rows: 9, dim: 8, batch: 2, optimizer: sgd").find("only pass: backward has one") !=
          std::string::npos);
    CHECK(layer_error("op: embedding_bag, rows: 9, dim: 8, batch: 8388609, pass: backward").find("at most 8388608 look-ups") !=
          std::string::npos);
}

TEST_CASE("the state of an optimizer is in memory beside its tables", "[workload]") {
    const Model model = load_text(
        "dtype: fp32\nlayers:\n"
        "  - {name: back, op: embedding_bag, tables: 2, rows: 100000, dim: 8, batch: 4, pass: backward, optimizer: "
        "rowwise_adagrad}\n");
    const auto memory = model.memory();
    REQUIRE(memory.size() == 3);
    CHECK((memory[0].name == "embedding tables back[0..1], each 3200000 B" && memory[0].size.value == 6'400'000));
    CHECK((memory[1].name == "optimizer state of back" && memory[1].size.value == 800'000));
    CHECK(memory[2].size.value == 2 * 4 * 8 * 4);  // gradients: what is updated in place is held once
}

TEST_CASE("a backward pass can share the table of the forward pass", "[workload]") {
    const Model model = load_text(
        "dtype: fp16\nlayers:\n"
        "  - {name: emb, op: embedding_bag, tables: 2, rows: 100, dim: 8, batch: 4}\n"
        "  - {name: back, op: embedding_bag, tables: 2, rows: 100, dim: 8, batch: 4, pass: backward, optimizer: sgd, share: "
        "emb}\n"
        "  - {name: again, op: embedding_bag, tables: 2, rows: 100, dim: 8, batch: 4, pass: backward, optimizer: sgd, share: "
        "emb, "
        "inputs: [emb]}\n");
    const auto& layers = model.phases.at(0).blocks.at(0).layers;
    CHECK(layers.at(1).outputs.at(0).id == layers.at(0).parameters.at(0).id);
    CHECK(layers.at(2).outputs.at(0).id == layers.at(0).parameters.at(0).id);
    CHECK(layers.at(1).inputs.at(0).id == layers.at(0).outputs.at(0).id);
}
