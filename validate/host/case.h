// One measurement: an operation, a shape, a kernel that does it, and how the clock is held.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "sim/core/dtype.h"

namespace rafter::validate {

/// How calls follow one another, and what the caches hold: the vocabulary of the interchange format.
enum class Calls : std::uint8_t { event_per_call, graph_replay, back_to_back_stream };
enum class Caches : std::uint8_t { cold, warm_if_fits, cold_weights };

struct Protocol {
    Calls calls{Calls::graph_replay};
    Caches caches{Caches::warm_if_fits};
    std::string includes;  ///< "kv_write", or empty
    bool operator==(const Protocol&) const = default;
};
/// "graph_replay;weights=cold;activations=warm"
std::string text(const Protocol& protocol);

/// key=value in the order of the interchange format.
class Shape {
public:
    Shape& set(const std::string& key, std::int64_t value);
    Shape& set(const std::string& key, const std::string& value);
    /// Errors: InternalError for a key that is missing.
    std::int64_t get(const std::string& key) const;
    std::int64_t get(const std::string& key, std::int64_t otherwise) const;
    const std::string& word(const std::string& key) const;
    std::string text() const;  ///< "m=1;n=2;k=3"

private:
    const std::string* find(const std::string& key) const;
    std::vector<std::pair<std::string, std::string>> entries_;
};

struct Case {
    std::string op;
    DType dtype{DType::fp16};
    Shape shape;
    std::string kernel;  ///< "twin", "cublaslt", "cudnn", "twin_steps", "twin_persistent"
    Protocol protocol;
};

/// What makes two measurements the same one: op, dtype, shape, protocol and kernel.
std::string key(const Case& c);

/// "quick" or "full"; the order is the order of measuring.
std::vector<Case> suite(const std::string& name);
std::vector<std::string> operations();

}  // namespace rafter::validate
