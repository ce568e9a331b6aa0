#include <fmt/format.h>

#include "sim/validate/reports.h"

namespace rafter::validate {

namespace {

/// RFC 4180.
std::string quoted(const std::string& field) {
    if (field.find_first_of(",\"\r\n") == std::string::npos) return field;
    std::string text = "\"";
    for (const char c : field) text += c == '"' ? std::string("\"\"") : std::string(1, c);
    return text + "\"";
}

}  // namespace

std::string csv(const Validation& v) {
    std::string out =
        "id,source,gpu,op,dtype,shape,protocol,real_us,sim_us,error,bound,roofline_us,causes,kernels,status,reason\n";
    for (std::size_t i = 0; i < v.rows.size(); ++i) {
        const Row& row = v.rows[i];
        const Outcome& o = v.outcomes[i];
        for (const std::string* field : {&row.id, &row.source, &row.gpu, &row.op, &row.dtype, &row.shape, &row.protocol})
            out += quoted(*field) + ",";
        if (row.time_us > 0) out += fmt::format("{}", row.time_us);
        if (o.status == Status::unsimulatable) {
            out += ",,,,,,";
        } else {
            out += fmt::format(",{},{},{},{},{},{}", o.sim_us, error_of(row, o), o.bound, o.roofline_us,
                               quoted(causes_text(o, 15)), quoted(o.kernels));
        }
        out += fmt::format(",{},{}\n", name(o.status), quoted(o.reason));
    }
    return out;
}

}  // namespace rafter::validate
