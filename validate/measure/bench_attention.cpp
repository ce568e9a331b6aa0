// Attention: prefill, and decode over a cache.
#include <fmt/format.h>

#include "validate/host/reference.h"
#include "validate/measure/bench.h"
#include "validate/twins/twins.h"

namespace rafter::validate {

namespace {

Attention attention_of(const Shape& shape) {
    const auto get = [&](const char* key) { return static_cast<int>(shape.get(key)); };
    Attention p{get("batch"), get("heads"), get("kv_heads"), get("head_dim"), get("seq_q"), get("seq_kv"), get("causal") != 0};
    if (p.head_dim != 64 && p.head_dim != 128) throw Skip("the attention twins have head_dim 64 and 128");
    return p;
}

std::int64_t query_elements(const Attention& p) { return std::int64_t{p.batch} * p.seq_q * p.heads * p.head_dim; }
std::int64_t key_elements(const Attention& p) { return std::int64_t{p.batch} * p.seq_kv * p.kv_heads * p.head_dim; }

/// Q is large enough for the softmax to have peaks.
constexpr float kQueryScale = 2.0F;

class PrefillBench : public Bench {
public:
    PrefillBench(const Case& c, const Context& context)
        : Bench(context),
          dtype_(c.dtype),
          p_(attention_of(c.shape)),
          q_values_(tensor(dtype_, 1, kQueryScale)),
          k_values_(tensor(dtype_, 2)),
          v_values_(tensor(dtype_, 3)),
          q_(random_operand(q_values_, query_elements(p_))),
          k_(random_operand(k_values_, key_elements(p_))),
          v_(random_operand(v_values_, key_elements(p_))),
          out_(output_operand(query_elements(p_) * bits(dtype_) / 8)) {}

    std::string variant() const override { return fmt::format("twin_flash_dim{}", p_.head_dim); }
    void call(int i) override {
        launch_attention_prefill(dtype_, p_, static_cast<int>(device().shared_per_cta),
                                 {q_.at(i), k_.at(i), v_.at(i), out_.at(i)}, stream());
    }
    double error() override {
        return attention_error(p_, {q_values_, k_values_, v_values_}, values(out_, dtype_, query_elements(p_)));
    }

private:
    DType dtype_;
    Attention p_;
    RandomTensor q_values_, k_values_, v_values_;
    Operand q_, k_, v_, out_;
};

/// The cache holds seq_kv - 1 keys and has room for more; every call appends the last one, by a kernel of its own, and reads all.
/// The new rows are the last rows of each sequence in the same random tensor, so that the reference sees one cache.
class DecodeBench : public Bench {
public:
    DecodeBench(const Case& c, const Context& context)
        : Bench(context),
          dtype_(c.dtype),
          p_(attention_of(c.shape)),
          splits_(decode_splits(p_, context.device.sms)),
          capacity_(p_.seq_kv + kSpare),
          q_values_(tensor(dtype_, 1, kQueryScale)),
          k_values_(tensor(dtype_, 2)),
          v_values_(tensor(dtype_, 3)),
          q_(random_operand(q_values_, query_elements(p_))),
          new_k_(new_rows_bytes(), 1),
          new_v_(new_rows_bytes(), 1),
          cache_k_(output_operand(p_.batch * capacity_ * row_bytes())),
          cache_v_(output_operand(p_.batch * capacity_ * row_bytes())),
          out_(output_operand(query_elements(p_) * bits(dtype_) / 8)),
          partials_(splits_ > 1 ? splits_ * query_elements(p_) * 4 : 0),
          log_sums_(splits_ > 1 ? splits_ * query_elements(p_) / p_.head_dim * 4 : 0) {
        scatter(k_values_, cache_k_, new_k_);
        scatter(v_values_, cache_v_, new_v_);
    }

    std::string variant() const override { return fmt::format("twin_flash_decode_dim{}_splits{}", p_.head_dim, splits_); }
    void call(int i) override {
        launch_attention_decode(dtype_, p_, splits_,
                                {q_.at(i), new_k_.at(i), new_v_.at(i), cache_k_.at(i), cache_v_.at(i), out_.at(i),
                                 partials_.as<float>(), log_sums_.as<float>(), static_cast<int>(capacity_)},
                                stream());
    }
    double error() override {
        return attention_error(p_, {q_values_, k_values_, v_values_}, values(out_, dtype_, query_elements(p_)));
    }

private:
    static constexpr std::int64_t kSpare = 128;  ///< tokens the cache may still grow by

    std::int64_t row_bytes() const { return std::int64_t{p_.kv_heads} * p_.head_dim * bits(dtype_) / 8; }
    std::int64_t new_rows_bytes() const { return std::int64_t{p_.batch} * p_.seq_q * row_bytes(); }

    /// The dense tensor's rows go to the cache, the last seq_q of each sequence to the new rows; the cache's own stay NaN.
    void scatter(const RandomTensor& random, const Operand& cache, const Operand& fresh) const {
        const Operand dense = random_operand(random, key_elements(p_));
        const auto row = static_cast<std::size_t>(row_bytes());
        const auto batch = static_cast<std::size_t>(p_.batch), held = static_cast<std::size_t>(p_.seq_kv);
        const auto added = static_cast<std::size_t>(p_.seq_q), room = static_cast<std::size_t>(capacity_);
        const char* from = static_cast<const char*>(dense.at(0));
        if (held > added) {
            RAFTER_CUDA(cudaMemcpy2DAsync(cache.at(0), room * row, from, held * row, (held - added) * row, batch,
                                          cudaMemcpyDeviceToDevice, stream()));
        }
        RAFTER_CUDA(cudaMemcpy2DAsync(fresh.at(0), added * row, from + (held - added) * row, held * row, added * row, batch,
                                      cudaMemcpyDeviceToDevice, stream()));
        RAFTER_CUDA(cudaStreamSynchronize(stream()));  // the dense tensor ends here
    }

    DType dtype_;
    Attention p_;
    int splits_;
    std::int64_t capacity_;
    RandomTensor q_values_, k_values_, v_values_;
    Operand q_, new_k_, new_v_, cache_k_, cache_v_, out_;
    DeviceBuffer partials_, log_sums_;
};

}  // namespace

std::unique_ptr<Bench> make_prefill(const Case& c, const Context& context) { return std::make_unique<PrefillBench>(c, context); }

std::unique_ptr<Bench> make_decode(const Case& c, const Context& context) { return std::make_unique<DecodeBench>(c, context); }

}  // namespace rafter::validate
