#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "validate/host/probe_results.h"

namespace rafter::validate {

namespace {

constexpr double kKiB = 1024, kMiB = 1024 * kKiB, kGiB = 1024 * kMiB;
constexpr const char* kProbe = "rafter-probe";
constexpr const char* kProperty = "cudaGetDeviceProperties and cudaDeviceGetAttribute";
constexpr const char* kGuide = "CUDA C++ Programming Guide, technical specifications per compute capability";

struct Guess {
    std::string value, why;
};

class Writer {
public:
    explicit Writer(const ProbeResults& results) : r_(results), d_(results.device), stacked_(d_.bus_bits >= 1024) {}

    std::string text() {
        out_ = fmt::format("# {}, as rafter-probe found it. docs/config.md explains the keys, docs/measuring.md the probe.\n",
                           d_.name);
        out_ += fmt::format("schema: rafter.gpu/1\ntitle: \"{}\"\ncompute_capability: '{}.{}'\n", quoted(d_.name), d_.major,
                            d_.minor);
        clock();
        sm();
        tensor();
        l2();
        dram();
        launch();
        return out_;
    }

private:
    static std::string quoted(const std::string& text) {
        std::string safe;
        for (const char c : text) safe += c == '"' || c == '\\' ? '\'' : c;
        return safe;
    }
    void leaf(const std::string& key, const std::string& value, const std::string& source, const char* standing, int indent = 2) {
        out_ += fmt::format("{:{}}{}: {{value: {}, source: \"{}\", standing: {}}}\n", "", indent, key, value, quoted(source),
                            standing);
    }
    void property(const std::string& key, const std::string& value) { leaf(key, value, kProperty, "measured"); }
    void estimate(const std::string& key, const Guess& guess) { leaf(key, guess.value, guess.why, "estimate"); }
    /// What the probe found, as text; without a finding the guess.
    template <class Format>
    void found(const std::string& key, const std::optional<double>& value, const char* how, const Guess& guess, Format format) {
        if (value && std::isfinite(*value) && *value > 0) {
            leaf(key, format(*value), fmt::format("{}: {}", kProbe, how), "measured");
        } else {
            estimate(key, {guess.value, "not measured; " + guess.why});
        }
    }
    static std::string clocks(double v) { return fmt::format("{} clk", std::max(1L, std::lround(v))); }
    static std::string whole_kib(double bytes) { return fmt::format("{:.0f} KiB", std::floor(bytes / kKiB)); }
    static std::string nanoseconds(double s) { return fmt::format("{:.0f} ns", std::max(1.0, std::round(s * 1e9))); }
    static std::string megahertz(double hz) { return fmt::format("{:.0f} MHz", std::floor(hz / 1e6)); }

    std::optional<double> fma(DType dtype) const {
        const auto it = r_.fma_per_clk.find(dtype);
        return it == r_.fma_per_clk.end() ? std::nullopt : std::optional<double>(static_cast<double>(whole_rate(it->second)));
    }

    void clock() {
        out_ += "\nclock:\n";
        property("boost", megahertz(d_.clock_hz));
        const double sustained = std::min(r_.sustained_clock_hz.value_or(0.0), d_.clock_hz);
        found("tensor_peak", sustained > 0 ? std::optional(sustained) : std::nullopt, "sustained clock under tensor load",
              {megahertz(d_.clock_hz), "the boost clock taken"}, megahertz);
    }

    void sm() {
        out_ += "\nsm:\n";
        property("count", std::to_string(d_.sms));
        property("max_ctas", std::to_string(d_.max_ctas_per_sm));
        property("max_threads", std::to_string(d_.max_threads_per_sm));
        property("registers", std::to_string(d_.registers_per_sm));
        leaf("max_registers_per_thread", "255", kGuide, "datasheet");
        shared_memory();
        estimate("shared_bytes_per_clk", {"128", "32 banks x 4 B"});
        estimate("l1_bytes_per_clk", {d_.major == 7 && d_.minor == 5 ? "64" : "128", "by generation; not measured"});
        estimate("l1_ways", {"4", "not published; a modelling choice"});
        lanes();
        latencies();
        in_flight();
    }

    void shared_memory() {
        const double largest = static_cast<double>(d_.shared_per_sm), reserved = static_cast<double>(d_.shared_reserved);
        const double per_cta = std::min(static_cast<double>(d_.shared_per_cta), largest - reserved);
        const double unified = d_.major == 7    ? (d_.minor == 5 ? 96 : 128)
                               : d_.major == 8  ? (d_.minor == 0   ? 192
                                                   : d_.minor == 7 ? 192
                                                                   : 128)
                               : d_.major >= 12 ? 128
                                                : 256;
        estimate("l1_and_shared",
                 {fmt::format("{:.0f} KiB", std::max(unified, largest / kKiB)), "by compute capability; no property tells"});
        property("shared_memory", whole_kib(largest));
        property("shared_memory_per_cta", whole_kib(per_cta));
        property("shared_memory_reserved_per_cta", fmt::format("{:.0f} B", reserved));
    }

    void lanes() {
        const auto lane = [&](const char* key, DType dtype) {
            const std::int64_t known = validate::fma_per_clk(d_.major, d_.minor, dtype);
            found(key, fma(dtype), "independent FMAs by the SM's clock, rounded to a power of two within 15 %",
                  {std::to_string(std::max<std::int64_t>(known, 1)), "rate by compute capability"},
                  [](double v) { return fmt::format("{:.0f}", v); });
        };
        lane("fp32_fma_per_clk", DType::fp32);
        lane("fp64_fma_per_clk", DType::fp64);
        lane("fp16_fma_per_clk", DType::fp16);
        estimate("int32_ops_per_clk", {"64", "since Volta; not measured"});
        estimate("sfu_ops_per_clk", {"16", "since Volta; not measured"});
        estimate("issue_slots_per_clk", {"4", "four warp schedulers since Volta"});
    }

    void latencies() {
        found("fma_latency", r_.fma_latency_clk, "chain of dependent FMAs", {"4 clk", "since Volta"}, clocks);
        found("l1_latency", r_.l1_latency_clk, "pointer chase within the L1", {"36 clk", "as A100"}, clocks);
        found("shared_latency", r_.shared_latency_clk, "pointer chase in shared memory", {"29 clk", "as A100"}, clocks);
        found("barrier_latency", r_.barrier_latency_clk, "__syncthreads of 256 threads", {"40 clk", "as A100"}, clocks);
    }

    void in_flight() {
        const double rate = d_.memory_bytes_per_s() > 0 ? d_.memory_bytes_per_s() : memory_bandwidth(r_).value_or(1e12);
        const double seconds = d_.clock_hz > 0 ? r_.memory_latency_clk.value_or(600) / d_.clock_hz : 400e-9;
        const double lines = rate * seconds / std::max(d_.sms, 1) / 128;
        const auto four = std::clamp<std::int64_t>(static_cast<std::int64_t>(std::ceil(4 * lines / 32)) * 32, 64, 4096);
        const std::string why =
            fmt::format("Little's law asks for {:.0f} lines when idle; four times that, since latency grows under load", lines);
        estimate("lines_in_flight", {std::to_string(four), why});
        estimate("async_lines_in_flight", {std::to_string(four), why});
    }

    void tensor() {
        out_ += "\ntensor:\n";
        const char* generation = d_.major >= 10 ? "blackwell" : d_.major == 9 ? "hopper" : d_.major == 8 ? "ampere" : "turing";
        leaf("generation", d_.major == 7 && d_.minor < 5 ? "volta" : generation, "by compute capability", "derived");
        found("latency", r_.tensor_latency_clk, "chain of dependent mma.sync", {"33 clk", "as A100"}, clocks);
        out_ += "  flop_per_clk:   # dense, 1 FMA = 2 FLOP, per SM\n";
        for (const DType dtype : {DType::fp16, DType::bf16, DType::tf32, DType::fp8, DType::int8}) tensor_rate(dtype);
    }

    /// Hopper and datacenter Blackwell reach their peak by wgmma and tcgen05 only, which the probe does not issue.
    void tensor_rate(DType dtype) {
        const std::int64_t known = validate::tensor_flop_per_clk(d_.major, d_.minor, dtype);
        const auto measured = r_.tensor_flop_per_clk.find(dtype);
        const bool issued = d_.major < 9 || d_.major == 12;
        const std::string key(name(dtype));
        if (measured != r_.tensor_flop_per_clk.end() && measured->second > 0 && issued) {
            leaf(key, std::to_string(whole_rate(measured->second, 0.15, 2)),
                 fmt::format("{}: mma.sync by the SM's clock ({:.0f}), rounded to a power of two within 15 %", kProbe,
                             measured->second),
                 "measured", 4);
        } else if (known > 0) {
            const std::string why =
                measured == r_.tensor_flop_per_clk.end()
                    ? "not measured; rate by compute capability"
                    : fmt::format("rate by compute capability; mma.sync, all the probe issues, gives {:.0f}", measured->second);
            leaf(key, std::to_string(known), why, "estimate", 4);
        }
    }

    void l2() {
        out_ += "\ncrossbar:\n";
        estimate("sm_read_bytes_per_clk", {"64", "port of one SM since Volta; not measured"});
        estimate("sm_write_bytes_per_clk", {"64", "as the read port"});
        out_ += "\nl2:\n";
        property("capacity", fmt::format("{} B", d_.l2_bytes));
        const std::int64_t slices = std::clamp<std::int64_t>(d_.l2_bytes / static_cast<std::int64_t>(512 * kKiB), 1, 256);
        estimate("slices", {std::to_string(slices), "512 KiB a slice, as A100"});
        estimate("ways", {d_.l2_bytes > 0 && d_.l2_bytes / slices < 16 * 128 ? "1" : "16", "a modelling choice"});
        const bool two = d_.l2_bytes >= static_cast<std::int64_t>(32 * kMiB) && stacked_ && slices >= 2;
        estimate("partitions", {two ? "2" : "1", "large L2s of parts with stacked memory are two halves"});
        const auto rate = l2_bandwidth(r_);
        found("bytes_per_clk", rate && d_.clock_hz > 0 ? std::optional(std::round(*rate / d_.clock_hz)) : std::nullopt,
              "reads of a footprint within the L2, over the boost clock", {std::to_string(32 * d_.sms), "32 B an SM"},
              [](double v) { return fmt::format("{:.0f}", std::max(1.0, v)); });
        const double near = r_.l2_near_clk.value_or(220), far = std::max(near, r_.l2_far_clk.value_or(near));
        found("latency_near", r_.l2_near_clk, "lower quartile of single hits from one SM", {clocks(near), "as A100"}, clocks);
        found("latency_far", r_.l2_near_clk ? std::optional(far) : std::nullopt, "upper quartile of single hits from one SM",
              {clocks(far), "as near"}, clocks);
    }

    void dram() {
        out_ += "\ndram:\n";
        const int bits = stacked_ ? (d_.major >= 9 ? 32 : 64) : 16;
        const int channels = std::max(1, d_.bus_bits / bits);
        const double granule = stacked_ ? 64 : 32;
        estimate("type",
                 {stacked_ ? (d_.major >= 9 ? "HBM3" : "HBM2e") : "GDDR6", "by bus width and generation; no property tells"});
        property("capacity", fmt::format("{} B", d_.memory_bytes));
        estimate("channels", {std::to_string(channels), fmt::format("bus of {} bits over channels of {}", d_.bus_bits, bits)});
        estimate("channel_bits", {std::to_string(bits), "JEDEC channel width for the type"});
        data_rate(channels * bits);
        estimate("access_granularity", {fmt::format("{:.0f} B", granule), "by memory type"});
        estimate("banks", {"16", "by memory type"});
        estimate("row", {stacked_ ? "1 KiB" : "2 KiB", "by memory type"});
        for (const auto& [key, hbm, gddr] : {std::tuple{"tRCD", "14.2 ns", "15.4 ns"},
                                             {"tRP", "14.2 ns", "15.4 ns"},
                                             {"tRAS", "33.3 ns", "30.2 ns"},
                                             {"tRRD", "4 ns", "4.6 ns"},
                                             {"tFAW", "15 ns", "16.5 ns"},
                                             {"tWTR", "8 ns", "5 ns"},
                                             {"tRTW", "5 ns", "5 ns"},
                                             {"tREFI", "3900 ns", "1900 ns"},
                                             {"tRFC", "350 ns", "120 ns"}}) {
            estimate(key, {stacked_ ? hbm : gddr, "generic preset of the memory type; cannot be measured"});
        }
        estimate("write_batch", {"32", "a modelling choice"});
        const double hit = r_.l2_near_clk ? (*r_.l2_near_clk + r_.l2_far_clk.value_or(*r_.l2_near_clk)) / 2 : 0;
        const bool known = r_.memory_latency_clk && hit > 0 && *r_.memory_latency_clk > hit && d_.clock_hz > 0;
        found("latency", known ? std::optional((*r_.memory_latency_clk - hit) / d_.clock_hz) : std::nullopt,
              "pointer chase beyond the L2, less the mean L2 hit", {"250 ns", "as A100"}, nanoseconds);
    }

    void data_rate(int bus_bits) {
        if (d_.memory_clock_hz > 0) return property("data_rate", fmt::format("{:.4g} Gbit/s", 2 * d_.memory_clock_hz / 1e9));
        const double bandwidth = memory_bandwidth(r_).value_or(1e12) / 0.9;
        estimate("data_rate", {fmt::format("{:.4g} Gbit/s", bandwidth * 8 / bus_bits / 1e9),
                               "no memory clock known; the measured read bandwidth over 0.9 and the bus"});
    }

    void launch() {
        out_ += "\nlaunch:\n";
        found("stream_gap", r_.stream_gap_s, "small dependent kernels in a stream, an upper bound: it holds the kernel",
              {"2600 ns", "as A100"}, nanoseconds);
        found("graph_gap", r_.graph_gap_s, "the same in a CUDA graph", {"1340 ns", "as A100"}, nanoseconds);
        found("grid_sync", r_.grid_sync_s, "grid barrier of cooperative groups, a CTA an SM", {"1150 ns", "as A100"},
              nanoseconds);
        estimate("cta_dispatch", {"32 clk", "not measured; one CTA launch per SM and 32 clk"});
        out_ += "\npower:\n";
        if (r_.power_limit_w) {
            leaf("tdp", fmt::format("{:.0f} W", *r_.power_limit_w), "NVML, enforced power limit", "measured");
        } else {
            estimate("tdp", {"300 W", "NVML not found; a guess"});
        }
    }

    const ProbeResults& r_;
    const Device& d_;
    bool stacked_;
    std::string out_;
};

}  // namespace

std::string gpu_yaml(const ProbeResults& r) { return Writer(r).text(); }

}  // namespace rafter::validate
