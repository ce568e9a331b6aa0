// One section of a GPU file: reads its keys and notes every leaf of the effective config.
#pragma once

#include <string>
#include <vector>

#include <fmt/format.h>

#include "sim/config/reader.h"

namespace rafter::config {

/// Reads a section of the file and notes every leaf of the effective config.
class Section {
public:
    Section(const Value& value, std::vector<Leaf>& leaves) : map_(value), leaves_(leaves) {}
    ~Section() { map_.finish(); }
    Section(const Section&) = delete;
    Section& operator=(const Section&) = delete;

    std::int64_t count(const char* key, std::int64_t min = 1, std::int64_t max = 1'000'000'000) {
        const Value v = map_.required(key);
        const std::int64_t n = v.integer(min, max);
        return note(v, fmt::format("{}", n)), n;
    }
    std::int64_t clk(const char* key, std::int64_t min = 0) { return whole(key, Unit::clk, static_cast<double>(min), 1e6); }
    Bytes bytes(const char* key, double min = 1) { return Bytes(whole(key, Unit::bytes, min, 1e18)); }
    Hertz hertz(const char* key, double min = 1e8) { return Hertz(whole(key, Unit::hertz, min, 1e10)); }
    std::int64_t bits_per_s(const char* key) { return whole(key, Unit::bits_per_s, 1e6, 1e12); }
    std::int64_t bytes_per_s(const char* key) { return whole(key, Unit::bytes_per_s, 1e6, 1e15); }
    std::int64_t watts(const char* key, double min = 1) { return whole(key, Unit::watts, min, 1e5); }
    Femtoseconds time(const char* key) {
        const Value v = map_.required(key);
        const std::int64_t fs = v.whole(Unit::seconds, 0, 1, 1e15);
        return note(v, fmt::format("{} fs", fs)), Femtoseconds(fs);
    }
    /// Where the file is silent the default stands in the effective config, as an estimate with its reason.
    Femtoseconds time_or(const char* key, Femtoseconds fallback, const char* why) {
        if (map_.optional(key).defined()) return time(key);
        assume(key, fmt::format("{} fs", fallback.value), why);
        return fallback;
    }
    /// A value the file does not give, as an estimate with its reason.
    void assume(const char* key, const std::string& canonical, const char* why) {
        leaves_.push_back({fmt::format("{}.{}", map_.value().path(), key), canonical, Standing::estimate, why, true});
    }
    std::int64_t count_or(const char* key, std::int64_t fallback, const char* why) {
        if (map_.optional(key).defined()) return count(key, 0);
        assume(key, fmt::format("{}", fallback), why);
        return fallback;
    }
    double real(const char* key, double min, double max) {
        const Value v = map_.required(key);
        const double x = v.real(min, max);
        return note(v, fmt::format("{}", x)), x;
    }
    double joules(const char* key) { return 1e-15 * static_cast<double>(whole(key, Unit::femtojoules, 0, 1e12)); }
    std::string text(const char* key) {
        const Value v = map_.required(key);
        return note(v, v.text()), v.text();
    }
    Map& map() { return map_; }
    void note(const Value& v, const std::string& canonical) {
        if (v.defined()) leaves_.push_back({v.path(), canonical, v.standing(), v.source(), v.standing_given()});
    }

private:
    std::int64_t whole(const char* key, Unit unit, double min, double max) {
        const Value v = map_.required(key);
        const std::int64_t n = v.whole(unit, min, max);
        return note(v, fmt::format("{} {}", n, base_unit(unit))), n;
    }
    Map map_;
    std::vector<Leaf>& leaves_;
};

}  // namespace rafter::config
