// The micro-benchmarks. Each part fills what it finds into the results; docs/measuring.md says how each is measured.
#pragma once

#include <cuda_runtime_api.h>

#include "validate/host/probe_results.h"

namespace rafter::validate {

/// Pointer chases (L1, L2, memory, shared memory), single L2 hits, chains of FMAs and of mma.sync, __syncthreads.
void probe_latency(ProbeResults& results, cudaStream_t stream);
/// Read, copy and write bandwidth against footprint; random rows of 32, 64, 128 and 512 B.
void probe_bandwidth(ProbeResults& results, cudaStream_t stream);
/// FMA and tensor rates by the SM's own clock; the clock that holds under tensor load.
void probe_peaks(ProbeResults& results, cudaStream_t stream);
/// Back-to-back launches in a stream and in a graph; the grid barrier.
void probe_launch(ProbeResults& results, cudaStream_t stream);

}  // namespace rafter::validate
