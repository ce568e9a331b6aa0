// A strict reader over YAML::Node: keeps the marks, collects all errors of a file, knows units.
// Legal: `key: value` or `key: {value: V, source: "...", standing: datasheet}`.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sim/config/hw_config.h"
#include "sim/core/error.h"
#include "sim/core/quantity.h"

namespace YAML {
class Node;
}

namespace rafter::config {

enum class Unit : std::uint8_t { count, bytes, bytes_per_s, hertz, seconds, bits_per_s, watts, clk, flops_per_s };

class Document;

/// A node of the document with its path and mark. Cheap to copy. Reading a wrong type records a diagnostic and gives a fallback,
/// so that all mistakes of a file are reported together by Document::finish().
class Value {
public:
    bool defined() const;
    bool is_map() const;
    bool is_list() const;
    bool is_scalar() const;
    const std::string& path() const;
    Place place() const;
    void error(std::string_view message) const;  ///< record a diagnostic at this node

    std::string text() const;                                            ///< scalar as written
    std::string text_of(const std::vector<std::string>& allowed) const;  ///< one of a closed set, else error with nearest name
    std::int64_t integer(std::int64_t min, std::int64_t max) const;      ///< strict decimal integer
    double real(double min, double max) const;
    bool boolean() const;                                      ///< true | false only
    double quantity(Unit unit, double min, double max) const;  ///< unit required unless Unit::count
    DType dtype() const;
    std::vector<Value> list() const;                             ///< elements; error when not a list
    std::vector<std::pair<std::string, Value>> entries() const;  ///< map entries in file order; duplicates reported

    Standing standing() const;  ///< of a {value, source, standing} leaf; estimate when absent
    std::string source() const;

private:
    friend class Document;
    friend class Map;
    struct State;
    std::shared_ptr<const State> state_;
};

/// A map whose keys are a closed set: what is not asked for by finish() is an unknown key.
class Map {
public:
    explicit Map(const Value& value);        ///< error when not a map
    Value required(const std::string& key);  ///< missing -> diagnostic naming the path; gives an undefined Value
    Value optional(const std::string& key);  ///< undefined Value when absent
    bool has(const std::string& key) const;
    Place place() const;
    void finish();  ///< unknown keys -> diagnostics with nearest name

private:
    Value value_;
    std::vector<std::string> known_;
};

/// One YAML file (or text). Accepts CRLF, BOM, missing final newline; rejects tabs, several documents, cycles, duplicate keys.
class Document {
public:
    static Document load(const std::string& path);  ///< Error when it cannot be read
    static Document parse(std::string text, std::string name);
    /// Overlay `path=value` settings (the --set option); they are read as YAML scalars with the place "--set path=value".
    void set(const std::string& path, const std::string& value);
    Value root() const;
    bool has_errors() const;
    void finish() const;  ///< throws Error holding every diagnostic, in file order

private:
    struct Impl;
    std::shared_ptr<Impl> impl_;
};

}  // namespace rafter::config
