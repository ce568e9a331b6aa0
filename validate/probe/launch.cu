#include <vector>

#include "validate/cuda/memory.h"
#include "validate/cuda/work.h"
#include "validate/host/statistics.h"
#include "validate/probe/probe.h"
#include "validate/twins/launch.h"

namespace rafter::validate {

namespace {

constexpr int kLaunches = 400, kSamples = 20, kFewSyncs = 100, kManySyncs = 1100, kSyncThreads = 256;
constexpr double kPause = 3000;  ///< microseconds in which the host queues all launches

__global__ void empty_kernel() {}

__global__ void sync_kernel(int count) {
    for (int i = 0; i < count; ++i) grid_barrier();
}

class Launches {
public:
    explicit Launches(cudaStream_t stream) : stream_(stream) {}

    /// Seconds from one small kernel to the next.
    double in_stream() {
        return median_us([&] {
                   launch_pause(kPause, stream_);
                   start_.record(stream_);
                   queue();
                   end_.record(stream_);
               }) /
               kLaunches * 1e-6;
    }

    double in_graph() {
        const Graph graph(stream_, [&] { queue(); });
        return median_us([&] {
                   graph.launch(stream_);  // keeps the queue full under the host's work
                   start_.record(stream_);
                   graph.launch(stream_);
                   end_.record(stream_);
               }) /
               kLaunches * 1e-6;
    }

    /// The difference of two lengths: the launch falls out.
    double grid_sync(int sms) { return (syncs(sms, kManySyncs) - syncs(sms, kFewSyncs)) / (kManySyncs - kFewSyncs) * 1e-6; }

private:
    void queue() const {
        for (int i = 0; i < kLaunches; ++i) launch(empty_kernel, {1, 32}, stream_);
    }

    double syncs(int sms, int count) {
        void* arguments[] = {&count};
        return median_us([&] {
            start_.record(stream_);
            RAFTER_CUDA(cudaLaunchCooperativeKernel(reinterpret_cast<const void*>(&sync_kernel), dim3(checked_grid(sms)),
                                                    dim3(kSyncThreads), static_cast<void**>(arguments), 0, stream_));
            end_.record(stream_);
        });
    }

    template <class Queue>
    double median_us(const Queue& one) {
        std::vector<double> samples;
        for (int i = -1; i < kSamples; ++i) {
            one();
            RAFTER_CUDA(cudaStreamSynchronize(stream_));
            if (i >= 0) samples.push_back(end_.since(start_));  // the first one warms
        }
        return summarise(samples).median;
    }

    cudaStream_t stream_;
    Event start_, end_;
};

}  // namespace

void probe_launch(ProbeResults& results, cudaStream_t stream) {
    Launches launches(stream);
    results.stream_gap_s = launches.in_stream();
    results.graph_gap_s = launches.in_graph();
    results.grid_sync_s = launches.grid_sync(results.device.sms);
}

}  // namespace rafter::validate
