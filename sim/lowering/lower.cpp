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

}  // namespace

std::vector<Launch> lower(const workload::Layer& layer, const config::HwConfig& gpu) {
    return std::visit(Dispatch{layer, gpu}, layer.operation);
}

}  // namespace rafter::lowering
