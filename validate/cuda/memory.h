// Owners of device memory, streams, events and graphs. Errors: CudaError. Destructors do not throw.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>
#include <utility>
#include <vector>

#include "validate/cuda/check.h"

namespace rafter::validate {

class DeviceBuffer {
public:
    DeviceBuffer() = default;
    explicit DeviceBuffer(std::int64_t bytes) {
        if (bytes > 0) RAFTER_CUDA(cudaMalloc(&data_, static_cast<std::size_t>(bytes)));
    }
    ~DeviceBuffer() { cudaFree(data_); }
    DeviceBuffer(DeviceBuffer&& o) noexcept : data_(std::exchange(o.data_, nullptr)) {}
    DeviceBuffer& operator=(DeviceBuffer&& o) noexcept {
        std::swap(data_, o.data_);
        return *this;
    }
    DeviceBuffer(const DeviceBuffer&) = delete;
    DeviceBuffer& operator=(const DeviceBuffer&) = delete;
    void* get() const { return data_; }
    template <class T>
    T* as() const {
        return static_cast<T*>(data_);
    }

private:
    void* data_{nullptr};
};

class Stream {
public:
    Stream() { RAFTER_CUDA(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking)); }
    ~Stream() { cudaStreamDestroy(stream_); }
    Stream(const Stream&) = delete;
    Stream& operator=(const Stream&) = delete;
    cudaStream_t get() const { return stream_; }
    void wait() const { RAFTER_CUDA(cudaStreamSynchronize(stream_)); }

private:
    cudaStream_t stream_{nullptr};
};

class Event {
public:
    Event() { RAFTER_CUDA(cudaEventCreate(&event_)); }
    ~Event() { cudaEventDestroy(event_); }
    Event(const Event&) = delete;
    Event& operator=(const Event&) = delete;
    void record(cudaStream_t stream) { RAFTER_CUDA(cudaEventRecord(event_, stream)); }
    /// Microseconds from `start` to here; both have happened.
    double since(const Event& start) const {
        float milliseconds = 0;
        RAFTER_CUDA(cudaEventElapsedTime(&milliseconds, start.event_, event_));
        return 1e3 * static_cast<double>(milliseconds);
    }

private:
    cudaEvent_t event_{nullptr};
};

/// A handle of a C library, destroyed by its own function.
template <class T, auto Destroy>
class Handle {
public:
    Handle() = default;
    ~Handle() {
        if (value_ != nullptr) Destroy(value_);
    }
    Handle(const Handle&) = delete;
    Handle& operator=(const Handle&) = delete;
    T* out() { return &value_; }
    T get() const { return value_; }

private:
    T value_{nullptr};
};

/// What `record(stream)` queues, as one graph.
class Graph {
public:
    template <class Record>
    Graph(cudaStream_t stream, const Record& record) {
        cudaGraph_t graph = nullptr;
        RAFTER_CUDA(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
        try {
            record();
        } catch (...) {
            cudaStreamEndCapture(stream, &graph);
            cudaGraphDestroy(graph);
            throw;
        }
        RAFTER_CUDA(cudaStreamEndCapture(stream, &graph));
        const cudaError_t code = cudaGraphInstantiate(&executable_, graph, 0);
        cudaGraphDestroy(graph);
        RAFTER_CUDA(code);
    }
    ~Graph() { cudaGraphExecDestroy(executable_); }
    Graph(const Graph&) = delete;
    Graph& operator=(const Graph&) = delete;
    void launch(cudaStream_t stream) const { RAFTER_CUDA(cudaGraphLaunch(executable_, stream)); }

private:
    cudaGraphExec_t executable_{nullptr};
};

/// `bytes` from the device, after all that is queued on the stream.
inline std::vector<std::byte> download(const void* from, std::int64_t bytes, cudaStream_t stream) {
    std::vector<std::byte> host(static_cast<std::size_t>(bytes));
    RAFTER_CUDA(cudaMemcpyAsync(host.data(), from, host.size(), cudaMemcpyDeviceToHost, stream));
    RAFTER_CUDA(cudaStreamSynchronize(stream));
    return host;
}

}  // namespace rafter::validate
