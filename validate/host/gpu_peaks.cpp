#include "validate/host/gpu_peaks.h"

#include <algorithm>
#include <cctype>
#include <map>

#include "sim/core/error.h"

namespace rafter::validate {

namespace {

/// fp16 with fp32 sums, dense: white papers of the architectures. Parts with half the rate (GeForce) are within the bound.
std::int64_t tensor_fp16(int major, int minor) {
    if (major == 7) return 1024;
    if (major == 8) return minor == 0 ? 2048 : minor == 7 ? 2048 : 1024;
    if (major == 9) return 4096;
    if (major == 10 || major == 11) return 8192;
    if (major == 12) return 2048;
    return 0;
}

std::string without(std::string text, const std::string& part) {
    const auto at = text.find(part);
    return at == std::string::npos ? text : text.erase(at, part.size());
}

std::int64_t element_bytes(const Case& c) { return bits(c.dtype) / 8; }

Work gemm_work(const Case& c) {
    const std::int64_t m = c.shape.get("m"), n = c.shape.get("n"), k = c.shape.get("k"), bytes = element_bytes(c);
    Work w;
    w.flops = 2.0 * static_cast<double>(m) * static_cast<double>(n) * static_cast<double>(k);
    w.total_bytes = (m * k + n * k + m * n) * bytes;
    if (c.protocol.caches == Caches::cold_weights) w.cold_bytes = n * k * bytes;
    if (c.protocol.caches == Caches::cold) w.cold_bytes = (m * k + n * k) * bytes;
    return w;
}

/// Pairs of output position and tap that lie inside the image, along one axis: padding needs no product.
std::int64_t inside(std::int64_t outputs, std::int64_t taps, std::int64_t stride, std::int64_t pad, std::int64_t size) {
    std::int64_t pairs = 0;
    for (std::int64_t out = 0; out < outputs; ++out) {
        const std::int64_t first = out * stride - pad;
        pairs += std::max<std::int64_t>(0, std::min(size, first + taps) - std::max<std::int64_t>(0, first));
    }
    return pairs;
}

Work conv_work(const Case& c) {
    const Shape& s = c.shape;
    const std::int64_t groups = s.get("groups", 1), bytes = element_bytes(c), channels = s.get("c") / groups * s.get("k");
    const std::int64_t taps = inside(s.get("p"), s.get("r"), s.get("stride_h"), s.get("pad_h"), s.get("h")) *
                              inside(s.get("q"), s.get("s"), s.get("stride_w"), s.get("pad_w"), s.get("w"));
    Work w;
    w.flops = 2.0 * static_cast<double>(s.get("n") * taps) * static_cast<double>(channels);
    w.tensor = groups == 1;
    w.total_bytes = (s.get("n") * s.get("p") * s.get("q") * s.get("k") + channels * s.get("r") * s.get("s")) * bytes;
    return w;
}

Work attention_work(const Case& c) {
    const Shape& s = c.shape;
    const auto q = static_cast<double>(s.get("seq_q")), kv = static_cast<double>(s.get("seq_kv"));
    const double pairs = q * kv - q * (q - 1) / 2;  // causal, queries last
    const std::int64_t cache = 2 * s.get("batch") * s.get("kv_heads") * s.get("seq_kv") * s.get("head_dim") * element_bytes(c);
    Work w;
    w.flops = 4.0 * static_cast<double>(s.get("batch") * s.get("heads") * s.get("head_dim")) * pairs;
    w.total_bytes = cache;
    if (c.protocol.caches == Caches::cold) w.cold_bytes = cache;
    return w;
}

Work recurrent_work(const Case& c, std::int64_t gates) {
    const std::int64_t hidden = c.shape.get("hidden"), rows = c.shape.get("batch") * c.shape.get("steps");
    Work w;
    w.flops = 2.0 * static_cast<double>(rows) * static_cast<double>(gates * hidden) * static_cast<double>(hidden);
    w.total_bytes = (gates * hidden * hidden + rows * (gates + 1) * hidden) * element_bytes(c);
    return w;
}

/// Popular rows may sit in a cache, so only the output and the indices of a bag must move.
Work embedding_work(const Case& c) {
    const std::int64_t bags = c.shape.get("tables") * c.shape.get("batch");
    Work w;
    w.tensor = false;
    w.total_bytes = bags * (c.shape.get("dim") * element_bytes(c) + c.shape.get("pooling") * 8);
    return w;
}

Work stream_work(const Case& c) {
    const std::int64_t elements = c.shape.get("rows") * c.shape.get("cols");
    Work w;
    w.tensor = false;
    w.total_bytes = elements * (c.shape.get("reads") + c.shape.get("writes")) * element_bytes(c);
    if (c.protocol.caches == Caches::cold) w.cold_bytes = elements * c.shape.get("reads") * element_bytes(c);
    return w;
}

}  // namespace

std::int64_t tensor_flop_per_clk(int major, int minor, DType dtype) {
    const std::int64_t fp16 = tensor_fp16(major, minor);
    const bool ampere = major >= 8, fp8 = major > 8 || (major == 8 && minor == 9);
    switch (dtype) {
        case DType::fp16:
            return fp16;
        case DType::bf16:
            return ampere ? fp16 : 0;
        case DType::tf32:
            return ampere ? fp16 / 2 : 0;
        case DType::int8:
            return major == 7 && minor < 5 ? 0 : fp16 * 2;
        case DType::fp8:
            return fp8 ? fp16 * 2 : 0;
        default:
            return 0;
    }
}

std::int64_t fma_per_clk(int major, int minor, DType dtype) {
    if (major < 7) return 0;
    const bool datacenter = minor == 0 && (major == 7 || major == 8 || major == 9 || major == 10);
    switch (dtype) {
        case DType::fp32:
            return major == 7 || (major == 8 && minor == 0) ? 64 : 128;
        case DType::fp16:
            return major == 7 ? 128 : 256;
        case DType::fp64:
            return !datacenter ? 2 : major == 9 || major == 10 ? 64 : 32;
        default:
            return 0;
    }
}

std::string gpu_file_name(const std::string& device_name) {
    static const std::map<std::string, std::string> kKnown{
        {"NVIDIA H100 80GB HBM3", "h100-sxm5-80gb"},
        {"NVIDIA H100 PCIe", "h100-pcie-80gb"},
        {"NVIDIA H200", "h200-sxm-141gb"},
        {"NVIDIA A100 80GB PCIe", "a100-pcie-80gb"},
        {"NVIDIA B200", "b200-sxm"},
    };
    if (const auto known = kKnown.find(device_name); known != kKnown.end()) return known->second;
    std::string name = device_name;
    for (const char* word : {"NVIDIA ", "Tesla ", "GeForce ", "Quadro "}) name = without(name, word);
    for (char& c : name) {
        c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
        if (std::isalnum(static_cast<unsigned char>(c)) == 0) c = '-';
    }
    return name;
}

Work work_of(const Case& c) {
    Work w;
    if (c.op == "gemm") w = gemm_work(c);
    if (c.op == "conv") w = conv_work(c);
    if (c.op == "attention_prefill" || c.op == "attention_decode") w = attention_work(c);
    if (c.op == "lstm") w = recurrent_work(c, 4);
    if (c.op == "gru") w = recurrent_work(c, 3);
    if (c.op == "rnn") w = recurrent_work(c, 1);
    if (c.op == "embedding") w = embedding_work(c);
    if (c.op == "elementwise" || c.op == "softmax" || c.op == "layernorm" || c.op == "rmsnorm") w = stream_work(c);
    RAFTER_CHECK(w.total_bytes > 0, "no arithmetic for '" + c.op + "'");
    w.unit = c.dtype;
    if (c.dtype == DType::fp32) w.tensor = false;
    return w;
}

double least_seconds(const Device& d, const Work& work) {
    const auto rate = static_cast<double>(work.tensor ? tensor_flop_per_clk(d.major, d.minor, work.unit)
                                                      : 2 * fma_per_clk(d.major, d.minor, work.unit));
    const double flops = rate * d.sms * d.clock_hz, memory = d.memory_bytes_per_s();
    const double spilled = static_cast<double>(std::max(work.cold_bytes, work.total_bytes - d.l2_bytes));
    const double compute = flops > 0 ? work.flops / flops : 0.0, moving = memory > 0 ? spilled / memory : 0.0;
    return std::max({compute, moving, 0.0});
}

int above_peak(const Device& device, const Work& work, const std::vector<double>& samples_us) {
    const double least = least_seconds(device, work) * 1e6;
    return static_cast<int>(
        std::count_if(samples_us.begin(), samples_us.end(), [&](double us) { return !(us > 0) || us < least; }));
}

}  // namespace rafter::validate
