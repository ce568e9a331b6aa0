#include "sim/validate/measured.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <iterator>

#include <fmt/format.h>

#include "sim/config/reader.h"
#include "sim/core/error.h"

namespace rafter::validate {

namespace {

namespace fs = std::filesystem;

const std::vector<std::string> kColumns{"source", "gpu", "op", "dtype", "shape", "time_us", "protocol", "notes"};

std::string listed(const std::vector<std::string>& names) { return fmt::format("{}", fmt::join(names, ",")); }

/// Position of every column in this file's header. `notes` may be missing.
std::array<std::size_t, 8> find_columns(const CsvRecord& header, const std::string& file) {
    std::array<std::size_t, 8> positions{};
    for (std::size_t i = 0; i < kColumns.size(); ++i) {
        const auto found = std::find(header.fields.begin(), header.fields.end(), kColumns[i]);
        if (found == header.fields.end() && kColumns[i] != "notes") {
            std::string near = nearest_name(kColumns[i], header.fields);
            for (const auto& other : header.fields)
                if (near.empty() && kColumns[i] == "time_us" && other.rfind("time", 0) == 0) near = other;
            throw Error(Place{file, header.line, 1, fmt::format("{}", fmt::join(header.fields, ","))},
                        fmt::format("column '{}' is missing{}; expected the header {}", kColumns[i],
                                    near.empty() ? "" : fmt::format(" (found '{}')", near), listed(kColumns)));
        }
        positions[i] = static_cast<std::size_t>(found - header.fields.begin());
    }
    return positions;
}

void read_time(Row& row, const std::string& text) {
    const auto time = parse_positive(text);
    if (time) {
        row.time_us = *time;
    } else {
        row.problem = fmt::format("time_us: expected a positive number of microseconds, found '{}'", text);
    }
}

Row to_row(const CsvRecord& record, const std::array<std::size_t, 8>& at, std::size_t columns, const std::string& file) {
    Row row;
    row.file = file;
    row.line = record.line;
    row.id = fmt::format("{}:{}", fs::path(file).filename().string(), record.line);
    const auto field = [&](std::size_t column) {
        return at[column] < record.fields.size() ? record.fields[at[column]] : std::string();
    };
    row.source = field(0), row.gpu = field(1), row.op = field(2), row.dtype = field(3);
    row.shape = field(4), row.protocol = field(6), row.notes = field(7);
    if (!record.problem.empty()) {
        row.problem = record.problem;
    } else if (record.fields.size() != columns) {
        row.problem = fmt::format("{} fields, the header has {}", record.fields.size(), columns);
    } else {
        read_time(row, field(5));
    }
    return row;
}

std::string read_text(const std::string& path) {
    std::error_code ignored;
    if (fs::is_directory(path, ignored)) throw Error(fmt::format("error: {} is a folder; give its CSV files", path));
    std::ifstream file(path, std::ios::binary);
    if (!file) throw Error(fmt::format("error: cannot read {}", path));
    return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

}  // namespace

std::optional<double> parse_positive(const std::string& text) {
    double value = 0;
    const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (code != std::errc() || end != text.data() + text.size() || !std::isfinite(value) || value <= 0) return std::nullopt;
    return value;
}

std::map<std::string, std::string> parse_shape(const std::string& shape, std::string& problem) {
    std::map<std::string, std::string> fields;
    for (std::size_t at = 0; at < shape.size();) {
        const std::size_t end = std::min(shape.find(';', at), shape.size());
        const std::string item = shape.substr(at, end - at);
        const std::size_t equals = item.find('=');
        if (equals == std::string::npos || equals == 0 || equals + 1 == item.size()) {
            problem = fmt::format("shape: expected key=value, found '{}'", item);
        } else if (!fields.emplace(item.substr(0, equals), item.substr(equals + 1)).second) {
            problem = fmt::format("shape: '{}' is given twice", item.substr(0, equals));
        }
        at = end + 1;
    }
    if (fields.empty() && problem.empty()) problem = "shape: empty";
    return fields;
}

std::vector<Row> parse_measured_csv(const std::string& text, const std::string& file) {
    const auto records = parse_csv(text);
    if (records.empty()) throw Error(fmt::format("error: {} is empty; expected the header {}", file, listed(kColumns)));
    const auto columns = find_columns(records.front(), file);
    std::vector<Row> rows;
    for (std::size_t i = 1; i < records.size(); ++i)
        rows.push_back(to_row(records[i], columns, records.front().fields.size(), file));
    return rows;
}

std::vector<Row> parse_measured_yaml(const std::string& text, const std::string& file) {
    const config::Document document = config::Document::parse(text, file);
    config::Map top(document.root());
    const config::Value schema = top.required("schema");
    if (schema.defined()) schema.text_of({"rafter.figures/1"});
    std::vector<Row> rows;
    for (const config::Value& item : top.required("figures").list()) {
        config::Map map(item);
        Row row;
        row.file = file;
        row.line = item.place().line;
        const auto text_of = [&](const char* key) {
            const config::Value value = map.required(key);
            return value.defined() ? value.text() : std::string();
        };
        row.id = text_of("id"), row.gpu = text_of("gpu"), row.op = text_of("op"), row.dtype = text_of("dtype");
        row.shape = text_of("shape"), row.protocol = text_of("protocol"), row.source = text_of("source");
        const config::Value notes = map.optional("notes");
        if (notes.defined()) row.notes = notes.text();
        read_time(row, text_of("time_us"));
        map.finish();
        rows.push_back(std::move(row));
    }
    top.finish();
    document.finish();
    return rows;
}

std::vector<Row> read_measured(const std::vector<std::string>& files) {
    std::vector<Row> rows;
    for (const std::string& file : files) {
        const std::string extension = fs::path(file).extension().string();
        if (extension != ".csv" && extension != ".yaml")
            throw Error(fmt::format("error: {}: expected a .csv or a .yaml file of measurements", file));
        const std::string text = read_text(file);
        const auto read = extension == ".csv" ? parse_measured_csv(text, file) : parse_measured_yaml(text, file);
        rows.insert(rows.end(), read.begin(), read.end());
    }
    return rows;
}

}  // namespace rafter::validate
