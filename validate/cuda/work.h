// Small kernels around a measurement: a pause that keeps the queue busy, and a write that flushes the L2.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>

namespace rafter::validate {

/// Throws CudaError when this program holds no code for the GPU.
void require_kernels();
/// Keeps the stream busy for about that long, so that the host can queue what is to be timed behind it.
void launch_pause(double microseconds, cudaStream_t stream);
/// Writes all of `bytes` (a multiple of 16), so that what was in the L2 before is gone when they exceed twice its size.
void launch_flush(void* buffer, std::size_t bytes, cudaStream_t stream);

}  // namespace rafter::validate
