// Layers as plain values, after dims are bound and shapes inferred. What a layer computes and touches is exact here; how long it
// takes is not known to this module.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "sim/core/bag_lengths.h"
#include "sim/core/dtype.h"
#include "sim/core/quantity.h"

namespace rafter::workload {

enum class Family : std::uint8_t { dlrm, mlp, cnn, rnn, transformer };
enum class Pass : std::uint8_t { forward, backward };

/// Whose kernels run a layer (docs/model/libraries.md): hand-tuned ones that touch every operand once; those of eager PyTorch
/// (2.1 to 2.6); those of vLLM.
enum class Library : std::uint8_t { tuned, pytorch, vllm };

/// C[batch][m,n] = A[batch][m,k] B[k,n] (+ bias, activation). `linear` is batch 1 with B as weights. With `weights` false both
/// operands are activations (a batched product as in DLRM feature interaction).
struct Gemm {
    std::int64_t batch{1}, m{}, n{}, k{};
    bool weights{true};
    bool bias{false};
    bool residual{false};         ///< one more [m,n] operand added in the epilogue
    bool gated{false};            ///< n counts both halves; the epilogue multiplies them and stores n/2
    std::string activation;       ///< "" | relu | gelu | silu | sigmoid | tanh, fused into the epilogue
    std::optional<DType> output;  ///< format of what is written, when it is not that of the activations
};

/// Which pass of training a layer is. Sizes are always those of the forward pass.
enum class ConvPass : std::uint8_t { forward, backward_data, backward_weights };

/// NHWC activations, KRSC weights. p, q are outputs; padding is per side and is never fetched.
struct Conv2d {
    std::int64_t n{}, c{}, h{}, w{}, k{}, r{}, s{};
    std::int64_t stride_h{1}, stride_w{1}, dilation_h{1}, dilation_w{1};
    std::int64_t pad_top{}, pad_left{}, pad_bottom{}, pad_right{};
    std::int64_t groups{1};
    std::int64_t p{}, q{};
    bool bias{false};
    bool residual{false};
    std::string activation;
    ConvPass pass{ConvPass::forward};
};

/// Scaled dot-product attention over `batch` sequences. Decode: seq_q new tokens against seq_kv cached ones.
struct Attention {
    bool decode{false};
    std::int64_t batch{}, heads{}, kv_heads{}, head_dim{}, head_dim_v{};
    std::int64_t seq_q{}, seq_kv{};  ///< seq_kv includes the new tokens
    bool causal{true};
    std::int64_t window{0};  ///< sliding window in tokens, 0 = none
    DType kv_dtype{DType::fp16};
    bool writes_kv{false};  ///< this layer appends the new K and V to the cache
};

enum class IndexPattern : std::uint8_t { uniform, zipf, hot_set, sequential, file };
/// How the rows of a bag become one: added; added and divided by their number; each times an fp32 weight of its own and added.
enum class BagMode : std::uint8_t { sum, mean, weighted };
/// Where tables are: in the GPU's memory, or read over a link from the host's or another GPU's.
enum class Placement : std::uint8_t { hbm, host, peer };

/// How the gradients of the rows meet: added in memory as they come; of look-ups sorted by row, a row at a time.
enum class Gradient : std::uint8_t { atomics, sorted };
/// What becomes of them: they are written; the rows take a step. Row-wise Adagrad keeps an fp32 number a row.
enum class Optimizer : std::uint8_t { none, sgd, rowwise_adagrad };

/// A set of tables of equal width, looked up `pooling` times per sample and table, reduced to one row per (sample, table).
struct EmbeddingBag {
    std::int64_t tables{1}, rows{}, dim{}, batch{}, pooling{1};
    std::vector<std::int64_t> table_rows;  ///< of each table, when they differ; `rows` is then the most of them
    std::optional<BagLengths> lengths;     ///< of the bags, when they differ; `pooling` is then the most of them
    BagMode mode{BagMode::sum};
    bool kernel_per_table{false};  ///< a launch for each table, not one for all
    IndexPattern pattern{IndexPattern::uniform};
    double alpha{0.0};                   ///< Zipf exponent
    double hot_rows{0}, hot_lookups{0};  ///< hot_set: this share of the rows takes this share of the look-ups
    std::string index_file;              ///< one index a line; read when pattern is file
    std::vector<std::int64_t> indices;   ///< its contents, checked against rows
    std::uint64_t seed{1};
    Placement placement{Placement::hbm};
    Pass pass{Pass::forward};
    Gradient gradient{Gradient::sorted};   ///< backward
    Optimizer optimizer{Optimizer::none};  ///< backward

    std::int64_t bags() const { return tables * batch; }
    BagLengths bag_lengths() const { return lengths.value_or(BagLengths{pooling, pooling, seed}); }
    std::int64_t lookups() const { return bag_lengths().before(bags()); }
    std::int64_t rows_of(std::int64_t table) const {
        return table_rows.empty() ? rows : table_rows[static_cast<std::size_t>(table)];
    }
    /// Rows of the tables before this one; of all tables when `table` is their number.
    std::int64_t rows_before(std::int64_t table) const;
};

enum class Cell : std::uint8_t { rnn, lstm, gru };
enum class RnnExecution : std::uint8_t { stream, graph };  ///< launches one by one | a captured graph
enum class RnnAlgorithm : std::uint8_t {
    standard,   ///< a product and a pointwise kernel a step
    fused,      ///< one kernel a step
    persistent  ///< one kernel for all steps
};
enum class RnnPass : std::uint8_t { forward, backward, backward_data, backward_weights };

/// `layers` stacked cells over `steps` dependent time steps.
struct Rnn {
    Cell cell{Cell::lstm};
    std::int64_t batch{}, steps{}, input{}, hidden{}, layers{1};
    bool input_gemm{true};  ///< false: recurrent product and pointwise part only
    RnnExecution execution{RnnExecution::stream};
    RnnAlgorithm algorithm{RnnAlgorithm::standard};
    RnnPass pass{RnnPass::forward};

    std::int64_t gates() const { return cell == Cell::lstm ? 4 : cell == Cell::gru ? 3 : 1; }
    std::int64_t input_of(std::int64_t layer) const { return layer == 0 ? input : hidden; }
    bool forward() const { return pass == RnnPass::forward; }
    bool data() const { return pass == RnnPass::backward || pass == RnnPass::backward_data; }  ///< gradient of what came in
    bool gradient() const { return pass == RnnPass::backward || pass == RnnPass::backward_weights; }  ///< of the weights
};

/// reads / writes count tensors of [rows, cols]; halves are legal (a narrower output).
struct Elementwise {
    std::int64_t rows{}, cols{};
    double reads{1}, writes{1};
    std::int64_t flops_per_element{1};
    std::optional<DType> output;  ///< format of what is written, when it is not that of the activations
    std::string fn;               ///< copy | relu | gelu | silu | add | mul | sigmoid | tanh | rope ...
};

enum class RowOp : std::uint8_t { softmax, layernorm, rmsnorm, reduce };

/// A reduction over each row of [rows, cols]; `reduce` writes one value a row, the others write [rows, cols].
struct RowReduction {
    RowOp op{RowOp::softmax};
    std::int64_t rows{}, cols{};
    bool residual{false};  ///< norms: the input is added to a residual stream first, which is read and written back
};

/// Pooling over windows of an NHWC tensor (max or average).
struct Pool2d {
    std::int64_t n{}, c{}, h{}, w{}, r{}, s{}, stride_h{1}, stride_w{1}, pad_top{}, pad_left{}, pad_bottom{}, pad_right{}, p{},
        q{};
    bool average{false};
};

using Operation = std::variant<Gemm, Conv2d, Attention, EmbeddingBag, Rnn, Elementwise, RowReduction, Pool2d>;

/// A tensor of the model with an identity: the same id is the same memory.
struct Tensor {
    std::string id;  ///< unique, e.g. "prefill/block/qkv.out", "block[3]/qkv.weight"
    Bytes size{};
};

struct Layer {
    std::string name;  ///< carries no meaning
    std::string op;    ///< as written: gemm, linear, conv2d, attention, ...
    Family family{Family::mlp};
    Operation operation;
    Library library{Library::tuned};
    DType weights{DType::fp16}, activations{DType::fp16};
    std::vector<Tensor> inputs;      ///< activations read, in operand order
    std::vector<Tensor> parameters;  ///< weights, tables, the KV cache
    std::vector<Tensor> outputs;
};

/// Exact counts of one execution of a layer. Bytes are algorithmic: every operand once, nothing cached, nothing re-read.
struct Counts {
    Count macs{}, flops{};
    Bytes input_bytes{}, parameter_bytes{}, output_bytes{};
    Bytes read_bytes() const { return input_bytes + parameter_bytes; }
    Bytes total_bytes() const { return read_bytes() + output_bytes; }
    double intensity() const;  ///< FLOP per byte
};

Counts count(const Layer& layer);

/// Length of the longest chain of dependent steps in one execution: k for a dot product folded as the kernels do is not meant; it
/// counts dependent *layers of work*: steps x layers of an RNN, 1 for everything that can run at once.
std::int64_t chain_length(const Layer& layer);

/// dtype the multiply units work in: the wider of weights and activations unless both are the same.
DType compute_dtype(const Layer& layer);

}  // namespace rafter::workload
