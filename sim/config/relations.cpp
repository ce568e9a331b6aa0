#include "sim/config/relations.h"

#include <string_view>

#include <fmt/format.h>

namespace rafter::config {

namespace {

constexpr std::int64_t kLineBytes = 128;

class Relations {
public:
    Relations(const Value& root, const HwConfig& gpu) : root_(root), gpu_(gpu) {}

    void sm() const {
        const Sm& s = gpu_.sm;
        must(s.shared_memory <= s.l1_and_shared, "sm.shared_memory", "sm.l1_and_shared", "is a part of it and cannot be larger");
        must(s.shared_memory_per_cta + s.shared_memory_reserved_per_cta <= s.shared_memory, "sm.shared_memory_per_cta",
             "sm.shared_memory", "together with sm.shared_memory_reserved_per_cta must fit");
        must(s.max_threads % 32 == 0, "sm.max_threads", "", "must be a multiple of the 32 threads of a warp");
    }

    void tensor() const {
        const Tensor& t = gpu_.tensor;
        must(t.generation != TensorGeneration::none || t.flop_per_clk.empty(), "tensor.generation", "",
             "has no tensor cores, but tensor.flop_per_clk gives rates for them");
        must(t.generation == TensorGeneration::none || !t.flop_per_clk.empty(), "tensor.generation", "",
             "has tensor cores, but tensor.flop_per_clk gives no rate");
        must(gpu_.tensor_peak <= gpu_.boost, "clock.tensor_peak", "clock.boost", "cannot be higher");
    }

    void clock() const {
        if (gpu_.locked) must(*gpu_.locked <= gpu_.boost, "clock.locked", "clock.boost", "cannot be higher");
        if (!gpu_.power) return;
        const Power& p = *gpu_.power;
        must(p.static_w < p.limit_w, "power.static", "power.limit", "must be lower: nothing is left to work with");
        must(p.clock_min <= gpu_.boost, "power.clock_min", "clock.boost", "cannot be higher");
        must(p.clock_step <= p.clock_min, "power.clock_step", "power.clock_min", "cannot be larger");
    }

    void l2() const {
        const L2& l = gpu_.l2;
        must(l.partitions <= l.slices, "l2.partitions", "l2.slices", "cannot be more");
        must(!l.copies() || l.slices % l.partitions == 0, "l2.slices", "l2.partitions",
             "must be a multiple: each partition has as many");
        must(l.latency_near_clk <= l.latency_far_clk, "l2.latency_near", "l2.latency_far", "cannot be longer");
        const std::int64_t least = l.slices * l.ways * kLineBytes;
        if (l.capacity.value != 0 && l.capacity.value < least) {
            report("l2.capacity",
                   fmt::format("is less than one set in each slice: {} slices x {} ways x {} B = {} B (0 B is no L2)", l.slices,
                               l.ways, kLineBytes, least));
        }
    }

    void dram() const {
        const Dram& d = gpu_.dram;
        must(d.t_rcd <= d.t_ras, "dram.tRCD", "dram.tRAS", "cannot be longer: a row is open until its first access is done");
        must(d.t_rrd <= d.t_faw, "dram.tRRD", "dram.tFAW", "cannot be longer: tFAW spans four activations");
        must(d.t_rfc < d.t_refi, "dram.tRFC", "dram.tREFI", "must be shorter, else the DRAM only refreshes");
        must(d.access_granularity <= d.row, "dram.access_granularity", "dram.row", "cannot be larger");
        must(d.row.value % d.access_granularity.value == 0, "dram.row", "dram.access_granularity", "must be a multiple");
        must(d.access_granularity.value * 8 % d.channel_bits == 0, "dram.access_granularity", "dram.channel_bits",
             "must be a whole number of transfers of the channel");
    }

private:
    std::string value_of(std::string_view path) const {
        for (const Leaf& leaf : gpu_.effective) {
            if (leaf.path == path) return leaf.value;
        }
        return "";
    }

    /// "l2.latency_near (300 clk) against l2.latency_far (200 clk): cannot be longer"
    void must(bool holds, const std::string& path, const std::string& other, const std::string& why) const {
        if (holds) return;
        report(path, other.empty() ? why : fmt::format("against {} ({}): {}", other, value_of(other), why));
    }

    void report(const std::string& path, const std::string& message) const {
        root_.report(value_at(root_.tree(), path)->place, fmt::format("{} ({}) {}", path, value_of(path), message));
    }

    static Tree value_at(Tree tree, const std::string& path) {
        for (std::size_t begin = 0; begin < path.size();) {
            const std::size_t end = std::min(path.find('.', begin), path.size());
            const auto* entry = tree->find(path.substr(begin, end - begin));
            if (entry == nullptr) return tree;
            tree = entry->value;
            begin = end + 1;
        }
        return tree->is_leaf() ? tree->find("value")->value : tree;
    }

    const Value& root_;
    const HwConfig& gpu_;
};

}  // namespace

void check_relations(const Value& root, const HwConfig& gpu) {
    const Relations relations(root, gpu);
    relations.sm();
    relations.tensor();
    relations.clock();
    relations.l2();
    relations.dram();
}

}  // namespace rafter::config
