#include <algorithm>
#include <memory>

#include "sim/core/error.h"
#include "sim/kernels/attention_decode.h"
#include "sim/kernels/attention_prefill.h"
#include "sim/kernels/elementwise.h"
#include "sim/lowering/choose_gemm.h"
#include "sim/lowering/families.h"
#include "sim/lowering/kernel_builder.h"

namespace rafter::lowering {

using config::TensorGeneration;
using kernels::AttentionBlock;
using kernels::AttentionCombine;
using kernels::AttentionDecode;
using kernels::AttentionPrefill;
using kernels::Feed;
using kernels::Matrix;
using program::Argument;
using program::Use;
using workload::Attention;
using workload::Layer;

namespace {

std::int64_t shared_bytes(const AttentionBlock& b, std::int64_t kv_buffers) {
    const std::int64_t q = b.tile.m * b.head_dim * bits(b.compute) / 8;
    return q + b.tile.n * (b.head_dim + b.head_dim_v) * bits(b.kv) / 8 * kv_buffers;
}

bool fits(const AttentionBlock& b, std::int64_t kv_buffers, std::int64_t threads, const config::HwConfig& gpu) {
    return ctas_per_sm({threads, 168, Bytes(shared_bytes(b, kv_buffers))}, gpu.sm) > 0;
}

/// vLLM: FlashAttention-2 or -3 of Tri Dao on paged caches; on compute capability 10 TensorRT-LLM's kernels, as `tuned`.
bool flash_attention(const Layer& layer, const config::HwConfig& gpu) {
    return layer.library == workload::Library::vllm && gpu.tensor.generation != TensorGeneration::blackwell;
}

AttentionBlock block_of(const Layer& layer, const Attention& op, const config::HwConfig& gpu) {
    AttentionBlock b;
    b.head_dim = op.head_dim, b.head_dim_v = op.head_dim_v;
    b.compute = layer.activations;
    b.kv = op.decode ? op.kv_dtype : layer.activations;
    if (b.compute == DType::fp32 && gpu.has_tensor(DType::tf32)) b.compute = DType::tf32;
    b.tensor = gpu.has_tensor(b.compute);
    if (!b.tensor && gemm_kernels(gpu, b.compute).empty()) unsupported(layer.name, b.compute, gpu);
    b.tile.unit_k = std::max<std::int64_t>(1, (gpu.tensor.generation == TensorGeneration::volta ? 64 : 256) / bits(b.compute));
    b.tile.warps_n = 1;
    b.lengths = flash_attention(layer, gpu);
    b.paged = b.lengths && gpu.tensor.generation < TensorGeneration::hopper;
    return b;
}

/// FlashAttention-3 (Hopper): 128 query rows by two consumer warp groups, two K and V stages; 128 keys, 80 for a head of 256.
/// FlashAttention-2: head 64: 128 x 128; 128: 128 x 64, with 99 KiB of shared memory 64 x 64 under a causal mask and 128 x 32
/// without; wider: 64 x 64. A paged cache takes the kernel of decoding (flash_fwd_splitkv): 64 rows. 64 rows when there are not
/// more queries.
void shape_prefill(AttentionBlock& b, const Attention& op, const config::HwConfig& gpu) {
    const bool hopper = b.tensor && gpu.tensor.generation >= TensorGeneration::hopper;
    const std::int64_t dim = std::max(op.head_dim, op.head_dim_v);
    const bool small = !hopper && gpu.sm.shared_memory_per_cta.value < 128 * 1024 && dim > 64;
    b.tile.m = op.seq_q <= 64 || (!hopper && dim > 128) || (small && op.causal) || b.paged ? 64 : 128;
    b.tile.n = hopper ? (dim > 128 ? 80 : 128) : dim <= 64 ? 128 : small && !op.causal ? 32 : 64;
    if (b.paged) b.tile.n = dim <= 64 ? 256 : dim <= 128 ? 128 : 64;
    b.tile.warps_m = hopper ? b.tile.m / 64 : 4;
    if (hopper) b.tile.unit_m = 64, b.tile.feed = Feed::tma;
    b.exclusive = b.tensor && !hopper;
    while (b.tile.n > 16 && !fits(b, hopper ? 2 : 1, 128, gpu)) b.tile.n /= 2;
}

/// Q, K and V of a prefill are one tensor: rows of (all heads, K heads, V heads) when there is one K for each query, else one
/// after the other.
void lay_out(AttentionPrefill::Parameters& p, const Layer& layer) {
    const std::int64_t q = p.heads * p.block.head_dim, k = p.kv_heads * p.block.head_dim, v = p.kv_heads * p.block.head_dim_v;
    const std::int64_t size = bits(layer.activations) / 8;
    if (layer.inputs.size() < 2 && p.seq_q == p.seq_kv) {
        const Matrix row = Matrix::packed(q + k + v, layer.activations);
        p.q = p.k = p.v = row;
        p.k.offset = q * size, p.v.offset = (q + k) * size;
        p.q_stride = p.k_stride = p.v_stride = row.pitch * p.seq_q;
        return;
    }
    p.q = Matrix::packed(q, layer.activations), p.k = Matrix::packed(k, layer.activations),
    p.v = Matrix::packed(v, layer.activations);
    p.q_stride = p.q.pitch * p.seq_q, p.k_stride = p.k.pitch * p.seq_kv, p.v_stride = p.v.pitch * p.seq_kv;
    if (layer.inputs.size() >= 3) return;
    p.k.offset = layer.inputs.size() < 2 ? p.q_stride * p.batch : 0;
    p.v.offset = p.k.offset + p.k_stride * p.batch;
}

std::vector<Argument> prefill_inputs(const AttentionPrefill::Parameters& p, const Layer& layer) {
    const std::int64_t q = p.q_stride * p.batch, k = p.k_stride * p.batch, v = p.v_stride * p.batch;
    const bool packed = layer.inputs.size() < 2;
    const std::int64_t all = p.seq_q == p.seq_kv ? q : q + k + v;
    const std::size_t count = layer.inputs.size();
    return {argument_of(layer.inputs, 0, layer, "qkv", packed ? all : q, Use::read),
            argument_of(layer.inputs, packed ? 0 : 1, layer, "qkv",
                        packed       ? all
                        : count == 2 ? k + v
                                     : k,
                        Use::read),
            argument_of(layer.inputs, packed ? 0 : std::min<std::size_t>(2, count - 1), layer, "qkv",
                        packed       ? all
                        : count == 2 ? k + v
                                     : v,
                        Use::read)};
}

constexpr std::int64_t kManyWaves = 8;

Launches lower_prefill(const Layer& layer, const Attention& op, const config::HwConfig& gpu) {
    AttentionPrefill::Parameters p;
    p.batch = op.batch, p.heads = op.heads, p.kv_heads = op.kv_heads, p.seq_q = op.seq_q, p.seq_kv = op.seq_kv;
    p.causal = op.causal, p.window = op.window;
    p.block = block_of(layer, op, gpu);
    shape_prefill(p.block, op, gpu);
    p.overlaps = p.block.tile.feed == Feed::tma;
    lay_out(p, layer);
    const std::int64_t kv_bytes =
        std::max<std::int64_t>(1, op.seq_kv * (op.head_dim + op.head_dim_v) * bits(layer.activations) / 8);
    const std::int64_t kv_heads_together = std::max<std::int64_t>(1, gpu.l2.capacity.value / 2 / kv_bytes);
    // In their order the last blocks of few waves are long ones; of many, the order decides nothing and equal groups can be left
    // out.
    p.longest_first = p.overlaps || p.grid() > kManyWaves * gpu.sm.count;
    p.heads_together = !p.longest_first ? 1 : std::min(op.batch * op.heads, kv_heads_together * (op.heads / op.kv_heads));

    const std::int64_t kv_buffers = p.overlaps ? 2 : 1;
    const std::int64_t threads = p.overlaps ? 128 + 128 * p.block.tile.warps_m : 32 * p.block.tile.warps_m;
    const program::Resources resources{threads, p.overlaps ? 168 : 255, Bytes(shared_bytes(p.block, kv_buffers))};
    KernelBuilder builder("flash_fwd_kernel_" + std::string(name(p.block.compute)) + "_" + std::to_string(p.block.tile.m) + "x" +
                              std::to_string(p.block.tile.n) + (op.causal ? "_causal" : ""),
                          resources);
    builder.grid(p.grid()).math(p.block.compute, p.block.tensor, p.issued_macs()).arguments(prefill_inputs(p, layer));
    const std::int64_t out = storage(layer.activations, op.batch * op.seq_q * op.heads * op.head_dim_v).value;
    builder.argument(argument_of(layer.outputs, 0, layer, "out", out, Use::write));
    return {{builder.build(std::make_shared<AttentionPrefill>(p), p.text()), 1}};
}

/// flash_fwd_splitkv: 64 rows; 256, 128 or 64 keys for heads up to 64, up to 128, wider. Kernels made for decoding (FlashInfer,
/// XQA) take 16 rows when there are not more, and share the keys among the warps.
void shape_decode(AttentionBlock& b, std::int64_t rows, const config::HwConfig& gpu) {
    const bool few = !b.lengths && rows <= 16 && b.tensor;
    b.exclusive = b.tensor && b.lengths;
    b.tile.m = few ? 16 : 64, b.tile.warps_m = few ? 1 : 4;
    b.tile.n = b.head_dim <= 64 ? 256 : b.head_dim <= 128 ? 128 : 64;
    while (b.tile.n > 16 && !fits(b, 1, 128, gpu)) b.tile.n /= 2;
}

Launches lower_decode(const Layer& layer, const Attention& op, const config::HwConfig& gpu) {
    AttentionDecode::Parameters p;
    p.batch = op.batch, p.heads = op.heads, p.kv_heads = op.kv_heads, p.seq_q = op.seq_q;
    p.held = op.window > 0 ? std::min(op.window, op.seq_kv) : op.seq_kv;
    p.block = block_of(layer, op, gpu);
    shape_decode(p.block, p.rows(), gpu);
    const std::int64_t wanted = kernels::decode_splits(op.batch * op.kv_heads * p.q_blocks(), 2 * gpu.sm.count, p.kv_blocks());
    p.splits = kernels::even_splits(p.kv_blocks(), wanted);

    const std::string suffix =
        std::string(name(p.block.compute)) + "_" + std::to_string(p.block.tile.m) + "x" + std::to_string(p.block.tile.n);
    KernelBuilder builder("flash_fwd_splitkv_kernel_" + suffix, {128, 168, Bytes(shared_bytes(p.block, 1))});
    builder.grid(p.grid()).math(p.block.compute, p.block.tensor, p.issued_macs());
    const std::int64_t rows = p.output_rows(), dim = op.head_dim_v;
    const std::int64_t cache = storage(op.kv_dtype, op.batch * p.held * op.kv_heads * (op.head_dim + dim)).value;
    builder.argument(argument_of(layer.inputs, 0, layer, "q", storage(layer.activations, rows * op.head_dim).value, Use::read));
    builder.argument(argument_of(layer.parameters, 0, layer, "kv", cache, Use::read));
    const Argument out = argument_of(layer.outputs, 0, layer, "out", storage(layer.activations, rows * dim).value, Use::write);
    const Argument workspace{layer.name + ".workspace", p.workspace_bytes(), Use::write};
    builder.argument(p.splits > 1 ? workspace : out);
    Launches launches{{builder.build(std::make_shared<AttentionDecode>(p), p.text()), 1}};
    if (p.splits == 1) return launches;
    KernelBuilder combine("flash_fwd_splitkv_combine_kernel", {AttentionCombine::kThreads, 40, Bytes(4096)});
    combine.grid(AttentionCombine::grid(rows)).math(DType::fp32, false);
    combine.argument({workspace.tensor, workspace.size, Use::read}).argument(out);
    launches.push_back(
        {combine.build(std::make_shared<AttentionCombine>(rows, dim, p.splits, layer.activations, p.block.lengths),
                       join({rows, dim, p.splits, p.block.lengths ? 1 : 0}) + std::string(name(layer.activations))),
         1});
    return launches;
}

/// reshape_and_cache of vLLM, set_kv_buffer of SGLang: a kernel before the attention copies the new K and V into the cache.
Launch cache_write(const Layer& layer, const Attention& op) {
    const std::int64_t tokens = op.batch * std::min(op.seq_q, op.window > 0 ? op.window : op.seq_q);
    const std::int64_t elements = tokens * op.kv_heads * (op.head_dim + op.head_dim_v);
    kernels::Elementwise::Parameters p;
    p.reads = {storage(layer.activations, elements).value};
    p.writes = {storage(op.kv_dtype, elements).value};
    p.elements = elements;
    p.ctas = kernels::Elementwise::grid(p);
    KernelBuilder builder("reshape_and_cache_kernel", {kernels::Elementwise::kThreads, 32, Bytes(0)});
    builder.grid(p.ctas).math(DType::fp32, false);
    const bool packed = !op.decode && !layer.inputs.empty() && layer.inputs[0].size.value >= p.reads[0];
    builder.argument(packed ? Argument{layer.inputs[0].id, layer.inputs[0].size.value, Use::read}
                            : Argument{layer.name + ".kv_new", p.reads[0], Use::read});
    builder.argument(argument_of(layer.outputs, 1, layer, "kv", p.writes[0], Use::write));
    return {builder.build(std::make_shared<kernels::Elementwise>(p), join({p.reads[0], p.writes[0]})), 1};
}

/// flash_attn_varlen of vLLM gathers the heads of a group before a decoding kernel and scatters the result behind it, when the
/// new layout is not the old one.
bool regroups(const Attention& op) { return op.decode && op.batch > 1 && op.kv_heads > 1 && op.heads > op.kv_heads; }

Launch small_kernel(const char* name, const std::string& tensor, std::int64_t bytes) {
    kernels::Elementwise::Parameters p;
    p.reads = p.writes = {bytes};
    p.elements = std::max<std::int64_t>(1, bytes / 2);
    p.ctas = kernels::Elementwise::grid(p);
    KernelBuilder builder(name, {kernels::Elementwise::kThreads, 32, Bytes(0)});
    builder.grid(p.ctas).math(DType::fp32, false);
    builder.argument({tensor + ".from", bytes, Use::read}).argument({tensor, bytes, Use::write});
    return {builder.build(std::make_shared<kernels::Elementwise>(p), join({bytes})), 1};
}

/// FlashAttention-3 with sequences of different lengths: a kernel counts their blocks first.
Launch count_blocks(const Layer& layer, const Attention& op) {
    return small_kernel("prepare_varlen_num_blocks_kernel", layer.name + ".blocks", 4 * op.batch);
}

}  // namespace

Launches lower_attention(const Layer& layer, const Attention& op, const config::HwConfig& gpu) {
    Launches launches = op.decode ? lower_decode(layer, op, gpu) : lower_prefill(layer, op, gpu);
    if (flash_attention(layer, gpu) && gpu.tensor.generation >= TensorGeneration::hopper) {
        launches.insert(launches.begin(), count_blocks(layer, op));
    } else if (flash_attention(layer, gpu) && regroups(op)) {
        const std::int64_t rows = op.batch * op.heads * op.seq_q;
        launches.insert(launches.begin(), small_kernel("copy_heads", layer.name + ".q_grouped",
                                                       storage(layer.activations, rows * op.head_dim).value));
        launches.push_back(
            small_kernel("copy_heads", layer.name + ".out_grouped", storage(layer.activations, rows * op.head_dim_v).value));
    }
    if (op.writes_kv) launches.insert(launches.begin(), cache_write(layer, op));
    return launches;
}

}  // namespace rafter::lowering
