// One function per kind of layer; lower() dispatches to them.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "sim/kernels/gemm.h"
#include "sim/lowering/lower.h"

namespace rafter::lowering {

using Launches = std::vector<Launch>;

/// Arguments of a matrix product.
struct GemmOperands {
    program::Argument a, b;
    std::vector<program::Argument> extra;  ///< bias, residual: in this order, those the epilogue has
    program::Argument c;
    std::string workspace;  ///< tensor id for partial sums
    bool may_split{true};
    bool convolution{false};
    workload::Library library{workload::Library::tuned};  ///< whose dispatch rules choose
    std::string prefix, suffix;  ///< of the kernel's name and of its signature, when `make` gives another kernel than Gemm
    std::function<std::shared_ptr<const program::Code>(const kernels::GemmParameters&)> make;
};

/// Chooses tile and splits for `shape` and appends the kernel (and its reduction). `graph`: launched from a captured graph.
void append_gemm(Launches& launches, kernels::GemmParameters shape, const GemmOperands& operands, const config::HwConfig& gpu,
                 const std::string& layer, bool graph = false);

/// The bias of a layer: its second parameter tensor, or the end of the first (after the weights). Notes type and place in
/// `epilogue`.
program::Argument bias_argument(const workload::Layer& layer, std::int64_t weight_bytes, std::int64_t n,
                                kernels::Epilogue& epilogue);

Launches lower_gemm(const workload::Layer& layer, const workload::Gemm& op, const config::HwConfig& gpu);
Launches lower_conv(const workload::Layer& layer, const workload::Conv2d& op, const config::HwConfig& gpu);
Launches lower_attention(const workload::Layer& layer, const workload::Attention& op, const config::HwConfig& gpu);
Launches lower_embedding(const workload::Layer& layer, const workload::EmbeddingBag& op, const config::HwConfig& gpu);
/// cuDNN's standard algorithm, forward and backward: products and pointwise kernels step by step. docs/model/recurrent.md
Launches lower_rnn_steps(const workload::Layer& layer, const workload::Rnn& op, const config::HwConfig& gpu);
Launches lower_rnn(const workload::Layer& layer, const workload::Rnn& op, const config::HwConfig& gpu);
Launches lower_elementwise(const workload::Layer& layer, const workload::Elementwise& op, const config::HwConfig& gpu);
Launches lower_rows(const workload::Layer& layer, const workload::RowReduction& op, const config::HwConfig& gpu);
/// The kernels of another library than the tuned one (layer.library); docs/model/libraries.md.
Launches lower_library_rows(const workload::Layer& layer, const workload::RowReduction& op);
/// Elementwise kernels with a CTA a row. `arguments` and `row_bytes`: reads, then writes.
Launches lower_row_function(const workload::Elementwise& op, const std::vector<program::Argument>& arguments,
                            const std::vector<std::int64_t>& row_bytes, std::size_t reads);
/// Dynamic quantisation of a tensor to a narrower format, a scale for all of it.
Launches lower_quantise(const workload::Layer& layer, const workload::Elementwise& op, const std::vector<program::Argument>& in,
                        const std::vector<program::Argument>& out);
bool has_row_kernel(const workload::Layer& layer, const workload::Elementwise& op);
Launches lower_pool(const workload::Layer& layer, const workload::Pool2d& op, const config::HwConfig& gpu);

}  // namespace rafter::lowering
