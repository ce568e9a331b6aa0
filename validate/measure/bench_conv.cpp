// The convolution by the twins, and by cuDNN where it was found.
#include <fmt/format.h>

#include "validate/host/reference.h"
#include "validate/measure/bench.h"
#include "validate/twins/twins.h"

#if defined(RAFTER_HAS_CUDNN)
#include <cudnn.h>
#endif

namespace rafter::validate {

namespace {

Conv conv_of(const Shape& shape) {
    const auto get = [&](const char* key) { return static_cast<int>(shape.get(key)); };
    return {get("n"), get("c"),        get("h"),        get("w"),     get("k"),    get("r"),
            get("s"), get("stride_h"), get("stride_w"), get("pad_h"), get("pad_w")};
}

class ConvBench : public Bench {
public:
    ConvBench(const Case& c, const Context& context)
        : Bench(context),
          dtype_(c.dtype),
          conv_(conv_of(c.shape)),
          depthwise_(c.shape.get("groups", 1) == conv_.c && conv_.c > 1),
          image_values_(tensor(dtype_, 1)),
          weight_values_(tensor(dtype_, 2)),
          image_(random_operand(image_values_, std::int64_t{conv_.n} * conv_.h * conv_.w * conv_.c)),
          weights_(random_operand(weight_values_, std::int64_t{conv_.r} * conv_.s * conv_.c * (depthwise_ ? 1 : conv_.k))),
          out_(output_operand(elements() * bits(dtype_) / 8)) {}

    double error() override {
        return conv_error(conv_, depthwise_, image_values_, weight_values_, values(out_, dtype_, elements()));
    }

protected:
    std::int64_t elements() const { return std::int64_t{conv_.n} * conv_.p() * conv_.q() * conv_.k; }

    DType dtype_;
    Conv conv_;
    bool depthwise_;
    RandomTensor image_values_, weight_values_;
    Operand image_, weights_, out_;
};

class TwinConv : public ConvBench {
public:
    using ConvBench::ConvBench;
    std::string variant() const override { return depthwise_ ? "twin_direct_window" : "twin_implicit_gemm_64x64x32x4"; }
    void call(int i) override {
        if (depthwise_) {
            launch_direct_window(dtype_, conv_, image_.at(i), weights_.at(i), out_.at(i), stream());
        } else {
            launch_conv2d(dtype_, conv_, image_.at(i), weights_.at(i), out_.at(i), stream());
        }
    }
};

#if defined(RAFTER_HAS_CUDNN)

/// Implicit GEMM on tensor cores. The algorithm is fixed: Winograd and FFT do fewer products than the arithmetic of the shape.
class CudnnConv : public ConvBench {
public:
    CudnnConv(const Case& c, const Context& context) : ConvBench(c, context) {
        const cudnnDataType_t type = dtype_ == DType::bf16 ? CUDNN_DATA_BFLOAT16 : CUDNN_DATA_HALF;
        RAFTER_STATUS(cudnnCreate(library_.out()));
        RAFTER_STATUS(cudnnSetStream(library_.get(), stream()));
        RAFTER_STATUS(cudnnCreateTensorDescriptor(input_.out()));
        RAFTER_STATUS(cudnnCreateTensorDescriptor(output_.out()));
        RAFTER_STATUS(cudnnCreateFilterDescriptor(filter_.out()));
        RAFTER_STATUS(cudnnCreateConvolutionDescriptor(operation_.out()));
        RAFTER_STATUS(cudnnSetTensor4dDescriptor(input_.get(), CUDNN_TENSOR_NHWC, type, conv_.n, conv_.c, conv_.h, conv_.w));
        RAFTER_STATUS(cudnnSetTensor4dDescriptor(output_.get(), CUDNN_TENSOR_NHWC, type, conv_.n, conv_.k, conv_.p(), conv_.q()));
        RAFTER_STATUS(cudnnSetFilter4dDescriptor(filter_.get(), type, CUDNN_TENSOR_NHWC, conv_.k, conv_.c, conv_.r, conv_.s));
        RAFTER_STATUS(cudnnSetConvolution2dDescriptor(operation_.get(), conv_.pad_h, conv_.pad_w, conv_.stride_h, conv_.stride_w,
                                                      1, 1, CUDNN_CROSS_CORRELATION, CUDNN_DATA_FLOAT));
        RAFTER_STATUS(cudnnSetConvolutionMathType(operation_.get(), CUDNN_TENSOR_OP_MATH));
        const cudnnStatus_t status = cudnnGetConvolutionForwardWorkspaceSize(
            library_.get(), input_.get(), filter_.get(), operation_.get(), output_.get(), kAlgorithm, &workspace_bytes_);
        if (status != CUDNN_STATUS_SUCCESS) throw Skip("cuDNN has no implicit GEMM for this shape");
        workspace_ = DeviceBuffer(static_cast<std::int64_t>(workspace_bytes_));
    }

    std::string variant() const override { return fmt::format("cudnn_{}_IMPLICIT_PRECOMP_GEMM", cudnnGetVersion()); }
    void call(int i) override {
        const float one = 1, zero = 0;
        RAFTER_STATUS(cudnnConvolutionForward(library_.get(), &one, input_.get(), image_.at(i), filter_.get(), weights_.at(i),
                                              operation_.get(), kAlgorithm, workspace_.get(), workspace_bytes_, &zero,
                                              output_.get(), out_.at(i)));
    }

private:
    static constexpr cudnnConvolutionFwdAlgo_t kAlgorithm = CUDNN_CONVOLUTION_FWD_ALGO_IMPLICIT_PRECOMP_GEMM;
    using Tensor = Handle<cudnnTensorDescriptor_t, cudnnDestroyTensorDescriptor>;
    Handle<cudnnHandle_t, cudnnDestroy> library_;
    Tensor input_, output_;
    Handle<cudnnFilterDescriptor_t, cudnnDestroyFilterDescriptor> filter_;
    Handle<cudnnConvolutionDescriptor_t, cudnnDestroyConvolutionDescriptor> operation_;
    std::size_t workspace_bytes_{0};
    DeviceBuffer workspace_;
};

#endif

}  // namespace

std::unique_ptr<Bench> make_conv(const Case& c, const Context& context) { return std::make_unique<TwinConv>(c, context); }

std::unique_ptr<Bench> make_cudnn([[maybe_unused]] const Case& c, [[maybe_unused]] const Context& context) {
#if defined(RAFTER_HAS_CUDNN)
    return std::make_unique<CudnnConv>(c, context);
#else
    throw Skip("built without cuDNN");
#endif
}

}  // namespace rafter::validate
