#include <filesystem>
#include <fstream>
#include <sstream>

#include "sim/core/error.h"
#include "tests/catch.h"
#include "tests/config/support.h"
#include "validate/host/case.h"
#include "validate/host/csv.h"
#include "validate/host/gpu_peaks.h"
#include "validate/host/machine_log.h"
#include "validate/host/statistics.h"

using namespace rafter;
using namespace rafter::validate;

namespace {

std::string content(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    std::ostringstream text;
    text << file.rdbuf();
    return text.str();
}

const CsvRow kRow{"rafter-measure", "t4", "gemm", "fp16", "m=1;n=2;k=3", 12.5, "graph_replay;l2=cold", "kernel=twin;samples=20"};

Device a100() {
    Device d;
    d.name = "NVIDIA A100-SXM4-80GB";
    d.major = 8, d.sms = 108, d.clock_hz = 1.41e9, d.memory_clock_hz = 1.593e9, d.bus_bits = 5120;
    d.l2_bytes = 40 << 20;
    return d;
}

Case gemm(std::int64_t m, Caches caches) {
    return {"gemm", DType::fp16, Shape{}.set("m", m).set("n", 4096).set("k", 4096), "twin", {Calls::graph_replay, caches, {}}};
}

}  // namespace

TEST_CASE("median and quartiles interpolate between samples", "[validate]") {
    const Summary five = summarise({5, 1, 4, 2, 3});
    CHECK((five.median == 3 && five.lower == 2 && five.upper == 4 && five.range() == 2));
    const Summary four = summarise({4, 1, 3, 2});
    CHECK((four.median == 2.5 && four.lower == 1.75 && four.upper == 3.25));
    CHECK(summarise({7}).range() == 0);
}

TEST_CASE("fields of the CSV survive commas, quotes and line ends", "[validate][csv]") {
    const std::vector<std::string> fields{"a,b", "say \"x\"", "plain", "", "two\nlines"};
    std::string line = csv_line(fields);
    CHECK(line.back() == '\n');
    line.pop_back();
    CHECK(csv_fields(line) == fields);
    CHECK_THROWS_AS(csv_fields("a,\"b"), Error);
    CHECK(note("kernel=twin;iqr_us=0.5", "iqr_us") == "0.5");
    CHECK(note("kernel=twin", "iqr_us").empty());
}

TEST_CASE("a run goes on where the last one stopped", "[validate][csv]") {
    const tests::Folder folder;
    {
        RowFile file("out.csv");
        CHECK_FALSE(file.has(RowFile::key(kRow)));
        file.append(kRow);
    }
    std::ofstream("out.csv", std::ios::app) << "rafter-measure,t4,gemm,fp16,m=9";  // killed while it wrote
    {
        RowFile file("out.csv");
        CHECK(file.has(RowFile::key(kRow)));
        CHECK(file.size() == 1);
        CsvRow other = kRow;
        other.notes = "kernel=cublaslt";  // another kernel is another measurement
        CHECK_FALSE(file.has(RowFile::key(other)));
        file.append(other);
    }
    CHECK(content("out.csv") == std::string(kCsvHeader) + "\n" + csv_line(kRow) +
                                    "rafter-measure,t4,gemm,fp16,m=1;n=2;k=3,12.5000,graph_replay;l2=cold,kernel=cublaslt\n");
}

TEST_CASE("a half-written header is written anew, another file is left alone", "[validate][csv]") {
    const tests::Folder folder;
    std::ofstream("half.csv") << "source,gpu,o";
    CHECK(RowFile("half.csv").size() == 0);
    CHECK(content("half.csv") == std::string(kCsvHeader) + "\n");
    std::ofstream("other.csv") << "name,age\nx,1\n";
    CHECK_THROWS_AS(RowFile("other.csv"), Error);
    std::ofstream("text.csv") << "hello";
    CHECK_THROWS_AS(RowFile("text.csv"), Error);
    CHECK(content("text.csv") == "hello");
}

TEST_CASE("protocols use the words of the interchange format", "[validate]") {
    CHECK(text(Protocol{Calls::event_per_call, Caches::cold, {}}) == "event_per_call;l2=cold");
    CHECK(text(Protocol{Calls::graph_replay, Caches::cold_weights, {}}) == "graph_replay;weights=cold;activations=warm");
    CHECK(text(Protocol{Calls::back_to_back_stream, Caches::warm_if_fits, "kv_write"}) ==
          "back_to_back_stream;l2=warm_if_fits;includes=kv_write");
}

TEST_CASE("no case of a suite is measured twice, and each has arithmetic", "[validate]") {
    for (const char* name : {"quick", "full"}) {
        std::set<std::string> keys;
        for (const Case& c : suite(name)) {
            INFO(key(c));
            CHECK(keys.insert(key(c)).second);
            CHECK(work_of(c).total_bytes > 0);
        }
        CHECK(keys.size() > 50);
    }
}

TEST_CASE("samples faster than physics are counted", "[validate]") {
    // 2 x 4096^3 FLOP / (108 x 2048 x 1.41 GHz) = 440.7 us
    const Work large = work_of(gemm(4096, Caches::warm_if_fits));
    CHECK(least_seconds(a100(), large) * 1e6 == Approx(440.7).margin(0.1));
    CHECK(above_peak(a100(), large, {440, 441, 500}) == 1);
    // Cold weights: 4096^2 x 2 B / 2039 GB/s = 16.46 us; warm they fit the L2
    CHECK(least_seconds(a100(), work_of(gemm(1, Caches::cold_weights))) * 1e6 == Approx(16.46).margin(0.01));
    CHECK(least_seconds(a100(), work_of(gemm(1, Caches::warm_if_fits))) * 1e6 < 1);
    CHECK(above_peak(a100(), large, {std::nan(""), 0.0, -1.0}) == 3);
    Device unknown;
    CHECK(least_seconds(unknown, work_of(gemm(1, Caches::warm_if_fits))) == 0);
}

TEST_CASE("devices are named as the files in hw_configs", "[validate]") {
    CHECK(gpu_file_name("NVIDIA A100-SXM4-80GB") == "a100-sxm4-80gb");
    CHECK(gpu_file_name("NVIDIA H100 80GB HBM3") == "h100-sxm5-80gb");
    CHECK(gpu_file_name("Tesla T4") == "t4");
    CHECK(gpu_file_name("Tesla V100-SXM2-16GB") == "v100-sxm2-16gb");
    CHECK(gpu_file_name("NVIDIA GeForce RTX 4090") == "rtx-4090");
}

TEST_CASE("throttle bits are told by name", "[validate]") {
    CHECK(throttle_text(0) == "none");
    CHECK(throttle_text(0x44) == "sw_power_cap+hw_thermal_slowdown");
    CHECK(throttle_text(-1) == "unknown");
}

TEST_CASE("the machine file keeps the cases of earlier runs", "[validate]") {
    const tests::Folder folder;
    Machine machine;
    machine.device = a100();
    MachineLog first("m.json", machine, 1);
    first.add("a", {{1.5, {1410, 1593, 300.5, 60, 4}}});
    first.save();
    MachineLog second("m.json", machine, 1);
    second.add("b", {{2.5, {}}});
    second.save();
    const auto json = nlohmann::json::parse(content("m.json"));
    CHECK(json["cases"]["a"][0]["throttle"] == "sw_power_cap");
    CHECK(json["cases"]["b"][0]["power_w"].is_null());
    CHECK(json["device"]["sms"] == 108);
    std::ofstream("bad.json") << "{";
    CHECK_THROWS_AS(MachineLog("bad.json", machine, 1), Error);
}
