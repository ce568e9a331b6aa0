#include <algorithm>
#include <bit>
#include <memory>

#include "sim/kernels/elementwise.h"
#include "sim/kernels/embedding/embedding_gradient.h"
#include "sim/lowering/embedding.h"
#include "sim/lowering/kernel_builder.h"

namespace rafter::lowering {

using kernels::EmbeddingBag;
using kernels::UpdateRows;
using program::Argument;
using program::Use;
using workload::Optimizer;

namespace {

constexpr std::int64_t kKeyBytes = 8;    // a row among those of all tables
constexpr std::int64_t kBitsOfPass = 8;  // of a radix sort (cub's one-sweep)

class Backward {
public:
    Backward(const workload::Layer& layer, const workload::EmbeddingBag& op)
        : layer_(layer), op_(op), p_(bag_parameters(layer, op)), lookups_(std::max<std::int64_t>(op.lookups(), 1)) {
        p_.separate_tables = false;
    }

    Launches lower() {
        if (op_.gradient == workload::Gradient::atomics) {
            scatter();
        } else {
            sort();
            update();
        }
        return std::move(launches_);
    }

private:
    Argument own(const char* role, std::int64_t size, Use use) const { return {layer_.name + "." + role, size, use}; }
    Argument indices() const { return own("indices", lookups_ * EmbeddingBag::kIndexBytes, Use::read); }
    Argument weights() const { return own("lookup_weights", lookups_ * EmbeddingBag::kWeightBytes, Use::read); }
    Argument gradients() const {
        return argument_of(layer_.inputs, 0, layer_, "gradient", storage(p_.out, op_.bags() * p_.dim).value, Use::read);
    }
    std::int64_t table_bytes() const { return storage(p_.weights, op_.rows_before(op_.tables) * p_.dim).value; }
    std::string text() const {
        return join({p_.tables, op_.rows, p_.dim, p_.batch, op_.pooling, static_cast<std::int64_t>(op_.optimizer)}) +
               std::string(name(p_.weights)) + "," + std::string(name(p_.out)) + index_text(op_);
    }

    /// The rows, or their gradients, are added to where they lie.
    void scatter() {
        KernelBuilder builder("embedding_bag_backward_atomic_" + std::string(name(p_.weights)),
                              {EmbeddingBag::kThreads, 40, Bytes(0)});
        builder.grid(EmbeddingBag::grid(p_)).math(DType::fp32, false).argument(indices());
        if (p_.offsets) builder.argument(own("offsets", (op_.bags() + 1) * EmbeddingBag::kIndexBytes, Use::read));
        if (p_.weighted) builder.argument(weights());
        builder.argument(gradients());
        builder.argument(argument_of(layer_.outputs, 0, layer_, "table_gradient", table_bytes(), Use::read_write));
        launches_.push_back({builder.build(std::make_shared<kernels::ScatterGradient>(p_, index_sources(op_)), text()), 1});
    }

    /// A kernel that streams `reads` and writes `writes` once.
    void stream(const std::string& kernel, const std::vector<Argument>& reads, const std::vector<Argument>& writes,
                std::int64_t times = 1) {
        kernels::Elementwise::Parameters p;
        p.elements = lookups_;
        std::string sizes;
        for (const Argument& a : reads) p.reads.push_back(a.size), sizes += "r" + join({a.size});
        for (const Argument& a : writes) p.writes.push_back(a.size), sizes += "w" + join({a.size});
        p.fma = 0;
        p.ctas = kernels::Elementwise::grid(p);
        KernelBuilder builder(kernel, {kernels::Elementwise::kThreads, 32, Bytes(0)});
        builder.grid(p.ctas).math(DType::fp32, false).arguments(reads).arguments(writes);
        launches_.push_back({builder.build(std::make_shared<kernels::Elementwise>(p), sizes), times});
    }

    /// The look-ups as (row among those of all tables, place, weight), by struct of arrays.
    std::vector<Argument> lookups(const std::string& prefix, Use use) const {
        const auto list = [&](const char* what, std::int64_t bytes) {
            return Argument{layer_.name + "." + prefix + what, lookups_ * bytes, use};
        };
        std::vector<Argument> all{list("keys", kKeyBytes), list("places", UpdateRows::kPlaceBytes)};
        if (p_.weighted) all.push_back(list("weights", EmbeddingBag::kWeightBytes));
        return all;
    }

    /// Rows of all tables as one key; histograms; a pass over keys and values for every eight bits; where rows begin.
    void sort() {
        std::vector<Argument> given{indices()};
        if (p_.weighted) given.push_back(weights());
        stream("linearize_index_kernel", given, lookups("", Use::write));
        stream("DeviceRadixSortHistogramKernel", {lookups("", Use::read).front()}, {});
        const auto last = static_cast<std::uint64_t>(op_.rows_before(op_.tables) - 1);
        const auto passes = std::max<std::int64_t>(1, ceil_div(static_cast<std::int64_t>(std::bit_width(last)), kBitsOfPass));
        stream("DeviceRadixSortOnesweepKernel", lookups("", Use::read), lookups("sorted_", Use::write), passes);
    }

    void update() {
        const auto sorted = std::make_shared<const kernels::SortedLookups>(p_, index_sources(op_));
        const std::int64_t rows = sorted->rows();
        if (rows == 0) return;
        stream("DeviceRunLengthEncodeKernel", {lookups("sorted_", Use::read).front()},
               {own("segments", rows * UpdateRows::kSegmentBytes, Use::write)});
        const auto how = static_cast<kernels::Optimizer>(op_.optimizer);
        const char* kind = op_.optimizer == Optimizer::none  ? "dense_"
                           : op_.optimizer == Optimizer::sgd ? "sgd_"
                                                             : "rowwise_adagrad_";
        KernelBuilder builder("split_embedding_backward_" + std::string(kind) + std::string(name(p_.weights)),
                              {EmbeddingBag::kThreads, 64, Bytes(0)});
        builder.grid(sorted->grid()).math(DType::fp32, false);
        builder.argument(lookups("sorted_", Use::read)[1]);
        builder.argument(own("segments", rows * UpdateRows::kSegmentBytes, Use::read));
        if (p_.weighted) builder.argument(lookups("sorted_", Use::read)[2]);
        builder.argument(gradients());
        const std::int64_t sums = std::max<std::int64_t>(sorted->split, 1);
        builder.argument(own("partial_sums", storage(DType::fp32, sums * p_.dim).value, Use::read_write));
        const bool none = op_.optimizer == Optimizer::none;
        builder.argument(argument_of(layer_.outputs, 0, layer_, "table",
                                     none ? storage(p_.weights, rows * p_.dim).value : table_bytes(),
                                     none ? Use::write : Use::read_write));
        if (op_.optimizer == Optimizer::rowwise_adagrad)
            builder.argument(argument_of(layer_.outputs, 1, layer_, "state",
                                         op_.rows_before(op_.tables) * UpdateRows::kStateBytes, Use::read_write));
        launches_.push_back({builder.build(std::make_shared<UpdateRows>(p_, how, sorted), text()), 1});
    }

    const workload::Layer& layer_;
    const workload::EmbeddingBag& op_;
    EmbeddingBag::Parameters p_;
    std::int64_t lookups_;
    Launches launches_;
};

}  // namespace

Launches lower_embedding_backward(const workload::Layer& layer, const workload::EmbeddingBag& op) {
    return Backward(layer, op).lower();
}

}  // namespace rafter::lowering
