// A case made ready on the device: buffers filled, a check of the result, and one call to be timed.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "validate/cuda/memory.h"
#include "validate/host/case.h"
#include "validate/host/gpu_peaks.h"
#include "validate/host/tensor.h"

namespace rafter::validate {

/// Why a case cannot be measured here; no failure.
class Skip : public std::runtime_error {
public:
    using std::runtime_error::runtime_error;
};

struct Context {
    Device device;
    cudaStream_t stream{};
    std::uint64_t seed{1};
};

/// Device memory in `copies` equal copies: call i uses copy i modulo their number.
class Operand {
public:
    Operand(std::int64_t bytes, int copies);
    void* at(int call) const;
    /// Makes all copies equal to the first.
    void replicate(cudaStream_t stream) const;
    int copies() const { return copies_; }
    std::int64_t bytes() const { return bytes_; }

private:
    std::int64_t bytes_, stride_;
    int copies_;
    DeviceBuffer buffer_;
};

class Bench {
public:
    explicit Bench(const Context& context) : context_(context) {}
    virtual ~Bench() = default;
    Bench(const Bench&) = delete;
    Bench& operator=(const Bench&) = delete;

    /// What was launched, for the notes.
    virtual std::string variant() const = 0;
    /// Queues one call on the stream of the context.
    virtual void call(int index) = 0;
    /// Relative error of the outputs of call 0, which has been queued.
    virtual double error() = 0;
    /// Calls until the caches see the same bytes again.
    virtual int copies() const { return 1; }
    /// Kernels of one call, about.
    virtual int launches() const { return 1; }

protected:
    /// An input: random values of this seed, in all copies.
    Operand random_operand(const RandomTensor& tensor, std::int64_t elements, int copies = 1) const;
    Operand output_operand(std::int64_t bytes) const;
    std::vector<float> values(const Operand& operand, DType dtype, std::int64_t elements) const;
    RandomTensor tensor(DType dtype, std::uint64_t which, float scale = 1.0F) const;
    cudaStream_t stream() const { return context_.stream; }
    const Device& device() const { return context_.device; }

    Context context_;
};

/// Copies of `bytes` so that more than twice the L2 lies between two uses of one; 1 for protocols that hold nothing cold or
/// flush instead. Errors: Skip when memory does not suffice.
int rotation(const Case& c, const Context& context, std::int64_t bytes);

/// Errors: Skip.
std::unique_ptr<Bench> make_bench(const Case& c, const Context& context);

std::unique_ptr<Bench> make_gemm(const Case& c, const Context& context);
std::unique_ptr<Bench> make_cublaslt(const Case& c, const Context& context);
std::unique_ptr<Bench> make_conv(const Case& c, const Context& context);
std::unique_ptr<Bench> make_cudnn(const Case& c, const Context& context);
std::unique_ptr<Bench> make_prefill(const Case& c, const Context& context);
std::unique_ptr<Bench> make_decode(const Case& c, const Context& context);
std::unique_ptr<Bench> make_embedding(const Case& c, const Context& context);
std::unique_ptr<Bench> make_recurrent(const Case& c, const Context& context);
std::unique_ptr<Bench> make_elementwise(const Case& c, const Context& context);
std::unique_ptr<Bench> make_rows(const Case& c, const Context& context);

}  // namespace rafter::validate
