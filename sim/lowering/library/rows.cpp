// The row kernels of PyTorch and vLLM: which loops they make over a row and what a loop costs. docs/model/libraries.md has the
// sources and how the instructions were counted.
#include <algorithm>
#include <bit>
#include <memory>

#include "sim/kernels/elementwise.h"
#include "sim/kernels/layout.h"
#include "sim/kernels/library/row_loop.h"
#include "sim/lowering/families.h"
#include "sim/lowering/kernel_builder.h"

namespace rafter::lowering {

using kernels::RowLoop;
using program::Argument;
using program::Resources;
using program::Use;
using workload::Layer;
using workload::Library;
using workload::RowOp;

namespace {

using Pass = RowLoop::Pass;
using Stream = RowLoop::Stream;

constexpr std::int64_t kVectorBytes = 16;  // the widest load of a thread
constexpr std::int64_t kWarp = 32;

/// What the loops and divisions of CUDA C++ come to, in lane operations an element.
constexpr std::int64_t kExpInteger = 3, kExpFma = 7;        // expf: range reduction around one ex2
constexpr std::int64_t kDivideInteger = 3, kDivideFma = 9;  // IEEE division around one reciprocal, with its check
constexpr std::int64_t kShuffleRound = 10;                  // dependent instructions of a shuffle and the operation on it

struct Rows {
    const Layer& layer;
    const workload::RowReduction& op;
    std::int64_t element() const { return bits(layer.activations) / 8; }
    std::int64_t row_bytes() const { return op.cols * element(); }
    bool vectorises() const { return op.cols % (kVectorBytes / element()) == 0; }
};

/// Buffers: input, (residual,) parameters, output, as the tuned kernels have them.
std::vector<Argument> arguments(const Rows& r) {
    const std::int64_t size = r.op.rows * r.row_bytes();
    std::vector<Argument> list{argument_of(r.layer.inputs, 0, r.layer, "in", size, Use::read)};
    if (r.op.residual) list.push_back(argument_of(r.layer.inputs, 1, r.layer, "residual", size, Use::read_write));
    for (const auto& t : r.layer.parameters) list.push_back({t.id, t.size.value, Use::read});
    list.push_back(argument_of(r.layer.outputs, 0, r.layer, "out", size, Use::write));
    return list;
}

Launches launch(const std::string& name, const Rows& r, const RowLoop::Parameters& p, const Resources& resources) {
    KernelBuilder builder(name + "_" + std::string(rafter::name(r.layer.activations)), resources);
    builder.arguments(arguments(r)).grid(RowLoop::grid(p)).math(DType::fp32, false);
    return {{builder.build(std::make_shared<RowLoop>(p), p.text()), 1}};
}

RowLoop::Parameters over_rows(const Rows& r, std::int64_t step) {
    RowLoop::Parameters p;
    p.rows = r.op.rows, p.cols = p.padded = r.op.cols;
    p.step = std::min(step, p.cols);
    return p;
}

std::int64_t power_of_two(std::int64_t n) { return static_cast<std::int64_t>(std::bit_ceil(static_cast<std::uint64_t>(n))); }

/// softmax_warp_forward: a warp holds a row in registers; four warps a CTA, two rows a warp when they are short.
Launches softmax_warp(const Rows& r) {
    const std::int64_t padded = power_of_two(r.op.cols);
    RowLoop::Parameters p = over_rows(r, r.op.cols);
    p.padded = std::max(padded, kWarp);
    p.rows_per_cta = 4 * (padded <= 128 ? 2 : 1);
    const std::int64_t per_lane = p.padded / kWarp;
    Pass pass;
    pass.loads = {{0, r.row_bytes(), false}};
    pass.stores = {{1, r.row_bytes(), false}};
    pass.integer = 5 + kExpInteger + kDivideInteger;  // bounds and addresses of a load and a store
    pass.fma = 3 + kExpFma + kDivideFma;
    pass.sfu = 2;
    pass.chain = 3 * per_lane + 2 * 5 * kShuffleRound + 40;
    p.passes = {pass};
    return launch("softmax_warp_forward", r, p, {128, 32 + per_lane, Bytes(0)});
}

/// cunn_SoftMaxForward: maximum, sum of exponentials, result; a loop each. The variant with a row in shared memory reads it once.
Launches softmax_block(const Rows& r) {
    const std::int64_t ilp = kVectorBytes / r.element();
    const std::int64_t most = std::min<std::int64_t>(r.op.cols / ilp, 1024) / 2;
    const std::int64_t threads = std::clamp<std::int64_t>(power_of_two(std::max<std::int64_t>(most, 1)), kWarp, 1024);
    const bool in_shared = r.vectorises() && r.row_bytes() < 48 * 1024 - threads / kWarp * 4;
    const Stream in{0, r.row_bytes(), false}, out{1, r.row_bytes(), false};
    RowLoop::Parameters p = over_rows(r, threads * ilp);
    Pass maximum, sum, result;
    maximum.loads = {in};
    maximum.integer = 2, maximum.fma = 1;
    sum.integer = 1 + kExpInteger, sum.fma = 2 + kExpFma, sum.sfu = 1;
    result.integer = 2 + kExpInteger + kDivideInteger, result.fma = 1 + kExpFma + kDivideFma, result.sfu = 2;
    result.stores = {out};
    for (Pass* pass : {&maximum, &sum, &result}) {
        pass->chain = pass == &maximum ? ilp + 10 : 2 * ilp + 30;
        pass->reduction = pass == &result ? 0 : 2 * 5 * kShuffleRound, pass->barriers = pass == &result ? 0 : 2;
        if (pass != &maximum && in_shared) pass->shared_reads = r.element();
        if (pass != &maximum && !in_shared) pass->loads = {in};
    }
    if (in_shared) maximum.shared_reads = r.element();
    p.passes = {maximum, sum, result};
    return launch(in_shared ? "cunn_SoftMaxForwardSmem" : "cunn_SoftMaxForward", r, p,
                  {threads, 40, Bytes(in_shared ? r.row_bytes() : 256)});
}

/// vectorized_layer_norm_kernel: Welford's moments over the row, then the row again. Rows that do not vectorise take two kernels
/// with scalar loads (RowwiseMoments, LayerNormForward): the same loops, one element a thread and step.
Launches layer_norm(const Rows& r) {
    const bool vectorised = r.op.cols % 4 == 0;
    const std::int64_t threads = vectorised ? 128 : 256, per_thread = vectorised ? 4 : 1;
    const std::size_t first = 1;
    RowLoop::Parameters p = over_rows(r, threads * per_thread);
    Pass moments, result;
    moments.loads = {{0, r.row_bytes(), false}};
    moments.integer = 2 + kDivideInteger, moments.fma = 4 + kDivideFma, moments.sfu = 1;
    moments.chain = 5 * per_thread + 25;
    moments.reduction = (5 + 2) * (3 * kShuffleRound + 20);  // each round combines three numbers and divides
    moments.barriers = 5;
    result.loads = {{0, r.row_bytes(), false}};
    for (std::size_t i = 0; i < r.layer.parameters.size(); ++i) result.loads.push_back({first + i, r.row_bytes(), true});
    result.stores = {{first + r.layer.parameters.size(), r.row_bytes(), false}};
    result.integer = 2, result.fma = 3, result.chain = 20;
    p.passes = {moments, result};
    return launch(vectorised ? "vectorized_layer_norm_kernel" : "LayerNormForwardCUDAKernel", r, p, {threads, 40, Bytes(64)});
}

/// vLLM's rms_norm_kernel: two loops of one element a thread; fused_add_rms_norm_kernel takes 16 bytes where it can.
Launches rms_norm(const Rows& r) {
    const bool wide = r.op.residual && r.vectorises();
    const std::int64_t per_thread = wide ? kVectorBytes / r.element() : 1;
    const std::int64_t most = r.op.residual && r.op.rows >= 256 && wide ? 256 : 1024;
    const std::int64_t threads = std::clamp<std::int64_t>(r.op.cols / per_thread, kWarp, most);
    const std::size_t weight = r.op.residual ? 2 : 1;
    const Stream in{0, r.row_bytes(), false}, stream{1, r.row_bytes(), false};
    RowLoop::Parameters p = over_rows(r, threads * per_thread);
    Pass squares, result;
    squares.loads = {in};
    squares.integer = wide ? 2 : 5, squares.fma = r.op.residual ? 3 : 2, squares.chain = 12 + per_thread;
    squares.reduction = 2 * 5 * kShuffleRound + 40, squares.barriers = 2;
    result.loads = {in, {weight, r.row_bytes(), true}};
    if (r.op.residual) {
        squares.loads.push_back(stream);
        squares.stores = {stream};
        result.loads = {stream, {weight, r.row_bytes(), true}};
    }
    result.stores = {{weight + 1, r.row_bytes(), false}};
    result.integer = wide ? 3 : 10, result.fma = 4, result.sfu = r.element() < 4 ? 1 : 0, result.chain = 24;
    p.passes = {squares, result};
    return launch(r.op.residual ? "fused_add_rms_norm_kernel" : "rms_norm_kernel", r, p,
                  {kernels::round_up(threads, kWarp), 32, Bytes(256)});
}

/// One elementwise kernel of eager PyTorch over tensors of `reads` and `writes` bytes.
struct Eager {
    const char* name;
    std::vector<Argument> reads, writes;
};

Launch eager(const Eager& e, std::int64_t elements) {
    kernels::Elementwise::Parameters p;
    p.elements = elements;
    p.ctas = ceil_div(elements, kernels::Elementwise::kEagerElements);
    std::string text = join({p.elements, p.ctas});
    for (const Argument& a : e.reads) p.reads.push_back(a.size), text += "r" + std::to_string(a.size);
    for (const Argument& a : e.writes) p.writes.push_back(a.size), text += "w" + std::to_string(a.size);
    KernelBuilder builder(std::string("vectorized_elementwise_kernel_") + e.name, {kernels::Elementwise::kThreads, 32, Bytes(0)});
    builder.grid(p.ctas).arguments(e.reads).arguments(e.writes).math(DType::fp32, false);
    return {builder.build(std::make_shared<kernels::Elementwise>(p), text), 1};
}

/// RMS norm as models write it in eager PyTorch: (add,) to fp32, square, mean, scale, back, weight; a kernel each.
Launches composed_rms_norm(const Rows& r) {
    const std::int64_t elements = r.op.rows * r.op.cols, narrow = r.op.rows * r.row_bytes(), wide = 4 * elements;
    const auto own = [&](const char* role, std::int64_t size, Use use) { return Argument{r.layer.name + "." + role, size, use}; };
    const auto given = arguments(r);
    Argument in = given.front();
    Launches all;
    if (r.op.residual) {
        const Argument stream{given[1].tensor, narrow, Use::write};
        all.push_back(eager({"add", {in, {given[1].tensor, narrow, Use::read}}, {stream}}, elements));
        in = {given[1].tensor, narrow, Use::read};
    }
    const Argument scales = own("scale", 4 * r.op.rows, Use::read);
    all.push_back(eager({"to", {in}, {own("fp32", wide, Use::write)}}, elements));
    all.push_back(eager({"pow", {own("fp32", wide, Use::read)}, {own("square", wide, Use::write)}}, elements));
    all.push_back(eager({"mean", {own("square", wide, Use::read)}, {own("scale", 4 * r.op.rows, Use::write)}}, elements));
    all.push_back(eager({"mul", {own("fp32", wide, Use::read), scales}, {own("scaled", wide, Use::write)}}, elements));
    all.push_back(eager({"to", {own("scaled", wide, Use::read)}, {own("half", narrow, Use::write)}}, elements));
    const Argument weight{r.layer.parameters.front().id, r.layer.parameters.front().size.value, Use::read};
    const Argument out{given.back().tensor, narrow, Use::write};
    all.push_back(eager({"mul", {own("half", narrow, Use::read), weight}, {out}}, elements));
    return all;
}

}  // namespace

Launches lower_library_rows(const Layer& layer, const workload::RowReduction& op) {
    const Rows r{layer, op};
    switch (op.op) {
        case RowOp::softmax:
            return op.cols <= 1024 && r.row_bytes() <= 4096 ? softmax_warp(r) : softmax_block(r);
        case RowOp::layernorm:
            return layer_norm(r);
        case RowOp::rmsnorm:
            return layer.library == Library::vllm ? rms_norm(r) : composed_rms_norm(r);
        case RowOp::reduce:
            break;
    }
    return {};
}

bool has_row_kernel(const Layer& layer, const workload::Elementwise& op) {
    if (layer.library != Library::vllm) return false;
    return (op.fn == "silu" && op.reads == 2) || op.fn == "gelu" || op.fn == "rope";
}

// act_and_mul_kernel and rotary_embedding_kernel: a CTA a token, an element (a pair for the rotation) a thread and step. The
// rotation finds its head by a division.
Launches lower_row_function(const workload::Elementwise& op, const std::vector<Argument>& arguments,
                            const std::vector<std::int64_t>& row_bytes, std::size_t reads) {
    const bool rope = op.fn == "rope";
    RowLoop::Parameters p;
    p.rows = op.rows, p.cols = p.padded = op.cols;
    const std::int64_t threads = std::clamp<std::int64_t>(rope ? op.cols / 2 : op.cols, kWarp, rope ? 512 : 1024);
    p.step = std::min(rope ? 2 * threads : threads, op.cols);
    Pass pass;
    for (std::size_t i = 0; i < row_bytes.size(); ++i) (i < reads ? pass.loads : pass.stores).push_back({i, row_bytes[i], false});
    pass.integer = rope ? 24 : 18 + kExpInteger + kDivideInteger;
    pass.fma = rope ? 5 : 3 + kExpFma + kDivideFma;
    pass.sfu = rope ? 1 : 4;
    pass.chain = rope ? 60 : 55;
    p.passes = {pass};
    KernelBuilder builder(rope ? "rotary_embedding_kernel" : "act_and_mul_kernel_" + op.fn,
                          {kernels::round_up(threads, kWarp), 32, Bytes(0)});
    builder.arguments(arguments).grid(RowLoop::grid(p)).math(DType::fp32, false);
    return {{builder.build(std::make_shared<RowLoop>(p), p.text()), 1}};
}

}  // namespace rafter::lowering
