// The attention kernels of the twins, run on emulated threads; their arithmetic against the simulator's.
#include <cmath>

#include "sim/kernels/attention_decode.h"
#include "tests/validate_host/emulated.h"
#include "validate/twins/kernels/attention_decode.h"
#include "validate/twins/kernels/attention_prefill.h"
#include "validate/twins/plans.h"

using namespace rafter;
using namespace rafter::validate;

namespace {

float scale_log2(int dim) { return static_cast<float>(1.4426950408889634 / std::sqrt(static_cast<double>(dim))); }

template <class T>
struct Tensors {
    RandomTensor q{dtype_of<T>(), 1, 2.0F}, k{dtype_of<T>(), 2, 2.0F}, v{dtype_of<T>(), 3, 1.0F};
};

template <class T, int Dim, int Warps>
void check_prefill(const Attention& p) {
    INFO(p.seq_q << " queries, " << p.seq_kv << " keys, causal " << p.causal);
    using Shape = FlashShape<T, Dim, Warps>;
    const Tensors<T> t;
    const auto q = filled<T>(t.q, p.batch * p.seq_q * p.heads * Dim);
    const auto k = filled<T>(t.k, p.batch * p.seq_kv * p.kv_heads * Dim),
               v = filled<T>(t.v, p.batch * p.seq_kv * p.kv_heads * Dim);
    check_orders(dtype_of<T>(), [&](emulation::Order order) {
        auto out = unwritten<T>(p.batch * p.seq_q * p.heads * Dim);
        const PrefillArguments<T> args{p, q.data(), k.data(), v.data(), out.data()};
        emulation::run({p.batch * p.heads * ceil_of(p.seq_q, Shape::kRows), Shape::kThreads, Shape::kSharedBytes, false, order},
                       [&] { attention_prefill_kernel<Shape, T>(args, scale_log2(Dim)); });
        return attention_error(p, {t.q, t.k, t.v}, as_floats(out));
    });
}

/// A cache with room to grow: rows at and after the new ones are NaN before the launch.
template <class T, int Dim>
struct Cache {
    Cache(const Attention& p, int capacity, const RandomTensor& tensor)
        : rows(unwritten<T>(p.batch * capacity * p.kv_heads * Dim)), fresh(unwritten<T>(p.batch * p.seq_q * p.kv_heads * Dim)) {
        const int width = p.kv_heads * Dim, old = p.seq_kv - p.seq_q;
        for (int i = 0; i < p.batch * p.seq_kv * width; ++i) {
            const int sequence = i / width / p.seq_kv, key = i / width % p.seq_kv;
            const int line = key < old ? sequence * capacity + key : sequence * p.seq_q + key - old;
            (key < old ? rows : fresh)[static_cast<std::size_t>(line * width + i % width)] = T(static_cast<float>(tensor(i)));
        }
    }
    /// All held rows are as the tensor says, and no other was touched.
    bool grown(const Attention& p, int capacity, const RandomTensor& tensor) const {
        const int width = p.kv_heads * Dim;
        for (int i = 0; i < p.batch * capacity * width; ++i) {
            const int sequence = i / width / capacity, key = i / width % capacity;
            const float here = static_cast<float>(rows[static_cast<std::size_t>(i)]);
            const std::int64_t source = (std::int64_t{sequence} * p.seq_kv + key) * width + i % width;
            if (key < p.seq_kv ? static_cast<double>(here) != tensor(source) : !std::isnan(here)) return false;
        }
        return true;
    }
    std::vector<T> rows, fresh;
};

template <class T, int Dim>
double decode_run(const Attention& p, int capacity, int splits, emulation::Order order) {
    using Shape = FlashShape<T, Dim, 4>;
    const Tensors<T> t;
    const auto q = filled<T>(t.q, p.batch * p.seq_q * p.heads * Dim);
    Cache<T, Dim> k(p, capacity, t.k), v(p, capacity, t.v);
    const int rows = p.batch * p.seq_q * p.heads;
    auto out = unwritten<T>(rows * Dim);
    auto partials = unwritten<float>(splits * rows * Dim), log_sums = unwritten<float>(splits * rows);
    const AppendArguments<T> fresh{p, capacity, k.fresh.data(), v.fresh.data(), k.rows.data(), v.rows.data()};
    const int packs = static_cast<int>(append_packs(p));
    emulation::run({ceil_of(packs, kAppendThreads), kAppendThreads, 0, false, order}, [&] { append_kernel<T>(fresh); });
    const DecodeArguments<T> args{p,          capacity,        splits,         q.data(), k.rows.data(), v.rows.data(),
                                  out.data(), partials.data(), log_sums.data()};
    const int grid = p.batch * p.kv_heads * ceil_of(p.rows(), Shape::kRows) * splits;
    emulation::run({grid, Shape::kThreads, Shape::kSharedBytes, false, order},
                   [&] { attention_decode_kernel<Shape, T>(args, scale_log2(Dim)); });
    if (splits > 1) {
        emulation::run({ceil_of(rows, kCombineRows), kCombineThreads, 0, false, order},
                       [&] { attention_combine_kernel<Dim, T>(partials.data(), log_sums.data(), out.data(), rows, splits); });
    }
    CHECK(k.grown(p, capacity, t.k));
    CHECK(v.grown(p, capacity, t.v));
    return attention_error(p, {t.q, t.k, t.v}, as_floats(out));
}

template <class T, int Dim>
void check_decode(const Attention& p, int splits) {
    INFO(p.seq_kv << " keys held, splits " << splits);
    check_orders(dtype_of<T>(), [&](emulation::Order order) { return decode_run<T, Dim>(p, p.seq_kv + 5, splits, order); });
}

}  // namespace

TEST_CASE("prefill is right below, on and beside the diagonal", "[twins][attention]") {
    check_prefill<half_t, 64, 4>({1, 2, 2, 64, 64, 64, true});
    check_prefill<half_t, 64, 4>({2, 4, 2, 64, 70, 70, true});
    check_prefill<bfloat_t, 128, 4>({1, 3, 1, 128, 33, 150, true});  // queries are the last of the keys
    check_prefill<half_t, 128, 8>({1, 2, 1, 128, 140, 140, true});
    check_prefill<half_t, 64, 4>({1, 1, 1, 64, 20, 90, false});
    check_prefill<half_t, 64, 4>({1, 1, 1, 64, 1, 1, true});
}

TEST_CASE("decode is right with and without splits, and the cache grows", "[twins][attention]") {
    check_decode<half_t, 128>({2, 8, 2, 128, 1, 200, true}, 1);
    check_decode<half_t, 128>({2, 8, 2, 128, 1, 200, true}, 3);
    check_decode<bfloat_t, 64>({1, 4, 4, 64, 1, 65, true}, 2);  // the last split holds the new key only
    check_decode<half_t, 64>({1, 8, 1, 64, 3, 131, true}, 2);   // three new tokens, causal among themselves
    check_decode<half_t, 64>({1, 72, 1, 64, 1, 64, true}, 1);   // two query blocks, one appends
    check_decode<half_t, 64>({1, 2, 1, 64, 1, 64, true}, 4);    // splits without keys
    check_decode<half_t, 64>({1, 2, 1, 64, 1, 1, true}, 1);     // the first token
}

TEST_CASE("keys are split as the simulator splits them", "[twins][attention]") {
    for (const int work : {1, 7, 32, 90, 150, 172, 173, 400}) {
        for (const int blocks : {1, 2, 5, 16, 64, 129, 1000}) {
            for (const int slots : {80, 216, 264}) {
                INFO(work << " of work, " << slots << " slots, " << blocks << " blocks");
                CHECK(plan_splits(work, slots, blocks) == kernels::decode_splits(work, slots, blocks));
            }
        }
    }
}

TEST_CASE("splits cover every key once", "[twins][attention]") {
    for (const int held : {1, 63, 64, 65, 1000}) {
        for (int splits = 1; splits <= 9; ++splits) {
            int next = 0;
            for (int split = 0; split < splits; ++split) {
                const KeyRange range = split_keys(held, 64, splits, split);
                CHECK((range.first == next && range.last >= range.first));
                next = range.last;
            }
            CHECK(next == held);
        }
    }
}
