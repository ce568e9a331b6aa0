// Every CUDA call goes through RAFTER_CUDA: a failure names the call and its place.
#pragma once

#include <cuda_runtime_api.h>

#include <stdexcept>
#include <string>

namespace rafter::validate {

class CudaError : public std::runtime_error {
public:
    CudaError(cudaError_t code, const std::string& message) : std::runtime_error(message), code_(code) {}
    cudaError_t code() const { return code_; }
    /// The context is gone: nothing after it can run.
    bool sticky() const;

private:
    cudaError_t code_;
};

void check_cuda(cudaError_t code, const char* call, const char* file, int line);
/// For libraries whose status is a number with zero for success.
void check_status(int status, const char* call, const char* file, int line);

}  // namespace rafter::validate

#define RAFTER_CUDA(call) ::rafter::validate::check_cuda((call), #call, __FILE__, __LINE__)
#define RAFTER_STATUS(call) ::rafter::validate::check_status(static_cast<int>(call), #call, __FILE__, __LINE__)
