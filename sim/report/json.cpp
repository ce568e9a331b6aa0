#include <nlohmann/json.hpp>

#include "sim/report/report.h"
#include "sim/stats/roofline.h"

namespace rafter::report {

namespace {

using Json = nlohmann::ordered_json;

/// Exact while it fits 64 bits, a double beyond (2^64 is 1.8e19).
Json number(Count n) {
    if (n <= static_cast<Count>(~std::uint64_t{0})) return static_cast<std::uint64_t>(n);
    return static_cast<double>(n);
}

const char* standing_name(config::Standing s) {
    constexpr std::array<const char*, 4> names{"datasheet", "measured", "derived", "estimate"};
    return names[static_cast<std::size_t>(s)];
}

void add_traffic(Json& json, const stats::Traffic& t) {
    json["l1_read_bytes"] = t.l1_read.value;
    json["l1_write_bytes"] = t.l1_write.value;
    json["l2_read_bytes"] = t.l2_read.value;
    json["l2_write_bytes"] = t.l2_write.value;
    json["hbm_read_bytes"] = t.hbm_read.value;
    json["hbm_write_bytes"] = t.hbm_write.value;
    json["link_read_bytes"] = t.link_read.value;
    json["link_write_bytes"] = t.link_write.value;
}

/// Joules in all and by where they went, watts over `time`; null where the GPU file gives no energies.
void add_energy(Json& json, const stats::Energy& e, Femtoseconds time) {
    const double total = e.total();
    if (total <= 0) {
        json["energy_j"] = json["average_power_w"] = json["energy"] = nullptr;
        return;
    }
    json["energy_j"] = total;
    json["average_power_w"] = total / seconds(time);
    json["energy"] = {{"static_j", e.static_j}, {"clock_j", e.clock_j}, {"tensor_j", e.tensor_j}, {"vector_j", e.vector_j},
                      {"l1_j", e.l1_j},         {"l2_j", e.l2_j},       {"dram_j", e.dram_j},     {"link_j", e.link_j}};
}

/// Shares of SM time, summing to 1.
Json causes(const stats::CauseTimes& times) {
    Json json = Json::object();
    for (std::size_t i = 0; i < stats::kCauses; ++i) {
        const auto cause = static_cast<stats::Cause>(i);
        json[std::string(stats::name(cause))] = stats::share(times, cause);
    }
    return json;
}

Json parallelism(const stats::Parallelism& p) {
    return {{"ctas", p.ctas},
            {"waves", p.waves},
            {"occupancy", p.occupancy},
            {"busy_sms", p.busy_sms},
            {"chain_length", p.chain_length}};
}

Json kernel(const stats::KernelResult& k) {
    Json json;
    json["name"] = k.name;
    json["count"] = k.count;
    json["grid"] = k.grid;
    json["threads"] = k.threads;
    json["registers_per_thread"] = k.registers_per_thread;
    json["shared_memory_bytes"] = k.shared_memory_bytes;
    json["ctas_per_sm"] = k.ctas_per_sm;
    json["time_s"] = seconds(k.time);
    json["launch_s"] = seconds(k.launch);
    json["clock_hz"] = k.clock.value;
    json["tensor"] = k.tensor;
    json["issued_macs"] = number(k.issued_macs);
    json["line_requests"] = k.line_requests;
    add_traffic(json, k.traffic);
    add_energy(json, k.energy, k.time);
    json["causes"] = causes(k.causes);
    json["parallelism"] = parallelism(k.parallelism);
    return json;
}

Json layer(const stats::LayerResult& l) {
    Json json;
    json["name"] = l.name;
    json["phase"] = l.phase;
    json["op"] = l.op;
    json["family"] = l.family;
    json["dtype"] = std::string(name(l.dtype));
    json["count"] = l.count;
    json["time_s"] = seconds(l.time);
    json["clock_hz"] = l.clock.value;
    json["macs"] = number(l.macs);
    json["flops"] = number(l.flops);
    add_traffic(json, l.traffic);
    add_energy(json, l.energy, l.time);
    json["algorithmic_read_bytes"] = l.algorithmic_read.value;
    json["algorithmic_write_bytes"] = l.algorithmic_write.value;
    json["algorithmic_parameter_bytes"] = l.parameters.value;
    json["arithmetic_intensity_flop_per_byte"] = l.arithmetic_intensity;
    json["ridge_point_flop_per_byte"] = l.ridge_point;
    json["roofline_time_s"] = seconds(l.roofline_time);
    json["compulsory_time_s"] = seconds(l.compulsory_time);
    json["bound"] = std::string(stats::name(l.bound));
    json["sentence"] = l.sentence;
    json["causes"] = causes(l.causes);
    json["parallelism"] = parallelism(l.parallelism);
    json["reuse"] = {{"l1", l.reuse_l1}, {"l2", l.reuse_l2}};
    json["kernels"] = Json::array();
    for (const auto& k : l.kernels) json["kernels"].push_back(kernel(k));
    return json;
}

Json gpu(const config::HwConfig& g) {
    Json json{{"name", g.name},
              {"title", g.title},
              {"config_hash", g.hash},
              {"sms", g.sm.count},
              {"hbm_capacity_bytes", g.dram.capacity.value},
              {"hbm_peak_bytes_per_s", g.dram.peak_bytes_per_s()}};
    json["peak_flops_per_s"] = Json::object();
    for (const auto& [dtype, rate] : g.tensor.flop_per_clk)
        json["peak_flops_per_s"][std::string(name(dtype))] = g.peak_flops(dtype);
    Json leaves = Json::array();
    for (const auto& leaf : g.effective) {
        leaves.push_back(
            {{"path", leaf.path}, {"value", leaf.value}, {"standing", standing_name(leaf.standing)}, {"source", leaf.source}});
    }
    json["effective_config"] = leaves;
    return json;
}

Json optional(const std::optional<double>& value) { return value ? Json(*value) : Json(nullptr); }

/// Speeds; null where they make no sense. (R.6)-(R.8)
void add_metrics(Json& json, const stats::PhaseMetrics& m) {
    json["ttft_s"] = optional(m.ttft_s);
    json["tpot_s"] = optional(m.tpot_s);
    json["tokens_per_s"] = optional(m.tokens_per_s);
    json["samples_per_s"] = optional(m.samples_per_s);
    json["mfu"] = m.mfu;
    json["mbu"] = m.mbu;
}

Json blocks(const stats::PhaseResult& phase) {
    Json all = Json::array();
    for (const auto& b : phase.blocks)
        all.push_back({{"name", b.name}, {"repeat", b.repeat}, {"layers", b.layers}, {"time_s", seconds(b.time)}});
    return all;
}

Json phases(const stats::RunResult& result) {
    Json all = Json::array();
    for (const auto& p : result.phases) {
        Json json{{"name", p.name}, {"steps", p.steps}, {"time_s", seconds(p.time)}};
        json["clock_hz"] = p.clock.value;
        json["clock_by"] = p.clock_by;
        add_energy(json, p.energy, p.time);
        add_metrics(json, p.metrics);
        json["blocks"] = blocks(p);
        json["steps_simulated"] = p.steps_simulated;
        json["step_deviation"] = p.step_deviation;
        json["step_results"] = Json::array();
        for (const auto& s : p.step_results) {
            json["step_results"].push_back({{"step", s.step},
                                            {"context_tokens", s.context},
                                            {"time_s", seconds(s.time)},
                                            {"kv_read_bytes", s.kv_read.value},
                                            {"interpolated", s.interpolated}});
        }
        all.push_back(json);
    }
    return all;
}

Json simulator(const stats::SimulatorInfo& s) {
    return {{"wall_s", s.wall_s},
            {"events", s.events},
            {"line_requests", s.line_requests},
            {"peak_rss_bytes", s.peak_rss_bytes},
            {"kernels_launched", s.kernels_launched},
            {"kernels_simulated", s.kernels_simulated},
            {"kernels_cached", s.kernels_cached},
            {"simulated_cta_share", s.cta_share},
            {"simulated_line_share", s.line_share},
            {"mode", s.mode}};
}

}  // namespace

std::string json(const stats::RunResult& result) {
    Json json;
    json["schema"] = "rafter.result/1";
    json["gpu"] = gpu(result.gpu);
    json["workload"] = {
        {"name", result.workload_name}, {"family", result.workload_family}, {"dims", result.dims}, {"notes", result.notes}};
    json["options"] = {{"launch", result.launch}, {"caches", result.caches}, {"data", result.data}, {"passes", result.passes}};
    Json totals{
        {"time_s", seconds(result.total_time())}, {"macs", number(result.total_macs())}, {"flops", number(result.total_flops())}};
    add_traffic(totals, result.total_traffic());
    add_energy(totals, result.total_energy(), result.total_time());
    totals["peak_power_w"] = result.gpu.power ? Json(result.peak_w()) : Json(nullptr);
    totals["power_limit_w"] = result.gpu.power ? Json(result.gpu.power->limit_w) : Json(nullptr);
    json["totals"] = totals;
    json["phases"] = phases(result);
    json["layers"] = Json::array();
    for (const auto& l : result.layers) json["layers"].push_back(layer(l));
    json["memory"] = Json::array();
    for (const auto& m : result.memory) json["memory"].push_back({{"name", m.name}, {"size_bytes", m.size.value}});
    json["simulator"] = simulator(result.simulator);
    // A file name that is not UTF-8 must not cost the result.
    return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace rafter::report
