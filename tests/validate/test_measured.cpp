// Reading measured rows: what is broken is counted with its line, never dropped.
#include "sim/core/error.h"
#include "sim/validate/measured.h"
#include "tests/catch.h"

using namespace rafter::validate;
using Catch::Matchers::Contains;

namespace {

const std::string kHeader = "source,gpu,op,dtype,shape,time_us,protocol,notes\n";

Row only_row(const std::string& line) {
    const auto rows = parse_measured_csv(kHeader + line, "m.csv");
    REQUIRE(rows.size() == 1);
    return rows.front();
}

}  // namespace

TEST_CASE("a row is read field by field", "[measured]") {
    const Row row = only_row("lab,t4,gemm,fp16,m=1;n=2;k=3,4.5,kernel_only;l2=cold,\"a, \"\"b\"\"\"\n");
    CHECK(row.problem == "");
    CHECK(row.id == "m.csv:2");
    CHECK(row.line == 2);
    CHECK(row.source == "lab");
    CHECK(row.gpu == "t4");
    CHECK(row.op == "gemm");
    CHECK(row.dtype == "fp16");
    CHECK(row.shape == "m=1;n=2;k=3");
    CHECK(row.time_us == 4.5);
    CHECK(row.protocol == "kernel_only;l2=cold");
    CHECK(row.notes == "a, \"b\"");
}

TEST_CASE("CRLF, a byte-order mark, a missing last newline and blank lines are no mistakes", "[measured]") {
    const std::string plain = kHeader + "a,t4,gemm,fp16,m=1,1,p,\nb,t4,gemm,fp16,m=1,2,p,\n";
    std::string dos = "\xEF\xBB\xBF";
    for (const char c : plain) dos += c == '\n' ? "\r\n" : std::string(1, c);
    for (const std::string& text : {plain, dos, plain.substr(0, plain.size() - 1), plain + "\n\n"}) {
        const auto rows = parse_measured_csv(text, "m.csv");
        REQUIRE(rows.size() == 2);
        CHECK(rows[0].source == "a");
        CHECK(rows[1].time_us == 2);
        CHECK(rows[1].problem == "");
        CHECK(rows[1].line == 3);
    }
}

TEST_CASE("a broken row stays, with what is wrong", "[measured]") {
    const auto problem = [](const std::string& line) { return only_row(line).problem; };
    CHECK(problem("lab,t4,gemm,fp16,m=1,fast,p,\n") == "time_us: expected a positive number of microseconds, found 'fast'");
    for (const char* time : {"", "-1", "0", "nan", "inf", "1e999", "5 ms", "0x10"})
        CHECK_THAT(problem(std::string("lab,t4,gemm,fp16,m=1,") + time + ",p,\n"), Contains("expected a positive number"));
    CHECK(problem("lab,t4,gemm\n") == "3 fields, the header has 8");
    CHECK(problem("lab,t4,gemm,fp16,m=1,5,p,x,y\n") == "9 fields, the header has 8");
    CHECK(problem("lab,t4,gemm,fp16,m=1,5,p,\"open\n") == "a quote that is never closed");
    CHECK(problem("lab,t4,gemm,fp16,m=1,5,p,\"a\"b\n") == "text after a closing quote");
}

TEST_CASE("a line break in quotes does not shift the lines after it", "[measured]") {
    const auto rows = parse_measured_csv(kHeader + "a,t4,gemm,fp16,m=1,1,p,\"two\nlines\"\nb,t4,gemm,fp16,m=1,2,p,\n", "m.csv");
    REQUIRE(rows.size() == 2);
    CHECK(rows[0].notes == "two\nlines");
    CHECK(rows[1].line == 4);
}

TEST_CASE("a file that is no table of measurements is refused", "[measured]") {
    CHECK_THROWS_WITH(parse_measured_csv("", "m.csv"),
                      "error: m.csv is empty; expected the header source,gpu,op,dtype,shape,time_us,protocol,notes");
    CHECK_THROWS_WITH(parse_measured_csv("source,gpu,op,dtype,shape,time_ms,protocol,notes\n", "m.csv"),
                      Contains("m.csv:1:1: error: column 'time_us' is missing (found 'time_ms'); expected the header"));
    CHECK_THROWS_WITH(read_measured({"nowhere.csv"}), "error: cannot read nowhere.csv");
    CHECK_THROWS_WITH(read_measured({"table.txt"}), Contains("expected a .csv or a .yaml file"));
}

TEST_CASE("columns may come in any order, notes may be missing", "[measured]") {
    const auto rows = parse_measured_csv("time_us,gpu,op,dtype,shape,source,protocol\n7,t4,gemm,fp16,m=1,lab,p\n", "m.csv");
    REQUIRE(rows.size() == 1);
    CHECK(rows[0].time_us == 7);
    CHECK(rows[0].source == "lab");
    CHECK(rows[0].problem == "");
}

TEST_CASE("shapes are key=value joined by semicolons", "[measured]") {
    std::string problem;
    const auto shape = parse_shape("m=1;n=2", problem);
    CHECK(problem == "");
    CHECK(shape.at("m") == "1");
    CHECK(shape.at("n") == "2");
    const auto wrong = [](const std::string& text) {
        std::string found;
        parse_shape(text, found);
        return found;
    };
    CHECK(wrong("m") == "shape: expected key=value, found 'm'");
    CHECK(wrong("m=1;;n=2") == "shape: expected key=value, found ''");
    CHECK(wrong("m=") == "shape: expected key=value, found 'm='");
    CHECK(wrong("m=1;m=2") == "shape: 'm' is given twice");
    CHECK(wrong("") == "shape: empty");
}

TEST_CASE("figures in YAML are rows as well", "[measured]") {
    const auto rows = parse_measured_yaml(
        "schema: rafter.figures/1\nfigures:\n  - {id: a, gpu: t4, op: gemm, dtype: fp16, shape: m=1;n=2;k=3, time_us: 2.5,\n"
        "     protocol: kernel_only;l2=cold, source: a paper}\n",
        "f.yaml");
    REQUIRE(rows.size() == 1);
    CHECK(rows[0].id == "a");
    CHECK(rows[0].time_us == 2.5);
    CHECK(rows[0].shape == "m=1;n=2;k=3");
    CHECK_THROWS_WITH(parse_measured_yaml("schema: rafter.figures/1\nfigures:\n  - {id: a, gpus: t4}\n", "f.yaml"),
                      Contains("f.yaml:3") && Contains("unknown key 'gpus'") && Contains("did you mean 'gpu'"));
}
