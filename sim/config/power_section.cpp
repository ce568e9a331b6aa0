#include "sim/config/power_section.h"

#include <fmt/format.h>

#include "sim/config/section.h"

namespace rafter::config {

namespace {

constexpr double kLeastStep = 1e6;  // Hz

void read_tensor_energies(const Value& value, HwConfig& gpu) {
    if (!value.defined()) return;
    Section s(value, gpu.effective);
    const double fp16 = s.joules("fp16");
    for (const auto& [dtype, rate] : gpu.tensor.flop_per_clk) {
        const std::string key(name(dtype));
        double& energy = gpu.power->tensor_flop_j[dtype];
        if (dtype == DType::fp16) {
            energy = fp16;
        } else if (s.map().optional(key).defined()) {
            energy = s.joules(key.c_str());
        } else {  // a what-if that adds a dtype to its base
            energy = fp16 * static_cast<double>(bits(dtype)) / static_cast<double>(bits(DType::fp16));
            s.assume(key.c_str(), fmt::format("{:.0f} fJ", energy * 1e15), "not given; that of fp16 by the bits");
        }
    }
}

void read_energies(const Value& value, HwConfig& gpu) {
    Section s(value, gpu.effective);
    Power& p = *gpu.power;
    const bool tensor = !gpu.tensor.flop_per_clk.empty();
    const Value flops = tensor ? s.map().required("tensor_flop") : s.map().optional("tensor_flop");
    if (tensor) read_tensor_energies(flops, gpu);
    p.fp64_flop_j = s.joules("fp64_flop");
    p.fp32_flop_j = s.joules("fp32_flop");
    p.fp16_flop_j = s.joules("fp16_flop");
    p.lane_operation_j = s.joules("lane_operation");
    p.l1_byte_j = s.joules("l1_byte");
    p.l2_byte_j = s.joules("l2_byte");
    p.dram_byte_j = s.joules("dram_byte");
    p.link_byte_j = s.joules("link_byte");
}

/// Where the file is silent the board is limited to its TDP, as it is delivered.
std::int64_t limit(Section& s, std::int64_t tdp) {
    if (s.map().optional("limit").defined()) return s.watts("limit");
    s.assume("limit", fmt::format("{} W", tdp), "not given; the TDP");
    return tdp;
}

}  // namespace

void read_power(const Value& value, HwConfig& gpu) {
    Section s(value, gpu.effective);
    gpu.tdp_w = s.watts("tdp");
    if (!value.is_map() || value.entries().size() == 1) return;
    Power& p = gpu.power.emplace();
    p.limit_w = limit(s, gpu.tdp_w);
    p.static_w = s.watts("static", 0);
    p.clock_w = s.watts("clock_tree", 0);
    p.reference = s.hertz("reference_clock");
    p.voltage_per_ghz = s.real("voltage_slope_per_ghz", 0, 10);
    p.voltage_min = s.real("voltage_min", 0.1, 1);
    p.clock_step = s.hertz("clock_step", kLeastStep);
    p.clock_min = s.hertz("clock_min");
    p.window = s.time("window");
    p.zeros_activity = s.real("zeros_activity", 0, 1);
    read_energies(s.map().required("energy"), gpu);
}

}  // namespace rafter::config
