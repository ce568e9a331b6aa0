// A strict reader: keeps the marks, collects all errors of a file, knows units.
// Legal: `key: value` or `key: {value: V, source: "...", standing: datasheet}`.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sim/config/hw_config.h"
#include "sim/config/tree.h"
#include "sim/core/error.h"
#include "sim/core/quantity.h"

namespace rafter::config {

enum class Unit : std::uint8_t { bytes, bytes_per_s, hertz, seconds, bits_per_s, watts, clk, flops_per_s, femtojoules };

/// Number of a quantity in base units (B, B/s, Hz, s, bit/s, W, clk, FLOP/s, fJ). Errors: Error text without place in `error`.
double parse_quantity(std::string_view text, Unit unit, std::string& error);
std::string unit_names(Unit unit);      ///< "B, kB, MB, ..." for messages
std::string_view base_unit(Unit unit);  ///< "B"
std::string_view unit_kind(Unit unit);  ///< "size"
/// The number of `text` with the first unit that brings it into min..max (base units): "1410 MHz" for "1410 GHz"; else "".
std::string with_fitting_unit(std::string_view text, Unit unit, double min, double max);

/// Where the mistakes of a document gather, so that all are reported together.
class Diagnostics {
public:
    void add(const Place& place, std::string_view message);
    bool empty() const { return found_.empty(); }
    void append(const Diagnostics& others);
    void throw_if_any() const;  ///< one Error with every diagnostic, in file order
private:
    struct Found {
        Place place;
        std::string text;
    };
    std::vector<Found> found_;
};

/// A node with its path. Reading a wrong type records a diagnostic and gives a harmless fallback.
class Value {
public:
    Value() = default;
    Value(Tree tree, std::string path, Place place, Diagnostics* diagnostics);

    bool defined() const { return tree_ != nullptr; }
    bool is_map() const { return defined() && tree_->kind == TreeNode::Kind::map; }
    bool is_list() const { return defined() && tree_->kind == TreeNode::Kind::list; }
    bool is_scalar() const { return defined() && tree_->kind == TreeNode::Kind::scalar; }
    const std::string& path() const { return path_; }
    const Place& place() const { return place_; }
    const Tree& tree() const { return tree_; }
    void error(std::string_view message) const;
    void report(const Place& place, std::string_view message) const { diagnostics_->add(place, message); }

    std::string text() const;                                            ///< scalar as written
    std::string text_of(const std::vector<std::string>& allowed) const;  ///< one of a closed set
    std::int64_t integer(std::int64_t min, std::int64_t max) const;      ///< strict decimal integer
    double real(double min, double max) const;
    bool boolean() const;                                      ///< true | false only
    double quantity(Unit unit, double min, double max) const;  ///< unit required
    /// The same in whole base units. Rounding that moves the value by more than 0.01 % is an error (1.5 B, 4.5 clk).
    std::int64_t whole(Unit unit, double min, double max, double scale = 1) const;
    DType dtype() const;
    std::vector<Value> list() const;
    std::vector<std::pair<std::string, Value>> entries() const;  ///< map entries in file order; duplicates are reported

    Standing standing() const;  ///< of a {value, source, standing} leaf; estimate when absent
    bool standing_given() const { return is_map() && tree_->find("standing") != nullptr; }
    std::string source() const;  ///< of a {value, source, standing} leaf; the --set itself when that is where it came from
    bool has_source() const { return !source().empty(); }

private:
    Value leaf() const;  ///< the `value` of a {value, ...} map, else itself
    Tree tree_;
    std::string path_;
    Place place_;
    Diagnostics* diagnostics_{nullptr};
};

/// A map whose keys are a closed set: what was not asked for by finish() is an unknown key.
class Map {
public:
    explicit Map(const Value& value);
    Value required(const std::string& key);  ///< missing -> diagnostic naming the path; gives an undefined Value
    Value optional(const std::string& key);
    bool has(const std::string& key) const;
    const Value& value() const { return value_; }
    void finish();  ///< unknown keys -> diagnostics with the nearest name

private:
    Value find(const std::string& key);
    Value value_;
    std::vector<std::string> known_;
};

/// One YAML text. Accepts CRLF, BOM, a missing final newline.
class Document {
public:
    static Document load(const std::string& path);
    static Document parse(const std::string& text, const std::string& name);
    explicit Document(Tree tree) : tree_(std::move(tree)), diagnostics_(std::make_shared<Diagnostics>()) {}
    /// This document laid over `base`, with the mistakes of both.
    Document over(const Document& base) const;

    /// Overlays `path=value` (--set); its place is "--set path=value". Errors: Error for no value, or a path below a value.
    void set(const std::string& path, const std::string& value);
    /// Takes a key away at the top level.
    void drop(const std::string& key);
    Value root() const { return Value(tree_, "", tree_->place, diagnostics_.get()); }
    const Tree& tree() const { return tree_; }
    Diagnostics& diagnostics() const { return *diagnostics_; }
    void finish() const { diagnostics_->throw_if_any(); }

private:
    Tree tree_;
    std::shared_ptr<Diagnostics> diagnostics_;
};

}  // namespace rafter::config
