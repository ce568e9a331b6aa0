// Embedding bags, recurrent cells, elementwise operations and row reductions of the twins, run on emulated threads.
#include "sim/kernels/index_source.h"
#include "tests/validate_host/emulated.h"
#include "validate/twins/kernels/elementwise.h"
#include "validate/twins/kernels/embedding_bag.h"
#include "validate/twins/kernels/rnn_cell.h"
#include "validate/twins/kernels/row_reduction.h"
#include "validate/twins/plans.h"

using namespace rafter;
using namespace rafter::validate;

namespace {

template <class T, int Width>
void check_bags(const Embedding& p, double alpha) {
    const kernels::IndexSource source(kernels::Distribution::zipf, p.rows, alpha, 5);
    std::vector<long long> indices;
    for (std::int64_t i = 0; i < p.bags() * p.pooling; ++i) {
        const std::int64_t per_table = std::int64_t{p.batch} * p.pooling;
        indices.push_back(source.row(i / per_table, i % per_table));
    }
    const RandomTensor tensor{dtype_of<T>(), 1, 1.0F};
    const auto tables = filled<T>(tensor, p.tables * p.rows * p.dim);
    check_orders(dtype_of<T>(), [&](emulation::Order order) {
        auto out = unwritten<T>(p.bags() * p.dim);
        const BagArguments<T> args{p, indices.data(), tables.data(), out.data()};
        const int grid = static_cast<int>(ceil_of(p.bags(), static_cast<long long>(EmbeddingBag::kBagsPerCta)));
        emulation::run({grid, EmbeddingBag::kThreads, 0, false, order}, [&] { embedding_bag_kernel<Width, T>(args); });
        return embedding_error(p, indices, tensor, as_floats(out));
    });
}

enum class Way { steps, streamed, resident };

template <class T, int Gates, int Rows>
double cell_run(const Recurrent& p, Way way, emulation::Order order) {
    using Shape = CellShape<T, Gates, Rows>;
    const DType dtype = dtype_of<T>();
    const RandomTensor x{dtype, 1, 1.0F}, w{dtype, 2, 0.25F}, initial{dtype, 3, 1.0F};
    const std::int64_t state = p.batch * p.hidden;
    const auto inputs = filled<T>(x, p.steps * state * Gates), weights = filled<T>(w, Gates * p.hidden * p.hidden);
    auto states = unwritten<T>((p.steps + 1) * state);
    const auto first = filled<T>(initial, state);
    std::copy(first.begin(), first.end(), states.begin());
    auto memory = unwritten<float>(state);
    const CellArguments<T> args{p, inputs.data(), weights.data(), states.data(), memory.data(), p.hidden % 8 == 0};
    const int shared = way == Way::resident ? Shape::resident_bytes(p.hidden) : Shape::kStreamedBytes;
    const emulation::Launch launch{Shape::grid(p), Shape::Tile::kThreads, shared, way != Way::steps, order};
    if (way == Way::steps) {
        for (int step = 0; step < p.steps; ++step) emulation::run(launch, [&] { rnn_step_kernel<Shape>(args, step); });
    } else {
        emulation::run(launch, [&] { rnn_persistent_kernel<Shape>(args, way == Way::resident); });
    }
    return recurrent_error(p, dtype, {x, w, initial}, as_floats(states));
}

template <class T, int Gates, int Rows>
void check_cell(const Recurrent& p) {
    for (const Way way : {Way::steps, Way::streamed, Way::resident}) {
        INFO(Gates << " gates, hidden " << p.hidden << ", batch " << p.batch << ", way " << static_cast<int>(way));
        check_orders(dtype_of<T>(), [&](emulation::Order order) { return cell_run<T, Gates, Rows>(p, way, order); });
    }
}

template <PointOp Op, class T>
void check_point(int elements) {
    const RandomTensor ta{dtype_of<T>(), 1, 2.0F}, tb{dtype_of<T>(), 2, 2.0F};
    const auto a = filled<T>(ta, elements), b = filled<T>(tb, elements);
    check_orders(dtype_of<T>(), [&](emulation::Order order) {
        auto out = unwritten<T>(elements);
        const int grid = most(1, ceil_of(elements / kPack<T>, Elementwise::kPacksPerCta));
        emulation::run({grid, Elementwise::kThreads, 0, false, order}, [&] {
            elementwise_kernel<Op, T>(a.data(), Op == PointOp::add ? b.data() : nullptr, out.data(), elements);
        });
        return point_error(Op, elements, ta, tb, as_floats(out));
    });
}

template <RowOp Op, class T, int Width, int Packs>
void check_rows(int rows, int cols, int threads) {
    INFO(rows << " rows of " << cols);
    const RandomTensor ti{dtype_of<T>(), 1, 4.0F}, ts{dtype_of<T>(), 2, 1.0F}, tb{dtype_of<T>(), 3, 1.0F};
    const auto in = filled<T>(ti, rows * cols), scale = filled<T>(ts, cols), shift = filled<T>(tb, cols);
    check_orders(dtype_of<T>(), [&](emulation::Order order) {
        auto out = unwritten<T>(rows * cols);
        const RowArguments<T> args{in.data(), scale.data(), shift.data(), out.data(), rows, cols};
        emulation::run({rows, threads, 256, false, order}, [&] { row_reduction_kernel<Op, Width, Packs, T>(args); });
        return rows_error(Op, rows, cols, ti, ts, tb, as_floats(out));
    });
}

}  // namespace

TEST_CASE("embedding bags add the rows of their indices", "[twins][embedding]") {
    check_bags<float, 4>({2, 64, 21, 5, 100}, 1.05);
    check_bags<half_t, 8>({1, 264, 9, 13, 50}, 0.0);
    check_bags<bfloat_t, 1>({1, 33, 40, 1, 20}, 0.8);
}

TEST_CASE("recurrent cells follow their equations for every way to launch them", "[twins][rnn]") {
    check_cell<half_t, 4, 16>({5, 40, 3, 4});
    check_cell<half_t, 3, 16>({16, 72, 3, 3});
    check_cell<bfloat_t, 1, 16>({3, 136, 2, 1});
    check_cell<half_t, 4, 64>({70, 32, 2, 4});
    check_cell<half_t, 3, 16>({2, 21, 2, 3});  // the scalar way in
}

TEST_CASE("elementwise operations write every element", "[twins][elementwise]") {
    check_point<PointOp::copy, half_t>(5000);
    check_point<PointOp::add, bfloat_t>(4099);
    check_point<PointOp::relu, float>(3);
    check_point<PointOp::gelu, float>(2050);
}

TEST_CASE("row reductions are right held and read again", "[twins][rows]") {
    check_rows<RowOp::softmax, half_t, 8, 1>(3, 1000, 128);
    check_rows<RowOp::softmax, float, 4, 4>(2, 900, 64);
    check_rows<RowOp::softmax, float, 1, 0>(2, 301, 64);
    check_rows<RowOp::layernorm, bfloat_t, 8, 4>(2, 2048, 64);
    check_rows<RowOp::layernorm, half_t, 8, 0>(2, 1024, 32);
    check_rows<RowOp::rmsnorm, half_t, 8, 1>(2, 512, 64);
    check_rows<RowOp::rmsnorm, float, 1, 0>(1, 77, 96);
}

TEST_CASE("row plans hold every row they say they hold", "[twins][rows]") {
    for (const DType dtype : {DType::fp16, DType::fp32}) {
        for (const std::int64_t cols : {1, 31, 32, 1000, 1024, 4096, 4104, 8192, 16384, 32768, 65536, 200000}) {
            const RowPlan plan = plan_rows(dtype, cols);
            INFO(cols << " columns: " << plan.threads << " threads, " << plan.packs << " packs");
            CHECK((plan.threads % 32 == 0 && plan.threads >= 32 && plan.threads <= 1024));
            CHECK((plan.packs == 0 || plan.threads * plan.packs * (128 / bits(dtype)) >= cols));
            CHECK((!plan.wide || cols % (128 / bits(dtype)) == 0));
        }
    }
}
