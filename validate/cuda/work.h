// Small kernels around a measurement: a pause that keeps the queue busy, and a write that flushes the L2.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>

namespace rafter::validate {

/// Throws CudaError when this program holds no code for the GPU.
void require_kernels();
/// Keeps the stream busy for about that long, so that the host can queue what is to be timed behind it.
void launch_pause(double microseconds, cudaStream_t stream);
/// Reads all of `bytes` (a multiple of 16): when they exceed twice the L2, what it held before is gone and what it holds is
/// clean, so that the next call pays for no write-back of ours.
void launch_flush(void* buffer, std::size_t bytes, cudaStream_t stream);

}  // namespace rafter::validate
