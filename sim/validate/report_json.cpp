#include <nlohmann/json.hpp>

#include "sim/validate/reports.h"

namespace rafter::validate {

namespace {

using Json = nlohmann::ordered_json;

void add_score(Json& json, const Score& s) {
    json["rows"] = s.rows;
    json["mape"] = s.mape;
    json["bias"] = s.bias;
    json["median"] = s.median;
    json["p90"] = s.p90;
    json["within10"] = s.within10;
    json["roofline_mape"] = s.roofline_mape;
}

Json groups(const std::vector<Group>& all, const std::vector<Row>& rows) {
    Json list = Json::array();
    for (const Group& group : all) {
        Json json;
        if (!group.gpu.empty()) json["gpu"] = group.gpu;
        if (!group.op.empty()) json["op"] = group.op;
        if (!group.dtype.empty()) json["dtype"] = group.dtype;
        add_score(json, group.score);
        json["worst"] = Json::array();
        for (const std::size_t i : group.worst) json["worst"].push_back(rows[i].id);
        list.push_back(std::move(json));
    }
    return list;
}

Json identity(const Row& row) {
    return {{"id", row.id},       {"source", row.source}, {"gpu", row.gpu},           {"op", row.op},
            {"dtype", row.dtype}, {"shape", row.shape},   {"protocol", row.protocol}, {"real_us", row.time_us}};
}

Json scored(const Row& row, const Outcome& o) {
    Json json = identity(row);
    json["sim_us"] = o.sim_us;
    json["error"] = error_of(row, o);
    json["bound"] = o.bound;
    json["roofline_us"] = o.roofline_us;
    json["flops"] = o.flops;
    json["bytes"] = o.bytes;
    json["kernels"] = o.kernels;
    json["causes"] = Json::object();
    for (const auto& [cause, share] : o.causes) json["causes"][cause] = share;
    return json;
}

Json refused(const Row& row, const Outcome& o) {
    Json json = identity(row);
    json["file"] = row.file;
    json["line"] = row.line;
    json["status"] = name(o.status);
    json["reason"] = o.reason;
    return json;
}

}  // namespace

std::string json(const Validation& v) {
    Json json;
    json["schema"] = "rafter.validation/1";
    json["overall"] = Json::object();
    add_score(json["overall"], v.board.overall);
    json["overall"]["rows_read"] = v.rows.size();
    json["overall"]["simulations"] = v.effort.distinct;
    json["groups"] = groups(v.board.groups, v.rows);
    json["by_gpu"] = groups(v.board.by_gpu, v.rows);
    json["by_op"] = groups(v.board.by_op, v.rows);
    json["reasons"] = Json::object();
    for (const auto& [reason, rows] : v.board.unsimulatable) json["reasons"][reason] = rows.size();
    json["rows"] = Json::array();
    json["unscored"] = Json::array();
    for (std::size_t i = 0; i < v.rows.size(); ++i) {
        const bool is_scored = v.outcomes[i].status == Status::scored;
        json[is_scored ? "rows" : "unscored"].push_back((is_scored ? scored : refused)(v.rows[i], v.outcomes[i]));
    }
    return json.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace rafter::validate
