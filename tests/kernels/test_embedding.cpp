#include <cmath>
#include <map>
#include <numeric>
#include <set>
#include <vector>

#include "sim/core/mix.h"
#include "sim/kernels/embedding_bag.h"
#include "sim/kernels/index_source.h"
#include "sim/lowering/lower.h"
#include "tests/catch.h"
#include "tests/kernels/layers.h"

using namespace rafter;
using kernels::Distribution;
using kernels::IndexSource;

TEST_CASE("Uniform indices fill all cells evenly", "[kernels][embedding]") {
    // 100,000 draws over 100 rows: chi-square with 99 degrees of freedom has mean 99 and standard deviation 14.07; 5 sigma = 169.
    const IndexSource source(Distribution::uniform, 100, 0.0, 7);
    std::vector<int> cells(100);
    for (int i = 0; i < 100000; ++i) ++cells.at(static_cast<std::size_t>(source.row(0, i)));
    double chi = 0.0;
    for (const int n : cells) chi += (n - 1000.0) * (n - 1000.0) / 1000.0;
    CHECK(chi < 169.0);
    CHECK(chi > 40.0);
}

TEST_CASE("Zipf ranks have their theoretical head frequencies", "[kernels][embedding]") {
    // P(rank) = rank^-alpha / H(n, alpha). With 1e6 draws the first ranks have thousands of hits: 3 % is more than 3 sigma.
    for (const double alpha : {0.8, 1.0, 1.2}) {
        const std::int64_t n = 100000;
        double harmonic = 0.0;
        for (std::int64_t r = 1; r <= n; ++r) harmonic += std::pow(static_cast<double>(r), -alpha);
        const kernels::Zipf zipf(n, alpha);
        std::vector<std::int64_t> hits(6);
        constexpr std::int64_t kDraws = 1000000;
        for (std::int64_t i = 0; i < kDraws; ++i) {
            const std::int64_t rank = zipf.rank(rafter::mix(3, static_cast<std::uint64_t>(i)));
            REQUIRE((rank >= 1 && rank <= n));
            if (rank < 6) ++hits[static_cast<std::size_t>(rank)];
        }
        for (std::size_t r = 1; r < 6; ++r) {
            const double expected = std::pow(static_cast<double>(r), -alpha) / harmonic * kDraws;
            CHECK(std::fabs(static_cast<double>(hits[r]) / expected - 1.0) < 0.03);
        }
    }
}

TEST_CASE("Scattering ranks over rows is a bijection", "[kernels][embedding]") {
    for (const std::int64_t n : {1, 2, 3, 10, 97, 1000, 4096}) {
        const kernels::Scatter scatter(n, 5);
        std::set<std::int64_t> rows;
        for (std::int64_t r = 0; r < n; ++r) rows.insert(scatter(r));
        CHECK(static_cast<std::int64_t>(rows.size()) == n);
        CHECK(*rows.begin() == 0);
        CHECK(*rows.rbegin() == n - 1);
    }
    const kernels::Scatter huge(10'000'000'000, 5);  // no memory in the rows
    CHECK(huge(0) != huge(1));
}

TEST_CASE("Indices depend on seed, table and position only", "[kernels][embedding]") {
    const IndexSource a(Distribution::zipf, 1000000, 1.1, 1), b(Distribution::zipf, 1000000, 1.1, 1),
        c(Distribution::zipf, 1000000, 1.1, 2);
    int same = 0;
    for (int i = 0; i < 1000; ++i) {
        CHECK(a.row(3, i) == b.row(3, i));
        same += a.row(3, i) == c.row(3, i) ? 1 : 0;
    }
    CHECK(same < 100);
    const IndexSource in_order(Distribution::sequential, 10, 0.0, 1);
    CHECK(in_order.row(0, 23) == 3);
    const IndexSource listed(Distribution::listed, 10, 0.0, 1,
                             std::make_shared<const std::vector<std::int64_t>>(std::vector<std::int64_t>{4, 2}));
    CHECK(listed.row(0, 3) == 2);
}

TEST_CASE("A bag reads its indices and rows once and writes one row", "[kernels][embedding]") {
    // Issue example: batch 2048, one look-up, d = 128 fp32: 1,048,576 B of rows.
    workload::EmbeddingBag op;
    op.tables = 1, op.rows = 100000, op.dim = 128, op.batch = 2048, op.pooling = 1;
    workload::Layer layer;
    layer.name = "emb", layer.operation = op, layer.weights = layer.activations = DType::fp32;
    auto r = test::record(lowering::lower(layer, test::a100()).at(0).kernel);
    CHECK(r.loaded[0] == 2048 * 8);
    CHECK(r.loaded[1] == 1'048'576);
    CHECK(r.stored[2] == 1'048'576);

    op.tables = 3, op.rows = 50, op.dim = 20, op.batch = 37, op.pooling = 11;
    layer.operation = op;
    r = test::record(lowering::lower(layer, test::a100()).at(0).kernel, true);
    CHECK(r.loaded[1] == 3 * 37 * 11 * 20 * 4);
    CHECK(r.fma == 3 * 37 * 11 * 20);
    test::each_byte_once(r.write_count.back());

    layer.parameters = {{"t0", Bytes(50 * 80)}, {"t1", Bytes(50 * 80)}, {"t2", Bytes(50 * 80)}};
    r = test::record(lowering::lower(layer, test::a100()).at(0).kernel);
    for (const std::size_t t : {1, 2, 3}) CHECK(r.loaded[t] == 37 * 11 * 80);
}

namespace {

workload::Layer layer_with(const workload::EmbeddingBag& op) {
    workload::Layer layer;
    layer.name = "emb", layer.operation = op, layer.weights = layer.activations = DType::fp32;
    return layer;
}

}  // namespace

TEST_CASE("A hot set takes its share of the look-ups", "[kernels][embedding]") {
    const IndexSource source(Distribution::hot_set, 10000, 0.0, 3, nullptr, {0.01, 0.9});
    std::map<std::int64_t, int> hits;
    for (int i = 0; i < 1000000; ++i) ++hits[source.row(0, i)];
    int hot_rows = 0, hot = 0;
    for (const auto& [row, n] : hits) {
        REQUIRE((row >= 0 && row < 10000));
        if (n > 1000) ++hot_rows, hot += n;  // 9000 each, against 10
    }
    CHECK(hot_rows == 100);
    CHECK(std::abs(hot - 900000) < 1500);  // 5 sigma
}

TEST_CASE("Bags of different lengths read their rows, weights and offsets", "[kernels][embedding]") {
    workload::EmbeddingBag op;
    op.tables = 3, op.rows = 50, op.dim = 20, op.batch = 137, op.pooling = 9;
    op.lengths = BagLengths{0, 9, 5};
    op.mode = workload::BagMode::weighted;
    const std::int64_t rows = op.lookups();
    REQUIRE((rows > 0 && rows < op.bags() * 9));
    auto r = test::record(lowering::lower(layer_with(op), test::a100()).at(0).kernel, true);
    test::each_byte_once(r.read_count[0]);  // indices
    CHECK(r.loaded[0] == rows * 8);
    CHECK(r.loaded[1] == (op.bags() + (op.bags() + 7) / 8) * 8);  // each group of eight reads the end of its last bag, too
    test::each_byte_once(r.read_count[2]);                        // weights
    CHECK(r.loaded[2] == rows * 4);
    CHECK(r.loaded[3] == rows * 20 * 4);
    CHECK(r.fma == rows * 20);
    test::each_byte_once(r.write_count.back());  // empty bags are written, too

    op.mode = workload::BagMode::mean;
    r = test::record(lowering::lower(layer_with(op), test::a100()).at(0).kernel);
    CHECK(r.fma == (rows + op.lengths->filled(op.bags())) * 20);

    op.lengths = BagLengths{0, 1, 5};  // groups without any row
    r = test::record(lowering::lower(layer_with(op), test::a100()).at(0).kernel, true);
    test::each_byte_once(r.read_count[0]);
    test::each_byte_once(r.write_count.back());
}

TEST_CASE("A kernel for each table touches what one for all does", "[kernels][embedding]") {
    workload::EmbeddingBag op;
    op.table_rows = {50, 3, 700}, op.tables = 3, op.rows = 700, op.dim = 20, op.batch = 37, op.pooling = 11;
    const auto all = test::record(lowering::lower(layer_with(op), test::a100()).at(0).kernel, true);
    for (std::size_t row = 0; row < 53; ++row) CHECK(all.read_count[1][row * 80] > 0);  // 407 draws of 50 and of 3 rows
    CHECK(std::accumulate(all.read_count[1].begin() + 50 * 80, all.read_count[1].begin() + 53 * 80, 0) == 37 * 11 * 80);
    test::each_byte_once(all.write_count.back());

    op.kernel_per_table = true;
    const auto launches = lowering::lower(layer_with(op), test::a100());
    REQUIRE(launches.size() == 3);
    std::vector<std::uint16_t> reads(all.read_count[1].size()), writes(all.write_count.back().size());
    for (const auto& launch : launches) {
        const auto one = test::record(launch.kernel, true);
        CHECK(one.loaded[0] == 37 * 11 * 8);
        for (std::size_t i = 0; i < reads.size(); ++i) reads[i] = static_cast<std::uint16_t>(reads[i] + one.read_count[1][i]);
        for (std::size_t i = 0; i < writes.size(); ++i)
            writes[i] = static_cast<std::uint16_t>(writes[i] + one.write_count.back()[i]);
    }
    CHECK(reads == all.read_count[1]);
    test::each_byte_once(writes);
}

namespace {

/// Rows that at least one look-up asks for, and all of them.
std::int64_t rows_of(const test::Record& forward, std::size_t buffer, std::int64_t row_bytes) {
    std::int64_t touched = 0;
    for (std::size_t at = 0; at < forward.read_count[buffer].size(); at += static_cast<std::size_t>(row_bytes))
        touched += forward.read_count[buffer][at] > 0 ? 1 : 0;
    return touched;
}

}  // namespace

TEST_CASE("Sorted gradients update each touched row once", "[kernels][embedding]") {
    workload::EmbeddingBag op;
    op.table_rows = {300, 1, 5000}, op.tables = 3, op.rows = 5000, op.dim = 20, op.batch = 137, op.pooling = 11;
    const std::int64_t lookups = op.lookups();
    const auto forward = test::record(lowering::lower(layer_with(op), test::a100()).at(0).kernel, true);
    const std::int64_t rows = rows_of(forward, 1, 80);
    op.pass = workload::Pass::backward, op.optimizer = workload::Optimizer::rowwise_adagrad;
    const auto launches = lowering::lower(layer_with(op), test::a100());
    REQUIRE(launches.size() == 5);
    CHECK(launches[2].repeat == 2);  // 5301 rows take 13 bits
    const auto sweep = test::record(launches[2].kernel);
    CHECK((sweep.loaded[0] == lookups * 8 && sweep.loaded[1] == lookups * 4));
    const auto r = test::record(launches.back().kernel, true);
    CHECK(r.loaded[0] == lookups * 4);
    CHECK(r.loaded[2] == lookups * 80);  // the gradient of its bag for every look-up
    // The table of one row has 1507 look-ups: two CTAs, the first of which leaves its sum.
    CHECK(r.stored[3] == 80);
    CHECK(r.loaded[3] == 80);
    CHECK((r.loaded[4] == rows * 80 && r.stored[4] == rows * 80));
    CHECK((r.loaded[5] == rows * 4 && r.stored[5] == rows * 4));
    for (std::size_t byte = 0; byte < r.write_count[4].size(); ++byte)
        REQUIRE(r.write_count[4][byte] == (forward.read_count[1][byte] > 0 ? 1 : 0));

    op.optimizer = workload::Optimizer::none, op.mode = workload::BagMode::weighted;
    const auto plain = test::record(lowering::lower(layer_with(op), test::a100()).back().kernel, true);
    CHECK(plain.loaded[2] == lookups * 4);
    CHECK(plain.loaded[5] == 0);
    test::each_byte_once(plain.write_count[5]);
}

TEST_CASE("Gradients added with atomics touch the rows that were looked up", "[kernels][embedding]") {
    workload::EmbeddingBag op;
    op.tables = 3, op.rows = 50, op.dim = 20, op.batch = 137, op.pooling = 9;
    op.lengths = BagLengths{0, 9, 5};
    const auto forward = test::record(lowering::lower(layer_with(op), test::a100()).at(0).kernel, true);
    op.pass = workload::Pass::backward, op.gradient = workload::Gradient::atomics;
    const auto launches = lowering::lower(layer_with(op), test::a100());
    REQUIRE(launches.size() == 1);
    const auto r = test::record(launches[0].kernel, true);
    CHECK(r.loaded[0] == op.lookups() * 8);
    CHECK(r.loaded[2] == op.lengths->filled(op.bags()) * 80);  // the gradient of each bag that holds a row
    CHECK(r.write_count[3] == forward.read_count[2]);
    CHECK(r.fma == op.lookups() * 20);
}
