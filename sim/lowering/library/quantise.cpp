// vLLM's dynamic quantisation (csrc/**/w8a8/fp8/common.cu): the largest magnitude of the whole tensor by an atomic maximum of
// every row, then the division; a CTA a row in both kernels.
#include <memory>

#include "sim/kernels/layout.h"
#include "sim/kernels/library/row_loop.h"
#include "sim/lowering/families.h"
#include "sim/lowering/kernel_builder.h"

namespace rafter::lowering {

using kernels::RowLoop;
using program::Argument;
using program::Use;

namespace {

constexpr std::int64_t kThreads = 256;
constexpr std::int64_t kUnrolled = 4, kVector = 16;  // elements of a thread between two waits for loads, first and second kernel

RowLoop::Parameters over_rows(const workload::Elementwise& op, std::int64_t step) {
    RowLoop::Parameters p;
    p.rows = op.rows, p.cols = p.padded = op.cols;
    p.step = std::min(step, op.cols);
    return p;
}

Launch launch(const char* name, const RowLoop::Parameters& p, const std::vector<Argument>& arguments) {
    KernelBuilder builder(name, {kThreads, 32, Bytes(kThreads * 4)});
    builder.arguments(arguments).grid(RowLoop::grid(p)).math(DType::fp32, false);
    return {builder.build(std::make_shared<RowLoop>(p), p.text()), 1};
}

}  // namespace

Launches lower_quantise(const workload::Layer& layer, const workload::Elementwise& op, const std::vector<Argument>& in,
                        const std::vector<Argument>& out) {
    const Argument scale{layer.name + ".scale", 4, Use::read_write};
    const std::int64_t row_bytes = in.front().size / op.rows;
    RowLoop::Parameters maximum = over_rows(op, kThreads * kUnrolled), result = over_rows(op, kThreads * kVector);
    RowLoop::Pass find, divide;
    find.loads = {{0, row_bytes, false}};
    find.integer = 5, find.fma = 2, find.chain = 14;
    find.reduction = 8 * 30, find.barriers = 9, find.atomic = true;  // eight halvings through shared memory
    maximum.passes = {find};
    divide.loads = {{0, row_bytes, false}, {1, 4, true}};
    divide.stores = {{2, out.front().size / op.rows, false}};
    divide.integer = 3, divide.fma = 4, divide.chain = 60;
    result.passes = {divide};
    return {launch("segmented_max_reduction", maximum, {in.front(), scale}),
            launch("scaled_fp8_quant_kernel", result, {in.front(), {scale.tensor, 4, Use::read}, out.front()})};
}

}  // namespace rafter::lowering
