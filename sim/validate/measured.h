// Measured timings as rafter exchanges them: CSV `source,gpu,op,dtype,shape,time_us,protocol,notes` or the YAML of
// validate/measured/figures.yaml. docs/validation.md describes both.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace rafter::validate {

/// One measurement. A row that cannot be read has a `problem` and is counted, never dropped.
struct Row {
    std::string id;    ///< "a100-sxm4-80gb.csv:12", or the id of a figure
    std::string file;  ///< as given on the command line
    int line{0};       ///< 1-based line it begins on
    std::string source, gpu, op, dtype, shape, protocol, notes;
    double time_us{0};
    std::string problem;  ///< "" | why this line is no measurement, with the column
};

/// Reads every file in order. Errors: Error when a file cannot be read, is neither CSV nor YAML, or lacks a column.
std::vector<Row> read_measured(const std::vector<std::string>& files);

std::vector<Row> parse_measured_csv(const std::string& text, const std::string& file);
std::vector<Row> parse_measured_yaml(const std::string& text, const std::string& file);

/// The records of an RFC 4180 text: quoted fields, "" for a quote, line breaks in quotes; CRLF, LF and a BOM are accepted.
/// `line` is where the record begins. An unfinished quote makes a record with `problem`.
struct CsvRecord {
    int line{0};
    std::vector<std::string> fields;
    std::string problem;
};
std::vector<CsvRecord> parse_csv(const std::string& text);

/// "m=1;n=2" as a map; `problem` says what is wrong with it.
std::map<std::string, std::string> parse_shape(const std::string& shape, std::string& problem);

/// A positive decimal number; nothing for anything else ("nan", "1e400", "12 us", "").
std::optional<double> parse_positive(const std::string& text);

}  // namespace rafter::validate
