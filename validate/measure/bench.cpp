#include "validate/measure/bench.h"

#include <algorithm>

#include <fmt/format.h>

#include "sim/core/error.h"
#include "sim/core/quantity.h"
#include "validate/host/rotation.h"
#include "validate/twins/twins.h"

namespace rafter::validate {

namespace {

constexpr std::int64_t kAlignment = 256;

}  // namespace

Operand::Operand(std::int64_t bytes, int copies)
    : bytes_(bytes), stride_(ceil_div(bytes, kAlignment) * kAlignment), copies_(copies), buffer_(stride_ * copies) {}

void* Operand::at(int call) const { return buffer_.as<char>() + call % copies_ * stride_; }

void Operand::replicate(cudaStream_t stream) const {
    for (int copy = 1; copy < copies_; ++copy) {
        RAFTER_CUDA(cudaMemcpyAsync(at(copy), at(0), static_cast<std::size_t>(bytes_), cudaMemcpyDeviceToDevice, stream));
    }
}

RandomTensor Bench::tensor(DType dtype, std::uint64_t which, float scale) const {
    return {dtype, context_.seed * 1000 + which, scale};
}

Operand Bench::random_operand(const RandomTensor& tensor, std::int64_t elements, int copies) const {
    Operand operand(elements * bits(tensor.dtype) / 8, copies);
    launch_fill(tensor.dtype, operand.at(0), elements, tensor.seed, tensor.scale, stream());
    operand.replicate(stream());
    return operand;
}

// All bytes 0xFF: NaN, so that what a kernel forgets to write fails its check.
Operand Bench::output_operand(std::int64_t bytes) const {
    Operand operand(bytes, 1);
    RAFTER_CUDA(cudaMemsetAsync(operand.at(0), 0xFF, static_cast<std::size_t>(bytes), stream()));
    return operand;
}

std::vector<float> Bench::values(const Operand& operand, DType dtype, std::int64_t elements) const {
    return decode(dtype, download(operand.at(0), elements * bits(dtype) / 8, stream()).data(),
                  static_cast<std::size_t>(elements));
}

int rotation(const Case& c, const Context& context, std::int64_t bytes) {
    if (c.protocol.caches != Caches::cold_weights) return 1;
    std::size_t free = 0, total = 0;
    RAFTER_CUDA(cudaMemGetInfo(&free, &total));
    const auto copies = rotating_copies(bytes, context.device.l2_bytes, static_cast<std::int64_t>(free / 2));
    if (!copies) throw Skip("no room for enough copies to keep the weights out of the L2");
    return *copies;
}

std::unique_ptr<Bench> make_bench(const Case& c, const Context& context) {
    if (c.dtype == DType::bf16 && context.device.major < 8) throw Skip("bf16 needs compute capability 8.0");
    if (c.op == "gemm") return c.kernel == "cublaslt" ? make_cublaslt(c, context) : make_gemm(c, context);
    if (c.op == "conv") return c.kernel == "cudnn" ? make_cudnn(c, context) : make_conv(c, context);
    if (c.op == "attention_prefill") return make_prefill(c, context);
    if (c.op == "attention_decode") return make_decode(c, context);
    if (c.op == "embedding") return make_embedding(c, context);
    if (c.op == "lstm" || c.op == "gru" || c.op == "rnn") return make_recurrent(c, context);
    if (c.op == "elementwise") return make_elementwise(c, context);
    return make_rows(c, context);
}

}  // namespace rafter::validate
