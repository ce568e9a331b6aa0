// The recurrent part of RNN, GRU and LSTM layers: a launch a step, or one cooperative kernel. One call is all steps.
#include <cmath>

#include <fmt/format.h>

#include "validate/host/reference.h"
#include "validate/measure/bench.h"
#include "validate/twins/twins.h"

namespace rafter::validate {

namespace {

Recurrent recurrent_of(const Case& c) {
    const auto get = [&](const char* key) { return static_cast<int>(c.shape.get(key)); };
    if (get("layers") != 1) throw Skip("the recurrent twins do one layer");
    return {get("batch"), get("hidden"), get("steps"), c.op == "lstm" ? 4 : c.op == "gru" ? 3 : 1};
}

/// Near one over the root of the hidden size, as layers are initialised; a power of two.
float weight_scale(int hidden) { return std::exp2f(-std::floor(std::log2(static_cast<float>(hidden)) / 2)); }

class RecurrentBench : public Bench {
public:
    RecurrentBench(const Case& c, const Context& context)
        : Bench(context),
          dtype_(c.dtype),
          p_(recurrent_of(c)),
          x_values_(tensor(dtype_, 1)),
          weight_values_(tensor(dtype_, 2, weight_scale(p_.hidden))),
          initial_values_(tensor(dtype_, 3)),
          x_(random_operand(x_values_, std::int64_t{p_.steps} * p_.gates * state_elements())),
          weights_(random_operand(weight_values_, std::int64_t{p_.gates} * p_.hidden * p_.hidden)),
          states_(output_operand(all_elements() * bits(dtype_) / 8)),
          cell_(output_operand(state_elements() * 4)) {
        launch_fill(dtype_, states_.at(0), state_elements(), initial_values_.seed, initial_values_.scale, stream());
        if (c.kernel != "twin_persistent") return;
        persistence_ = rnn_persistence(dtype_, p_, device().sms, static_cast<int>(device().shared_per_cta));
        if (persistence_ == Persistence::none) throw Skip("the cooperative kernel does not fit this GPU at once");
    }

    std::string variant() const override {
        if (persistence_ == Persistence::none) return fmt::format("twin_rnn_step_x{}", p_.steps);
        return persistence_ == Persistence::resident ? "twin_rnn_persistent_resident" : "twin_rnn_persistent_streamed";
    }
    void call(int i) override {
        const CellBuffers buffers{x_.at(i), weights_.at(i), states_.at(i), static_cast<float*>(cell_.at(i))};
        if (persistence_ == Persistence::none) {
            launch_rnn_steps(dtype_, p_, buffers, stream());
        } else {
            launch_rnn_persistent(dtype_, p_, persistence_, buffers, stream());
        }
    }
    int launches() const override { return persistence_ == Persistence::none ? p_.steps : 1; }
    double error() override {
        return recurrent_error(p_, dtype_, {x_values_, weight_values_, initial_values_}, values(states_, dtype_, all_elements()));
    }

private:
    std::int64_t state_elements() const { return std::int64_t{p_.batch} * p_.hidden; }
    std::int64_t all_elements() const { return (p_.steps + 1) * state_elements(); }

    DType dtype_;
    Recurrent p_;
    Persistence persistence_{Persistence::none};
    RandomTensor x_values_, weight_values_, initial_values_;
    Operand x_, weights_, states_, cell_;
};

}  // namespace

std::unique_ptr<Bench> make_recurrent(const Case& c, const Context& context) {
    return std::make_unique<RecurrentBench>(c, context);
}

}  // namespace rafter::validate
