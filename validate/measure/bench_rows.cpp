// Elementwise operations, softmax and norms.
#include <fmt/format.h>

#include "sim/core/error.h"
#include "validate/host/reference.h"
#include "validate/measure/bench.h"
#include "validate/twins/twins.h"

namespace rafter::validate {

namespace {

PointOp point_op(const std::string& name) {
    if (name == "copy") return PointOp::copy;
    if (name == "relu") return PointOp::relu;
    if (name == "gelu") return PointOp::gelu;
    RAFTER_CHECK(name == "add", "no elementwise operation '" + name + "'");
    return PointOp::add;
}

RowOp row_op(const std::string& name) {
    if (name == "softmax") return RowOp::softmax;
    if (name == "layernorm") return RowOp::layernorm;
    RAFTER_CHECK(name == "rmsnorm", "no row operation '" + name + "'");
    return RowOp::rmsnorm;
}

class ElementwiseBench : public Bench {
public:
    ElementwiseBench(const Case& c, const Context& context)
        : Bench(context),
          dtype_(c.dtype),
          name_(c.shape.word("fn")),
          op_(point_op(name_)),
          elements_(c.shape.get("rows") * c.shape.get("cols")),
          a_values_(tensor(dtype_, 1)),
          b_values_(tensor(dtype_, 2)),
          a_(random_operand(a_values_, elements_)),
          b_(random_operand(b_values_, inputs_of(op_) == 2 ? elements_ : 1)),
          out_(output_operand(elements_ * bits(dtype_) / 8)) {}

    std::string variant() const override { return "twin_elementwise_" + name_; }
    void call(int i) override { launch_elementwise(op_, dtype_, elements_, a_.at(i), b_.at(i), out_.at(i), stream()); }
    double error() override { return point_error(op_, elements_, a_values_, b_values_, values(out_, dtype_, elements_)); }

private:
    DType dtype_;
    std::string name_;
    PointOp op_;
    std::int64_t elements_;
    RandomTensor a_values_, b_values_;
    Operand a_, b_, out_;
};

class RowBench : public Bench {
public:
    RowBench(const Case& c, const Context& context)
        : Bench(context),
          dtype_(c.dtype),
          op_(row_op(c.op)),
          rows_(static_cast<int>(c.shape.get("rows"))),
          cols_(static_cast<int>(c.shape.get("cols"))),
          in_values_(tensor(dtype_, 1, 4.0F)),
          scale_values_(tensor(dtype_, 2)),
          shift_values_(tensor(dtype_, 3)),
          in_(random_operand(in_values_, elements())),
          scale_(random_operand(scale_values_, cols_)),
          shift_(random_operand(shift_values_, cols_)),
          out_(output_operand(elements() * bits(dtype_) / 8)) {}

    std::string variant() const override {
        const RowPlan plan = plan_rows(dtype_, cols_);
        return fmt::format("twin_rows_{}threads_{}", plan.threads, plan.packs > 0 ? "held" : "read_again");
    }
    void call(int i) override {
        launch_row_reduction(op_, dtype_, rows_, cols_, {in_.at(i), scale_.at(i), shift_.at(i), out_.at(i)}, stream());
    }
    double error() override {
        return rows_error(op_, rows_, cols_, in_values_, scale_values_, shift_values_, values(out_, dtype_, elements()));
    }

private:
    std::int64_t elements() const { return std::int64_t{rows_} * cols_; }

    DType dtype_;
    RowOp op_;
    int rows_, cols_;
    RandomTensor in_values_, scale_values_, shift_values_;
    Operand in_, scale_, shift_, out_;
};

}  // namespace

std::unique_ptr<Bench> make_elementwise(const Case& c, const Context& context) {
    return std::make_unique<ElementwiseBench>(c, context);
}

std::unique_ptr<Bench> make_rows(const Case& c, const Context& context) { return std::make_unique<RowBench>(c, context); }

}  // namespace rafter::validate
