// The matrix product by the twin, and by cuBLASLt where the toolkit has it.
#include <array>

#include <fmt/format.h>

#include "validate/host/reference.h"
#include "validate/measure/bench.h"
#include "validate/twins/twins.h"

#if defined(RAFTER_HAS_CUBLASLT)
#include <cublasLt.h>
#endif

namespace rafter::validate {

namespace {

/// Buffers and check of C[m,n] = A[m,k] B, B stored [n,k]. B is the weights.
class GemmBench : public Bench {
public:
    GemmBench(const Case& c, const Context& context)
        : Bench(context),
          dtype_(c.dtype),
          m_(static_cast<int>(c.shape.get("m"))),
          n_(static_cast<int>(c.shape.get("n"))),
          k_(static_cast<int>(c.shape.get("k"))),
          a_values_(tensor(dtype_, 1)),
          b_values_(tensor(dtype_, 2)),
          a_(random_operand(a_values_, std::int64_t{m_} * k_)),
          b_(random_operand(b_values_, std::int64_t{n_} * k_, rotation(c, context, std::int64_t{n_} * k_ * bits(dtype_) / 8))),
          c_(output_operand(std::int64_t{m_} * n_ * bits(dtype_) / 8)) {}

    double error() override { return gemm_error(m_, n_, k_, a_values_, b_values_, values(c_, dtype_, std::int64_t{m_} * n_)); }
    int copies() const override { return b_.copies(); }

protected:
    DType dtype_;
    int m_, n_, k_;
    RandomTensor a_values_, b_values_;
    Operand a_, b_, c_;
};

class TwinGemm : public GemmBench {
public:
    TwinGemm(const Case& c, const Context& context)
        : GemmBench(c, context),
          plan_(plan_gemm(dtype_, m_, n_, k_, context.device.sms)),
          workspace_(plan_.workspace_bytes(m_, n_)) {}

    std::string variant() const override { return plan_.variant; }
    void call(int i) override {
        launch_gemm(plan_, dtype_, m_, n_, k_, {a_.at(i), b_.at(i), c_.at(i), workspace_.as<float>()}, stream());
    }

private:
    GemmPlan plan_;
    DeviceBuffer workspace_;
};

#if defined(RAFTER_HAS_CUBLASLT)

constexpr std::size_t kWorkspaceBytes = 64UL << 20;

cudaDataType_t data_type(DType dtype) {
    return dtype == DType::fp32 ? CUDA_R_32F : dtype == DType::fp16 ? CUDA_R_16F : CUDA_R_16BF;
}

/// Column-major: C^T[n,m] = B[n,k] A^T, so B is the transposed left operand and A the right one.
class LtGemm : public GemmBench {
public:
    LtGemm(const Case& c, const Context& context)
        : GemmBench(c, context), workspace_(static_cast<std::int64_t>(kWorkspaceBytes)) {
        const cudaDataType_t type = data_type(dtype_);
        RAFTER_STATUS(cublasLtCreate(library_.out()));
        RAFTER_STATUS(cublasLtMatmulDescCreate(operation_.out(), CUBLAS_COMPUTE_32F, CUDA_R_32F));
        const cublasOperation_t transposed = CUBLAS_OP_T;
        RAFTER_STATUS(
            cublasLtMatmulDescSetAttribute(operation_.get(), CUBLASLT_MATMUL_DESC_TRANSA, &transposed, sizeof transposed));
        const auto m = static_cast<std::uint64_t>(m_), n = static_cast<std::uint64_t>(n_), k = static_cast<std::uint64_t>(k_);
        RAFTER_STATUS(cublasLtMatrixLayoutCreate(left_.out(), type, k, n, k_));
        RAFTER_STATUS(cublasLtMatrixLayoutCreate(right_.out(), type, k, m, k_));
        RAFTER_STATUS(cublasLtMatrixLayoutCreate(result_.out(), type, n, m, n_));
        choose();
    }

    std::string variant() const override { return fmt::format("cublaslt_{}_heuristic0", cublasLtGetVersion()); }
    void call(int i) override {
        const float one = 1, zero = 0;
        RAFTER_STATUS(cublasLtMatmul(library_.get(), operation_.get(), &one, b_.at(i), left_.get(), a_.at(i), right_.get(), &zero,
                                     c_.at(i), result_.get(), c_.at(i), result_.get(), &algorithm_, workspace_.get(),
                                     kWorkspaceBytes, stream()));
    }

private:
    void choose() {
        Handle<cublasLtMatmulPreference_t, cublasLtMatmulPreferenceDestroy> preference;
        RAFTER_STATUS(cublasLtMatmulPreferenceCreate(preference.out()));
        RAFTER_STATUS(cublasLtMatmulPreferenceSetAttribute(preference.get(), CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES,
                                                           &kWorkspaceBytes, sizeof kWorkspaceBytes));
        cublasLtMatmulHeuristicResult_t best{};
        int found = 0;
        const cublasStatus_t status =
            cublasLtMatmulAlgoGetHeuristic(library_.get(), operation_.get(), left_.get(), right_.get(), result_.get(),
                                           result_.get(), preference.get(), 1, &best, &found);
        if (status != CUBLAS_STATUS_SUCCESS || found == 0) throw Skip("cuBLASLt has no algorithm for this shape");
        algorithm_ = best.algo;
    }

    using Layout = Handle<cublasLtMatrixLayout_t, cublasLtMatrixLayoutDestroy>;
    DeviceBuffer workspace_;
    Handle<cublasLtHandle_t, cublasLtDestroy> library_;
    Handle<cublasLtMatmulDesc_t, cublasLtMatmulDescDestroy> operation_;
    Layout left_, right_, result_;
    cublasLtMatmulAlgo_t algorithm_{};
};

#endif

}  // namespace

std::unique_ptr<Bench> make_gemm(const Case& c, const Context& context) { return std::make_unique<TwinGemm>(c, context); }

std::unique_ptr<Bench> make_cublaslt([[maybe_unused]] const Case& c, [[maybe_unused]] const Context& context) {
#if defined(RAFTER_HAS_CUBLASLT)
    return std::make_unique<LtGemm>(c, context);
#else
    throw Skip("built without cuBLASLt");
#endif
}

}  // namespace rafter::validate
