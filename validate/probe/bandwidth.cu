#include <algorithm>
#include <array>
#include <vector>

#include "validate/cuda/memory.h"
#include "validate/host/random.h"
#include "validate/host/statistics.h"
#include "validate/probe/probe.h"
#include "validate/twins/launch.h"

namespace rafter::validate {

namespace {

constexpr int kThreads = 256, kUnroll = 4, kCtasPerSm = 4, kRepeats = 5;
constexpr std::int64_t kTile = kThreads * kUnroll * 16;  ///< bytes a CTA moves at a time
constexpr std::int64_t kMoved = std::int64_t{4} << 30;   ///< bytes a timed launch moves, about
constexpr std::int64_t kLargest = std::int64_t{1} << 30;
constexpr std::int64_t kLookUps = std::int64_t{1} << 24;
constexpr std::uint64_t kSeed = 17;

enum class Stream : std::uint8_t { read, copy, write };

/// Tiles of the footprint, `rounds` times. Each round starts elsewhere, so that no SM finds its own data in its L1; loads pass
/// by it anyway.
template <Stream Way>
__global__ void __launch_bounds__(kThreads)
    stream_kernel(uint4* to, const uint4* from, long long tiles, int rounds, unsigned* sink) {
    unsigned sum = 0;
    for (int round = 0; round < rounds; ++round) {
        for (long long tile = blockIdx.x; tile < tiles; tile += gridDim.x) {
            const long long at = (tile + 37LL * round) % tiles * (kThreads * kUnroll) + threadIdx.x;
            uint4 data[kUnroll];
#pragma unroll
            for (int i = 0; i < kUnroll; ++i) {
                if (Way != Stream::write) data[i] = __ldcg(from + at + i * kThreads);
                if (Way == Stream::write) data[i] = make_uint4(static_cast<unsigned>(at), 1, 2, static_cast<unsigned>(round));
            }
#pragma unroll
            for (int i = 0; i < kUnroll; ++i) {
                if (Way == Stream::read) sum ^= data[i].x ^ data[i].y ^ data[i].z ^ data[i].w;
                if (Way != Stream::read) __stcg(to + at + i * kThreads, data[i]);
            }
        }
    }
    if (Way == Stream::read && sum == 0x12345678U) *sink = sum;  // keeps the loads
}

/// `lanes` neighbouring threads read one random row of lanes x 16 B; rows is a power of two.
__global__ void __launch_bounds__(kThreads)
    gather_kernel(const uint4* table, unsigned long long rows, int lanes, long long look_ups, unsigned* sink) {
    const long long groups = static_cast<long long>(gridDim.x) * kThreads / lanes;
    const long long group = (static_cast<long long>(blockIdx.x) * kThreads + threadIdx.x) / lanes;
    const unsigned lane = threadIdx.x % static_cast<unsigned>(lanes);
    unsigned sum = 0;
#pragma unroll 8
    for (long long i = group; i < look_ups; i += groups) {
        const unsigned long long row = random_bits(kSeed, static_cast<std::uint64_t>(i)) & (rows - 1);
        const uint4 data = __ldcg(table + row * static_cast<unsigned>(lanes) + lane);
        sum ^= data.x ^ data.y ^ data.z ^ data.w;
    }
    if (sum == 0x12345678U) *sink = sum;
}

class Bandwidth {
public:
    Bandwidth(ProbeResults& results, cudaStream_t stream)
        : r_(results), stream_(stream), size_(table_bytes()), buffer_(size_), sink_(16), grid_(kCtasPerSm * results.device.sms) {
        RAFTER_CUDA(cudaMemsetAsync(buffer_.get(), 1, static_cast<std::size_t>(size_), stream_));
    }

    void streams() {
        for (std::int64_t bytes = 256 << 10; bytes <= std::min(kLargest, size_); bytes = round(bytes * 5 / 4)) {
            r_.read_bytes_s.push_back({static_cast<double>(bytes), stream<Stream::read>(bytes, 1)});
            r_.copy_bytes_s.push_back({static_cast<double>(bytes), stream<Stream::copy>(bytes / 2 / kTile * kTile, 2)});
            r_.write_bytes_s.push_back({static_cast<double>(bytes), stream<Stream::write>(bytes, 1)});
        }
    }

    void gathers() {
        for (const int bytes : {32, 64, 128, 512}) {
            const auto rows = static_cast<unsigned long long>(size_ / bytes);
            const std::int64_t look_ups = std::min(kLookUps, kMoved / bytes);
            const double seconds = median_seconds([&] {
                launch(gather_kernel, {8 * grid_, kThreads}, stream_, buffer_.as<const uint4>(), rows, bytes / 16,
                       static_cast<long long>(look_ups), sink_.as<unsigned>());
            });
            r_.gather_bytes_s[bytes] = static_cast<double>(look_ups * bytes) / seconds;
        }
    }

private:
    static std::int64_t round(std::int64_t bytes) { return std::max(kTile, bytes / kTile * kTile); }
    /// The largest power of two that fits a third of the free memory, 8 GiB at most.
    static std::int64_t table_bytes() {
        std::size_t free = 0, total = 0;
        RAFTER_CUDA(cudaMemGetInfo(&free, &total));
        std::int64_t size = std::int64_t{8} << 30;
        while (size > static_cast<std::int64_t>(free / 3)) size /= 2;
        return size;
    }

    /// Bytes a second, reads and writes counted: `ways` of `bytes` each.
    template <Stream Way>
    double stream(std::int64_t bytes, int ways) {
        const std::int64_t rounds = std::clamp<std::int64_t>(kMoved / bytes, 2, 4096);
        uint4* to = buffer_.as<uint4>() + (Way == Stream::copy ? bytes / 16 : 0);
        const double seconds = median_seconds([&] {
            launch(stream_kernel<Way>, {std::min<std::int64_t>(grid_, bytes / kTile), kThreads}, stream_, to,
                   buffer_.as<const uint4>(), static_cast<long long>(bytes / kTile), static_cast<int>(rounds),
                   sink_.as<unsigned>());
        });
        return static_cast<double>(rounds * bytes * ways) / seconds;
    }

    template <class Launch>
    double median_seconds(const Launch& one) {
        std::vector<double> samples;
        one();  // warm
        for (int i = 0; i < kRepeats; ++i) {
            start_.record(stream_);
            one();
            end_.record(stream_);
            RAFTER_CUDA(cudaStreamSynchronize(stream_));
            samples.push_back(end_.since(start_) * 1e-6);
        }
        return summarise(samples).median;
    }

    ProbeResults& r_;
    cudaStream_t stream_;
    std::int64_t size_;
    DeviceBuffer buffer_, sink_;
    std::int64_t grid_;
    Event start_, end_;
};

}  // namespace

void probe_bandwidth(ProbeResults& results, cudaStream_t stream) {
    Bandwidth bandwidth(results, stream);
    bandwidth.streams();
    bandwidth.gathers();
}

}  // namespace rafter::validate
