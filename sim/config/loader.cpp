#include "sim/config/loader.h"

#include <cmath>
#include <filesystem>
#include <map>

#include <fmt/format.h>

#include "sim/config/peaks.h"
#include "sim/config/power_section.h"
#include "sim/config/reader.h"
#include "sim/config/relations.h"
#include "sim/config/section.h"

namespace rafter::config {

namespace {

void read_sm(const Value& value, HwConfig& gpu) {
    Section s(value, gpu.effective);
    Sm& sm = gpu.sm;
    sm.count = s.count("count", 1, 100'000);
    sm.max_ctas = s.count("max_ctas", 1, 1024);
    sm.max_threads = s.count("max_threads", 32, 65536);
    sm.registers = s.count("registers", 1024);
    sm.max_registers_per_thread = s.count("max_registers_per_thread", 1, 1024);
    sm.l1_and_shared = s.bytes("l1_and_shared", 1024);
    sm.shared_memory = s.bytes("shared_memory", 1024);
    sm.shared_memory_per_cta = s.bytes("shared_memory_per_cta", 1024);
    sm.shared_memory_reserved_per_cta = s.bytes("shared_memory_reserved_per_cta", 0);
    sm.shared_bytes_per_clk = s.count("shared_bytes_per_clk");
    sm.l1_bytes_per_clk = s.count("l1_bytes_per_clk");
    sm.l1_ways = s.count("l1_ways", 1, 4096);
    sm.fp32_fma_per_clk = s.count("fp32_fma_per_clk");
    sm.fp64_fma_per_clk = s.count("fp64_fma_per_clk", 0);
    sm.fp16_fma_per_clk = s.count("fp16_fma_per_clk", 0);
    sm.int32_ops_per_clk = s.count("int32_ops_per_clk");
    sm.sfu_ops_per_clk = s.count("sfu_ops_per_clk");
    sm.issue_slots_per_clk = s.count("issue_slots_per_clk");
    sm.fma_latency_clk = s.clk("fma_latency");
    sm.l1_latency_clk = s.clk("l1_latency");
    sm.shared_latency_clk = s.clk("shared_latency");
    sm.barrier_latency_clk = s.clk("barrier_latency");
    sm.lines_in_flight = s.count("lines_in_flight", 1, 65536);
    sm.async_lines_in_flight = s.count("async_lines_in_flight", 1, 65536);
}

void read_tensor_rates(Section& s, HwConfig& gpu) {
    const Value rates = s.map().required("flop_per_clk");
    std::map<DType, Value> read;  // in the order of dtypes, whatever that of the file: the hash must not depend on it
    for (const auto& [key, rate] : rates.entries()) {
        const Place& place = rates.tree()->find(key)->place;
        const auto dtype = parse_dtype(key);
        if (!dtype || name(*dtype) != key) {
            const std::string meant = dtype ? std::string(name(*dtype)) : nearest_name(key, dtype_names());
            rates.report(place, fmt::format("unknown dtype '{}' in {}{}", key, rates.path(),
                                            meant.empty() ? "" : fmt::format(" (did you mean '{}'?)", meant)));
            continue;
        }
        gpu.tensor.flop_per_clk[*dtype] = rate.integer(2, 1 << 24);
        read.emplace(*dtype, rate);
    }
    for (const auto& [dtype, rate] : read) s.note(rate, fmt::format("{}", gpu.tensor.flop_per_clk[dtype]));
}

void read_tensor(const Value& value, HwConfig& gpu) {
    Section s(value, gpu.effective);
    const std::vector<std::string> generations{"none", "volta", "turing", "ampere", "cdna", "hopper", "blackwell"};
    const Value generation = s.map().required("generation");
    const std::string named = generation.defined() ? generation.text_of(generations) : "none";
    for (std::size_t i = 0; i < generations.size(); ++i) {
        if (generations[i] == named) gpu.tensor.generation = static_cast<TensorGeneration>(i);
    }
    s.note(generation, named);
    gpu.tensor.latency_clk = s.clk("latency");
    read_tensor_rates(s, gpu);
}

void read_l2(const Value& value, HwConfig& gpu) {
    Section s(value, gpu.effective);
    gpu.l2.capacity = s.bytes("capacity", 0);
    gpu.l2.slices = s.count("slices", 1, 4096);
    gpu.l2.ways = s.count("ways", 1, 1024);
    gpu.l2.partitions = s.count("partitions", 1, 64);
    gpu.l2.bytes_per_clk = s.count("bytes_per_clk");
    gpu.l2.latency_near_clk = s.clk("latency_near");
    gpu.l2.latency_far_clk = s.clk("latency_far");
    gpu.l2.atomic_interval =
        s.time_or("atomic_interval", Femtoseconds(6'500'000), "not given; rows of dynamic quantisation on H100, B200 and L40S");
    gpu.l2.link_bytes_per_clk = s.count_or("link_bytes_per_clk", 0, "not given; lines are not copied between partitions");
}

void read_dram(const Value& value, HwConfig& gpu) {
    Section s(value, gpu.effective);
    Dram& d = gpu.dram;
    d.type = s.text("type");
    d.capacity = s.bytes("capacity");
    d.channels = s.count("channels", 1, 4096);
    d.channel_bits = s.count("channel_bits", 1, 4096);
    d.data_rate_bps = s.bits_per_s("data_rate");
    d.access_granularity = s.bytes("access_granularity", 8);
    d.banks = s.count("banks", 1, 4096);
    d.row = s.bytes("row", 64);
    d.t_rcd = s.time("tRCD");
    d.t_rp = s.time("tRP");
    d.t_ras = s.time("tRAS");
    d.t_rrd = s.time("tRRD");
    d.t_faw = s.time("tFAW");
    d.t_wtr = s.time("tWTR");
    d.t_rtw = s.time("tRTW");
    d.t_refi = s.time("tREFI");
    d.t_rfc = s.time("tRFC");
    d.inline_ecc = s.count_or("inline_ecc", 0, "not given; none, or beside the data");
    d.write_batch = s.count("write_batch", 1, 65536);
    d.latency = s.time("latency");
}

void read_clock_and_rest(Map& top, HwConfig& gpu) {
    {
        Section s(top.required("clock"), gpu.effective);
        gpu.boost = s.hertz("boost");
        gpu.tensor_peak = s.hertz("tensor_peak");
        if (s.map().optional("locked").defined()) gpu.locked = s.hertz("locked");
    }
    {
        Section s(top.required("crossbar"), gpu.effective);
        gpu.crossbar.sm_read_bytes_per_clk = s.count("sm_read_bytes_per_clk");
        gpu.crossbar.sm_write_bytes_per_clk = s.count("sm_write_bytes_per_clk");
    }
    {
        Section s(top.required("launch"), gpu.effective);
        gpu.launch.stream_gap = s.time("stream_gap");
        gpu.launch.graph_gap = s.time("graph_gap");
        gpu.launch.null_kernel = s.time_or("null_kernel", gpu.launch.graph_gap, "not given; as graph_gap");
        gpu.launch.event_overhead = s.time_or("event_overhead", 2 * gpu.launch.stream_gap, "not given; twice stream_gap");
        gpu.launch.host_call =
            s.time_or("host_call", Femtoseconds(4'000'000'000), "not given; intercepts of eager calls over their sizes");
        gpu.launch.grid_sync = s.time("grid_sync");
        gpu.launch.cta_dispatch_clk = s.clk("cta_dispatch");
    }
}

/// A link is named whole or not at all.
std::optional<Link> read_link(Section& s, const std::string& end) {
    const std::string bandwidth = end + "_bandwidth", latency = end + "_latency";
    if (!s.map().has(bandwidth) && !s.map().has(latency)) return std::nullopt;
    return Link{s.bytes_per_s(bandwidth.c_str()), s.time(latency.c_str())};
}

void read_links(const Value& value, HwConfig& gpu) {
    Section s(value, gpu.effective);
    gpu.host_link = read_link(s, "host");
    gpu.peer_link = read_link(s, "peer");
}

/// The file a `base:` names: beside the file that names it, else as any GPU.
std::string find_base(const std::string& file, const Value& base) {
    namespace fs = std::filesystem;
    const std::string name = base.text();
    if (!base.is_scalar()) throw Error(base.place(), "base: expected the name of a GPU or a path ending in .yaml");
    const fs::path given(name);
    const fs::path beside = fs::path(file).parent_path() / (given.extension() == ".yaml" ? name : name + ".yaml");
    std::error_code ignored;
    if (fs::is_regular_file(beside, ignored)) return beside.string();
    try {
        return find_data_file("hw_configs", name);
    } catch (const Error& e) {
        const std::string text = e.what();
        throw Error(base.place(), "base: " + text.substr(text.rfind("error: ", 0) == 0 ? 7 : 0));
    }
}

/// The document of `path` laid over its `base:`. A base states its peaks for itself, so they are not inherited.
Document load_with_base(const std::string& path, std::vector<std::string> seen) {
    Document document = Document::load(path);
    const auto* entry = document.tree()->find("base");
    if (entry == nullptr) return document;
    const Value base(entry->value, "base", entry->value->place, &document.diagnostics());
    const std::string parent = find_base(path, base);
    seen.push_back(std::filesystem::weakly_canonical(path).string());
    for (const auto& earlier : seen) {
        if (earlier == std::filesystem::weakly_canonical(parent).string())
            throw Error(base.place(), fmt::format("base: '{}' leads back to this file", base.text()));
    }
    Document below = load_with_base(parent, seen);
    below.drop("peaks");
    return document.over(below);
}

HwConfig read_gpu(const Document& document) {
    HwConfig gpu;
    Map top(document.root());
    const Value schema = top.required("schema");
    if (schema.defined()) schema.text_of({"rafter.gpu/1"});
    top.optional("base");
    gpu.title = top.required("title").text();
    gpu.compute_capability = top.required("compute_capability").text();
    read_clock_and_rest(top, gpu);
    read_sm(top.required("sm"), gpu);
    read_tensor(top.required("tensor"), gpu);
    read_power(top.required("power"), gpu);
    read_l2(top.required("l2"), gpu);
    read_dram(top.required("dram"), gpu);
    if (const Value links = top.optional("links"); links.defined()) read_links(links, gpu);
    const Value peaks = top.optional("peaks");
    top.finish();
    if (document.diagnostics().empty()) {
        check_relations(document.root(), gpu);
        check_peaks(peaks, gpu);
    }
    return gpu;
}

/// The peaks of the file are stated for the GPU of the file, not for one changed by --set.
void apply(Document& document, const Settings& settings) {
    if (settings.empty()) return;
    document.drop("peaks");
    for (const auto& [key, value] : settings) document.set(key, value);
}

}  // namespace

const std::vector<std::string>& gpu_sections() {
    static const std::vector<std::string> sections{"clock", "sm",     "tensor", "crossbar", "l2",
                                                   "dram",  "launch", "links",  "power",    "peaks"};
    return sections;
}

HwConfig load_gpu(const std::string& name_or_path, const Settings& settings) {
    const std::string path = find_data_file("hw_configs", name_or_path);
    Document document = load_with_base(path, {});
    apply(document, settings);
    HwConfig gpu = read_gpu(document);
    document.finish();
    gpu.name = std::filesystem::path(path).stem().string();
    gpu.hash = content_hash(gpu);
    return gpu;
}

}  // namespace rafter::config
