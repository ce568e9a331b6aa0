#include <nlohmann/json.hpp>

#include "sim/report/report.h"
#include "tests/catch.h"
#include "tests/golden.h"
#include "tests/stats/results.h"

using namespace rafter;
using namespace rafter::test;
using Json = nlohmann::ordered_json;

TEST_CASE("JSON equals the approved one", "[report]") { check_golden("report/two_layers.json", report::json(two_layers())); }

TEST_CASE("JSON has every field of the schema", "[report]") {
    const auto j = Json::parse(report::json(two_layers()));
    CHECK(j.at("schema") == "rafter.result/1");
    for (const char* pointer : {"/gpu/name",
                                "/gpu/config_hash",
                                "/gpu/effective_config/0/path",
                                "/gpu/effective_config/0/standing",
                                "/gpu/effective_config/0/source",
                                "/workload/name",
                                "/workload/dims",
                                "/options/launch",
                                "/totals/time_s",
                                "/totals/macs",
                                "/totals/flops",
                                "/totals/hbm_read_bytes",
                                "/totals/hbm_write_bytes",
                                "/totals/l2_read_bytes",
                                "/totals/l2_write_bytes",
                                "/phases/0/step_results",
                                "/memory/0/size_bytes",
                                "/simulator/wall_s",
                                "/simulator/events",
                                "/simulator/line_requests",
                                "/simulator/peak_rss_bytes",
                                "/simulator/mode"}) {
        INFO(pointer);
        CHECK(j.contains(Json::json_pointer(pointer)));
    }
    for (const char* pointer : {"/name",
                                "/op",
                                "/family",
                                "/phase",
                                "/count",
                                "/dtype",
                                "/time_s",
                                "/macs",
                                "/flops",
                                "/hbm_read_bytes",
                                "/hbm_write_bytes",
                                "/l2_read_bytes",
                                "/l2_write_bytes",
                                "/l1_read_bytes",
                                "/l1_write_bytes",
                                "/algorithmic_read_bytes",
                                "/algorithmic_write_bytes",
                                "/arithmetic_intensity_flop_per_byte",
                                "/ridge_point_flop_per_byte",
                                "/roofline_time_s",
                                "/compulsory_time_s",
                                "/bound",
                                "/sentence",
                                "/parallelism/ctas",
                                "/parallelism/waves",
                                "/parallelism/occupancy",
                                "/parallelism/busy_sms",
                                "/parallelism/chain_length",
                                "/reuse/l1",
                                "/reuse/l2",
                                "/kernels/0/name",
                                "/kernels/0/grid",
                                "/kernels/0/time_s"}) {
        INFO(pointer);
        CHECK(j.at("layers").at(0).contains(Json::json_pointer(pointer)));
    }
}

TEST_CASE("all fifteen causes are there and sum to 1", "[report]") {
    const auto j = Json::parse(report::json(two_layers()));
    for (const auto& layer : j.at("layers")) {
        CHECK(layer.at("causes").size() == stats::kCauses);
        double sum = 0;
        for (const auto& share : layer.at("causes")) sum += share.get<double>();
        CHECK(sum == Approx(1.0).epsilon(1e-12));
    }
}

TEST_CASE("counts are exact to 2^64 and doubles beyond", "[report]") {
    auto r = two_layers();
    r.layers[0].flops = static_cast<Count>(18'446'744'073'709'551'615ULL);  // 2^64 - 1
    r.layers[1].flops = 0;
    CHECK(report::json(r).find("\"flops\": 18446744073709551615,") != std::string::npos);
    r.layers[1].flops = 1;
    CHECK(report::json(r).find("\"flops\": 18446744073709551616.0") == std::string::npos);
    CHECK(Json::parse(report::json(r)).at("totals").at("flops").get<double>() == Approx(18446744073709551616.0));
}

TEST_CASE("what depends on the machine that ran is in `simulator` only", "[report]") {
    auto r = two_layers();
    auto first = Json::parse(report::json(r));
    r.simulator = {9.0, 1, 1, 1, 1, 1, "exact"};
    auto second = Json::parse(report::json(r));
    first.erase("simulator"), second.erase("simulator");
    CHECK(first.dump() == second.dump());
}

TEST_CASE("names are escaped", "[report]") {
    auto r = two_layers();
    r.layers[0].name = "a \"b\"\n\xff";
    CHECK_NOTHROW(Json::parse(report::json(r)));
}
