#include "validate/cuda/check.h"

#include <fmt/format.h>

namespace rafter::validate {

bool CudaError::sticky() const { return cudaDeviceSynchronize() != cudaSuccess; }

void check_cuda(cudaError_t code, const char* call, const char* file, int line) {
    if (code == cudaSuccess) return;
    cudaGetLastError();  // a launch error stays behind otherwise
    throw CudaError(code, fmt::format("{}:{}: {}: {} ({})", file, line, call, cudaGetErrorString(code), cudaGetErrorName(code)));
}

void check_status(int status, const char* call, const char* file, int line) {
    if (status != 0) throw CudaError(cudaErrorUnknown, fmt::format("{}:{}: {}: status {}", file, line, call, status));
}

}  // namespace rafter::validate
