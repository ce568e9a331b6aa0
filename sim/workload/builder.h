// Reads one layer of a workload file.
#pragma once

#include <map>
#include <string>

#include "sim/config/reader.h"
#include "sim/workload/expression.h"
#include "sim/workload/layer.h"

namespace rafter::workload {

struct Formats {
    DType weights{DType::fp16}, activations{DType::fp16}, kv{DType::fp16};
};

/// What a layer may refer to while it is read.
struct Scope {
    const Dims* dims;
    Formats formats;
    Family family{Family::mlp};
    std::string block;                           ///< "" outside blocks
    std::string directory;                       ///< of the workload file, for index files
    std::string previous{"input"};               ///< tensor id of the previous layer's output
    std::map<std::string, std::string> outputs;  ///< layer name -> tensor id
};

/// The keys of a layer with its dims bound.
class Fields {
public:
    Fields(const config::Value& value, const Scope& scope) : map_(value), scope_(scope) {}

    std::int64_t number(const std::string& key, std::int64_t min = 1);
    std::int64_t number_or(const std::string& key, std::int64_t fallback, std::int64_t min = 0);
    bool has(const std::string& key) const { return map_.has(key); }
    bool flag(const std::string& key);
    std::string text_or(const std::string& key, const std::string& fallback, const std::vector<std::string>& allowed);
    config::Map& map() { return map_; }
    void error(const std::string& key, const std::string& message);

    static constexpr std::int64_t kMost = std::int64_t{1} << 50;

private:
    std::int64_t evaluated(const config::Value& value, std::int64_t min);
    config::Map map_;
    const Scope& scope_;
};

/// Errors go to the document's diagnostics.
Layer read_layer(const config::Value& value, const Scope& scope);

/// The operation by its name, and the sizes of its operands.
struct Shape {
    Operation operation;
    std::vector<std::int64_t> inputs;  ///< elements of each activation read, in operand order
    std::int64_t parameters{0};        ///< elements of the weights
    std::int64_t outputs{0};           ///< elements written
    bool is_table{false}, is_cache{false};
};
Shape read_shape(const std::string& op, Fields& fields, const Scope& scope);
const std::vector<std::string>& operation_names();
Shape read_embedding(Fields& fields, const Scope& scope);
Shape read_attention(Fields& fields, const Scope& scope);

}  // namespace rafter::workload
