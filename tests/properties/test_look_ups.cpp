// The L2 under look-ups with a skew, against Che's approximation of an LRU cache: H. Che, Y. Tung, Z. Wang, "Hierarchical web
// caching systems: modeling, design and experimental results", IEEE JSAC 20(7), 2002.
#include <cmath>
#include <vector>

#include "tests/support.h"

using rafter::test::Json;
using rafter::test::run;

namespace {

constexpr double kRows = 100'000, kPooling = 64, kLineBytes = 128;

/// Share of look-ups that find their row: a row stays for the time T in which the cache sees as many other lines as it holds.
/// Indices (8 B a look-up) and outputs (a row a bag) pass through the cache once.
double che(double alpha, double lines_per_row, double capacity_lines) {
    std::vector<double> p;
    double norm = 0;
    for (double r = 1; r <= kRows; ++r) p.push_back(std::pow(r, -alpha)), norm += p.back();
    for (double& share : p) share /= norm;
    double low = 0, high = 1e9;
    for (int i = 0; i < 100; ++i) {
        const double t = (low + high) / 2;
        double held = t * (8 / kLineBytes + lines_per_row / kPooling);
        for (const double share : p) held += lines_per_row * -std::expm1(-share * t);
        (held < capacity_lines ? low : high) = t;
    }
    double hits = 0;
    for (const double share : p) hits += share * -std::expm1(-share * low);
    return hits;
}

/// Bytes of rows from HBM. An L1 of eight lines leaves the hits to the L2.
double row_bytes(const std::string& workload, int dim, const char* capacity, int batch) {
    const Json r =
        run(workload, {{{"rows", "100000"}, {"dim", std::to_string(dim)}, {"batch", std::to_string(batch)}, {"pooling", "64"}},
                       {{"l2.capacity", capacity},
                        {"sm.l1_and_shared", "1 KiB"},
                        {"sm.shared_memory", "1 KiB"},
                        {"sm.shared_memory_per_cta", "1 KiB"},
                        {"sm.count", "8"}},
                       "t4",
                       true});
    return r["totals"]["hbm_read_bytes"].get<double>() - 8.0 * kPooling * batch;
}

/// Of the second half of a run: the first fills the cache.
double hit_rate(const std::string& workload, int dim, const char* capacity) {
    constexpr int kBags = 4096;
    const double missed = row_bytes(workload, dim, capacity, 2 * kBags) - row_bytes(workload, dim, capacity, kBags);
    return 1 - missed / (kPooling * kBags * dim * 4);
}

}  // namespace

TEST_CASE("hits of Zipf look-ups in the L2 are those of Che's approximation, to two points", "[properties]") {
    for (const int dim : {32, 64}) {
        for (const auto& [capacity, bytes] : {std::pair{"1 MiB", 1 << 20}, std::pair{"4 MiB", 4 << 20}}) {
            for (const auto& [workload, alpha] : {std::pair{"gather_zipf_05", 0.5}, std::pair{"gather_zipf_10", 1.0}}) {
                INFO(workload << ", " << 4 * dim << " B a row, " << capacity);
                CHECK(hit_rate(workload, dim, capacity) ==
                      Approx(che(alpha, 4 * dim / kLineBytes, bytes / kLineBytes)).margin(0.02));
            }
        }
    }
}
