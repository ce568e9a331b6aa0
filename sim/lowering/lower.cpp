#include "sim/lowering/lower.h"

#include "sim/lowering/families.h"

namespace rafter::lowering {

namespace {

struct Dispatch {
    const workload::Layer& layer;
    const config::HwConfig& gpu;
    Launches operator()(const workload::Gemm& op) const { return lower_gemm(layer, op, gpu); }
    Launches operator()(const workload::Attention& op) const { return lower_attention(layer, op, gpu); }
    Launches operator()(const workload::EmbeddingBag& op) const { return lower_embedding(layer, op, gpu); }
    Launches operator()(const workload::Elementwise& op) const { return lower_elementwise(layer, op, gpu); }
    Launches operator()(const workload::Rnn& op) const { return lower_rnn(layer, op, gpu); }
    Launches operator()(const workload::Conv2d& op) const { return lower_conv(layer, op, gpu); }
    Launches operator()(const workload::Pool2d& op) const { return lower_pool(layer, op, gpu); }
    Launches operator()(const workload::RowReduction& op) const { return lower_rows(layer, op, gpu); }
};

/// What eager PyTorch does on the host for an operation, in dispatches and allocations: a function dispatches and allocates its
/// result; a module adds its own call, its functional and what that makes contiguous; a layer norm allocates three results.
constexpr std::int64_t kFunctionCalls = 2;
struct HostCalls {
    std::int64_t operator()(const workload::Gemm& op) const { return op.weights ? 4 : kFunctionCalls; }
    std::int64_t operator()(const workload::Conv2d&) const { return 6; }
    std::int64_t operator()(const workload::RowReduction& op) const {
        return op.op == workload::RowOp::layernorm ? 9 : op.op == workload::RowOp::softmax ? 5 : kFunctionCalls;
    }
    template <class Other>
    std::int64_t operator()(const Other&) const {
        return kFunctionCalls;
    }
};

}  // namespace

std::vector<Launch> lower(const workload::Layer& layer, const config::HwConfig& gpu) {
    std::vector<Launch> launches = std::visit(Dispatch{layer, gpu}, layer.operation);
    if (layer.library == workload::Library::pytorch) {
        for (Launch& launch : launches) launch.kernel.host_calls = kFunctionCalls;
        launches.front().kernel.host_calls = std::visit(HostCalls{}, layer.operation);
    }
    return launches;
}

}  // namespace rafter::lowering
