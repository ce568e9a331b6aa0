#include "validate/host/machine_log.h"

#include <cstdio>
#include <fstream>
#include <utility>

#include "sim/core/error.h"
#include "sim/report/report.h"

namespace rafter::validate {

namespace {

using Json = nlohmann::json;

Json known(double value) { return value < 0 ? Json(nullptr) : Json(value); }

Json device_json(const Device& d) {
    return {{"name", d.name},
            {"compute_capability", std::to_string(d.major) + "." + std::to_string(d.minor)},
            {"sms", d.sms},
            {"clock_hz", d.clock_hz},
            {"memory_clock_hz", d.memory_clock_hz},
            {"bus_bits", d.bus_bits},
            {"l2_bytes", d.l2_bytes},
            {"memory_bytes", d.memory_bytes},
            {"max_threads_per_sm", d.max_threads_per_sm},
            {"max_ctas_per_sm", d.max_ctas_per_sm},
            {"registers_per_sm", d.registers_per_sm},
            {"shared_bytes_per_sm", d.shared_per_sm},
            {"shared_bytes_per_cta", d.shared_per_cta},
            {"shared_bytes_reserved", d.shared_reserved}};
}

Json sample_json(const Sample& s) {
    return {{"time_us", s.time_us},
            {"sm_clock_mhz", known(s.reading.sm_clock_mhz)},
            {"memory_clock_mhz", known(s.reading.memory_clock_mhz)},
            {"power_w", known(s.reading.power_w)},
            {"temperature_c", known(s.reading.temperature_c)},
            {"throttle", throttle_text(s.reading.throttle)}};
}

/// The cases of an earlier run; none when there is no file.
Json earlier_cases(const std::string& path) {
    std::ifstream file(path);
    if (!file) return Json::object();
    const Json json = Json::parse(file, nullptr, false);
    if (json.is_discarded() || !json.contains("cases")) throw Error(path + ": not a machine file of rafter-measure");
    return json["cases"];
}

}  // namespace

std::string throttle_text(std::int64_t bits) {
    static const std::vector<std::string> kNames{"gpu_idle",
                                                 "applications_clocks_setting",
                                                 "sw_power_cap",
                                                 "hw_slowdown",
                                                 "sync_boost",
                                                 "sw_thermal_slowdown",
                                                 "hw_thermal_slowdown",
                                                 "hw_power_brake_slowdown",
                                                 "display_clock_setting"};
    if (bits < 0) return "unknown";
    std::string text;
    for (std::size_t i = 0; i < kNames.size(); ++i) {
        if ((bits >> i & 1) != 0) text += (text.empty() ? "" : "+") + kNames[i];
    }
    return text.empty() ? "none" : text;
}

MachineLog::MachineLog(std::string path, const Machine& machine, std::uint64_t seed) : path_(std::move(path)) {
    json_ = {{"schema", "rafter.machine/1"},  {"device", device_json(machine.device)},
             {"cuda_driver", machine.driver}, {"cuda_runtime", machine.runtime},
             {"driver", machine.driver_name}, {"power_limit_w", known(machine.power_limit_w)},
             {"sensors", machine.sensors},    {"seed", seed},
             {"cases", earlier_cases(path_)}};
}

void MachineLog::add(const std::string& key, const std::vector<Sample>& samples) {
    Json list = Json::array();
    for (const Sample& sample : samples) list.push_back(sample_json(sample));
    json_["cases"][key] = std::move(list);
}

void MachineLog::save() const { report::write_file(path_, json_.dump(1) + "\n", true); }

}  // namespace rafter::validate
