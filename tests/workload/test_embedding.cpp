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
