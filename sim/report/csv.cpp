#include <fmt/format.h>

#include "sim/report/report.h"
#include "sim/stats/roofline.h"

namespace rafter::report {

namespace {

/// RFC 4180: quoted when it holds a comma, a quote or a line break.
std::string field(const std::string& text) {
    if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
    std::string quoted = "\"";
    for (const char c : text) quoted += c == '"' ? std::string("\"\"") : std::string(1, c);
    return quoted + "\"";
}

std::string count(Count n) {
    if (n <= static_cast<Count>(~std::uint64_t{0})) return fmt::format("{}", static_cast<std::uint64_t>(n));
    return fmt::format("{}", static_cast<double>(n));
}

}  // namespace

std::string csv(const stats::RunResult& result) {
    std::string out =
        "phase,name,op,family,dtype,count,time_s,macs,flops,l1_read_bytes,l1_write_bytes,l2_read_bytes,l2_write_bytes,hbm_read_"
        "bytes,"
        "hbm_write_bytes,algorithmic_read_bytes,algorithmic_write_bytes,arithmetic_intensity_flop_per_byte,ridge_point_flop_per_"
        "byte,"
        "roofline_time_s,bound,ctas,waves,occupancy,busy_sms,chain_length,reuse_l1,reuse_l2";
    for (std::size_t i = 0; i < stats::kCauses; ++i)
        out += fmt::format(",cause_{}_fraction", stats::name(static_cast<stats::Cause>(i)));
    out += ",sentence\n";
    for (const auto& l : result.layers) {
        const auto& t = l.traffic;
        const auto& p = l.parallelism;
        out += fmt::format("{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{}", field(l.phase),
                           field(l.name), l.op, l.family, name(l.dtype), l.count, seconds(l.time), count(l.macs), count(l.flops),
                           t.l1_read.value, t.l1_write.value, t.l2_read.value, t.l2_write.value, t.hbm_read.value,
                           t.hbm_write.value, l.algorithmic_read.value, l.algorithmic_write.value, l.arithmetic_intensity,
                           l.ridge_point, seconds(l.roofline_time), stats::name(l.bound), p.ctas, p.waves, p.occupancy,
                           p.busy_sms, p.chain_length, l.reuse_l1, l.reuse_l2);
        for (std::size_t i = 0; i < stats::kCauses; ++i)
            out += fmt::format(",{}", stats::share(l.causes, static_cast<stats::Cause>(i)));
        out += "," + field(l.sentence) + "\n";
    }
    return out;
}

}  // namespace rafter::report
