// Embedding bags with the simulator's own indices.
#include <cstdlib>

#include <fmt/format.h>

#include "sim/kernels/index_source.h"
#include "validate/host/reference.h"
#include "validate/measure/bench.h"
#include "validate/twins/twins.h"

namespace rafter::validate {

namespace {

Embedding embedding_of(const Shape& shape) {
    const auto get = [&](const char* key) { return static_cast<int>(shape.get(key)); };
    return {get("tables"), get("dim"), get("batch"), get("pooling"), shape.get("rows")};
}

/// [table][sample][pooling], by the generator that the simulator uses for the same alpha and seed.
std::vector<long long> draw(const Embedding& p, double alpha, std::uint64_t seed) {
    const kernels::IndexSource source(kernels::Distribution::zipf, p.rows, alpha, seed);
    const std::int64_t per_table = std::int64_t{p.batch} * p.pooling;
    std::vector<long long> indices;
    indices.reserve(static_cast<std::size_t>(p.tables * per_table));
    for (std::int64_t table = 0; table < p.tables; ++table) {
        for (std::int64_t i = 0; i < per_table; ++i) indices.push_back(source.row(table, i));
    }
    return indices;
}

class EmbeddingBench : public Bench {
public:
    EmbeddingBench(const Case& c, const Context& context)
        : Bench(context),
          dtype_(c.dtype),
          p_(embedding_of(c.shape)),
          alpha_(std::strtod(c.shape.word("alpha").c_str(), nullptr)),
          indices_(draw(p_, alpha_, context.seed)),
          table_values_(tensor(dtype_, 1)),
          tables_(random_operand(table_values_, std::int64_t{p_.tables} * p_.rows * p_.dim)),
          index_operand_(static_cast<std::int64_t>(indices_.size() * sizeof(long long)), 1),
          out_(output_operand(p_.bags() * p_.dim * bits(dtype_) / 8)) {
        RAFTER_CUDA(cudaMemcpyAsync(index_operand_.at(0), indices_.data(), indices_.size() * sizeof(long long),
                                    cudaMemcpyHostToDevice, stream()));
        RAFTER_CUDA(cudaStreamSynchronize(stream()));
    }

    std::string variant() const override {
        return fmt::format("twin_warp_per_bag;distribution={}", alpha_ > 0 ? "zipf" : "uniform");
    }
    void call(int i) override {
        launch_embedding_bag(dtype_, p_, static_cast<const long long*>(index_operand_.at(i)), tables_.at(i), out_.at(i),
                             stream());
    }
    double error() override { return embedding_error(p_, indices_, table_values_, values(out_, dtype_, p_.bags() * p_.dim)); }

private:
    DType dtype_;
    Embedding p_;
    double alpha_;
    std::vector<long long> indices_;
    RandomTensor table_values_;
    Operand tables_, index_operand_, out_;
};

}  // namespace

std::unique_ptr<Bench> make_embedding(const Case& c, const Context& context) {
    return std::make_unique<EmbeddingBench>(c, context);
}

}  // namespace rafter::validate
