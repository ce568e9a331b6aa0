#include "sim/curves/streams.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "sim/validate/measured.h"

namespace rafter::curves {

namespace {

std::string text_of(const Shape& shape, const std::string& key) {
    const auto at = shape.find(key);
    return at == shape.end() ? std::string() : at->second;
}

/// 0 where there is no such number.
double number_of(const Shape& shape, const std::string& key) { return validate::parse_positive(text_of(shape, key)).value_or(0); }

std::int64_t whole(double value) { return static_cast<std::int64_t>(std::llround(value)); }

/// Data that lie in the memory of the host.
bool elsewhere(const Shape& shape) {
    const std::string memory = text_of(shape, "mem"), pair = text_of(shape, "pair");
    return (!memory.empty() && memory != "hbm") || (!pair.empty() && pair != "hbm_hbm");
}

/// A thread an element, with what it computes; init is write under another name.
StreamProbe stream_of(const std::string& kernel) {
    StreamProbe probe;
    auto& p = probe.parameters;
    p.reads = kernel == "triad" ? 3 : kernel == "write" || kernel == "init" ? 0 : 1;
    p.writes = kernel == "read" ? 0 : 1;
    p.half_fma = p.reads > 0 && kernel != "copy" ? 2 : 0;
    p.integer = 4;
    return probe;
}

Point point(double x, const StreamProbe& probe) { return {x, std::nullopt, 0, probe}; }

std::optional<Point> occupancy(StreamProbe probe, const Shape& shape, const config::HwConfig& gpu) {
    const double block = number_of(shape, "block"), given = number_of(shape, "blocks_per_sm");
    if (number_of(shape, "occupancy_pct") <= 0 || block <= 0 || shape.contains("bench")) return std::nullopt;
    const double resident = number_of(shape, "threads") / (block * static_cast<double>(gpu.sm.count));
    probe.parameters.threads = whole(block);
    probe.parameters.array_bytes = std::int64_t{1} << 31;
    probe.ctas_per_sm = std::max<std::int64_t>(1, whole(given > 0 ? given : resident));
    return point(100 * block * static_cast<double>(probe.ctas_per_sm) / static_cast<double>(gpu.sm.max_threads), probe);
}

std::optional<Point> warm(StreamProbe probe, const Shape& shape) {
    const double kib = number_of(shape, "working_set_kB"), block = number_of(shape, "block");
    if (text_of(shape, "bench") != "l2_stream" || kib <= 0 || block <= 0) return std::nullopt;
    auto& p = probe.parameters;
    p.threads = whole(block);
    p.array_bytes =
        std::max<std::int64_t>(1, whole(kib * 1024) / (p.reads + p.writes) / program::kLineBytes) * program::kLineBytes;
    probe.ctas_per_sm = std::max<std::int64_t>(1, whole(number_of(shape, "blocks_per_sm")));
    return point(kib, probe);
}

std::optional<Point> ctas(StreamProbe probe, const Shape& shape, const config::HwConfig& gpu) {
    const double blocks = number_of(shape, "blocks"), threads = number_of(shape, "threads");
    if (text_of(shape, "sweep") != "blocks" || blocks <= 0 || threads <= 0) return std::nullopt;
    auto& p = probe.parameters;
    p.threads = whole(threads);
    p.array_bytes = std::int64_t{1} << 33;
    p.element = 16;
    p.integer = 1;
    p.half_fma = 0;
    p.grid = p.stride = whole(blocks);
    probe.loop = true;
    probe.ctas_per_sm = ceil_div(p.grid, gpu.sm.count);
    return point(blocks, probe);
}

/// Addresses of the unrolled loop are constants; what is done with the data is left out, since versions differ in its type.
std::optional<Point> cache(StreamProbe probe, const Shape& shape, const config::HwConfig& gpu) {
    const double kib = number_of(shape, "per_block_set_kB");
    if (text_of(shape, "bench") != "cache_read_bw" || kib <= 0) return std::nullopt;
    auto& p = probe.parameters;
    p.threads = 256;
    p.unroll = 32;
    p.integer = 0;
    p.half_fma = 0;
    p.array_bytes = whole(kib * 1024);
    p.stride = 1;
    p.grid = gpu.sm.count;
    probe.loop = true;
    return point(kib, probe);
}

/// `count` numbers from `low` to `high` in equal ratios.
std::vector<double> ratios(double low, double high, int count) {
    std::vector<double> values;
    for (int i = 0; i < count; ++i) values.push_back(low * std::pow(high / low, static_cast<double>(i) / (count - 1)));
    return values;
}

}  // namespace

const std::vector<StreamKind>& stream_kinds() {
    static const std::vector<StreamKind> all = [] {
        std::vector<StreamKind> kinds;
        for (const char* kernel : {"read", "init", "scale", "triad"})
            kinds.push_back({fmt::format("occupancy-{}", kernel), fmt::format("{} from DRAM, a thread an element", kernel),
                             "occupancy, %", Form::occupancy, kernel});
        for (const char* kernel : {"read", "write", "scale", "triad"})
            kinds.push_back({fmt::format("warm-{}", kernel), fmt::format("{} again and again, a thread an element", kernel),
                             "working set, kB", Form::warm, kernel});
        for (const char* kernel : {"write", "copy"})
            kinds.push_back({fmt::format("ctas-{}", kernel), fmt::format("{} by CTAs of 1024 threads, 16 bytes each", kernel),
                             "CTAs", Form::ctas, kernel});
        kinds.push_back({"cache", "all SMs read the same buffer", "buffer, kB", Form::cache, "read"});
        return kinds;
    }();
    return all;
}

std::optional<Point> stream_point(const StreamKind& kind, const Shape& shape, const config::HwConfig& gpu) {
    if (elsewhere(shape)) return std::nullopt;
    if (kind.form == Form::cache) return cache(stream_of("read"), shape, gpu);
    if (text_of(shape, "kernel") != kind.kernel) return std::nullopt;
    if (kind.form == Form::occupancy) return occupancy(stream_of(kind.kernel), shape, gpu);
    if (kind.form == Form::warm) return warm(stream_of(kind.kernel), shape);
    return ctas(stream_of(kind.kernel), shape, gpu);
}

std::vector<Point> own_points(const StreamKind& kind, const config::HwConfig& gpu) {
    const auto threads = static_cast<double>(gpu.sm.max_threads), sms = static_cast<double>(gpu.sm.count);
    const double l2 = std::max(1024.0, static_cast<double>(gpu.l2.capacity.value) / 1024);
    const double block = std::min(1024.0, threads / 2);
    const auto shape_at = [&](double x) -> Shape {
        switch (kind.form) {
            case Form::occupancy:
                return {{"block", fmt::format("{}", std::max(32LL, std::llround(x * threads / 200 / 32) * 32))},
                        {"blocks_per_sm", "2"},
                        {"occupancy_pct", "1"}};
            case Form::warm:
                return {{"bench", "l2_stream"},
                        {"working_set_kB", fmt::format("{}", x)},
                        {"block", fmt::format("{}", block)},
                        {"blocks_per_sm", "2"}};
            case Form::ctas:
                return {{"sweep", "blocks"}, {"blocks", fmt::format("{}", std::llround(x))}, {"threads", "1024"}};
            case Form::cache:
                return {{"bench", "cache_read_bw"}, {"per_block_set_kB", fmt::format("{}", std::llround(x))}};
        }
        return {};
    };
    const auto axis = kind.form == Form::occupancy ? ratios(100 * 64 / threads, 200 * block / threads, 6)
                      : kind.form == Form::ctas    ? ratios(1, sms * std::max(1.0, std::floor(threads / 1024)), 6)
                                                   : ratios(kind.form == Form::warm ? l2 / 16 : 16, l2 * 8, 8);
    std::vector<Point> points;
    for (const double x : axis) {
        Shape shape = shape_at(x);
        shape["kernel"] = kind.kernel;
        if (const auto at = stream_point(kind, shape, gpu)) points.push_back(*at);
    }
    return points;
}

}  // namespace rafter::curves
