// Reads one layer of a workload file.
#pragma once

#include <initializer_list>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "sim/config/reader.h"
#include "sim/workload/expression.h"
#include "sim/workload/layer.h"

namespace rafter::workload {

struct Formats {
    DType weights{DType::fp16}, activations{DType::fp16}, kv{DType::fp16};
};

/// What a layer wrote, and the shape in which later layers may read it. 0 stands for "not known".
struct Produced {
    std::string id{"input"};
    std::int64_t elements{0};
    std::int64_t rows{0}, cols{0};
    std::int64_t n{0}, c{0}, h{0}, w{0};
};

/// What a layer may refer to while it is read.
struct Scope {
    const Dims* dims;
    Formats formats;
    Library library{Library::tuned};
    Family family{Family::mlp};
    std::string prefix;                                  ///< "prefill/" in a named phase: activations of phases are apart
    std::string block;                                   ///< "" outside blocks
    std::string directory;                               ///< of the workload file, for index files
    Produced previous;                                   ///< output of the layer before
    Produced entry;                                      ///< what the name `input` means here
    std::map<std::string, Produced> outputs;             ///< by layer name
    std::map<std::string, std::vector<Tensor>> weights;  ///< by layer name, for `share`
};

/// The keys of a layer with its dims bound.
class Fields {
public:
    static constexpr std::int64_t kMost = std::int64_t{1} << 50;
    static constexpr std::int64_t kMostElements = std::int64_t{1} << 56;

    Fields(const config::Value& value, const Scope& scope);

    std::int64_t number(const std::string& key, std::int64_t min = 1);
    std::int64_t number_or(const std::string& key, std::int64_t fallback, std::int64_t min = 0);
    /// The key when it is there, else what the input says; required when neither does.
    std::int64_t inferred(const std::string& key, std::int64_t from_input);
    /// A size given as the value of a list or a scalar elsewhere.
    std::int64_t evaluated(const config::Value& value, std::int64_t min);
    bool has(const std::string& key) const { return map_.has(key); }
    bool flag(const std::string& key);
    double real_or(const std::string& key, double fallback, double min, double max);
    std::string text_or(const std::string& key, const std::string& fallback, const std::vector<std::string>& allowed);
    config::Map& map() { return map_; }
    void error(const std::string& key, const std::string& message);

    /// Elements of a tensor of these sizes. Errors: more than kMostElements.
    std::int64_t elements(std::initializer_list<std::int64_t> sizes);

    /// Operand i as named by `inputs:`, else the previous layer's output for operand 0, else a tensor nobody wrote.
    const std::vector<Produced>& named() const { return named_; }
    Produced input(std::size_t i = 0) const;
    bool uses_step() const { return uses_step_; }

private:
    void resolve_inputs();
    config::Map map_;
    const Scope& scope_;
    std::vector<Produced> named_;
    bool uses_step_{false};
};

struct Operand {
    std::string suffix;  ///< ".weight", ".bias", ".table"
    std::int64_t elements{};
    DType dtype{DType::fp16};
};

/// The operation and the sizes of its operands.
struct Shape {
    Operation operation;
    std::vector<std::int64_t> inputs;  ///< elements of each activation read, in operand order
    bool exact{false};                 ///< operands must have exactly the size their producer wrote, else at most
    std::vector<Operand> parameters;
    Operand cache{".kv", 0, DType::fp16};  ///< K and V held for this layer; 0 elements when it reads no cache
    std::optional<DType> output_dtype;     ///< when it is not that of the activations
    bool updates_parameters{false};        ///< they are what is written; `output` only names it
    bool updates_last{false};              ///< the last parameter is written back in place
    bool updates_second{false};            ///< the second input is written back in place
    std::int64_t appended{0};              ///< elements of the new K and V written to the cache
    Produced output;
};

struct ReadLayer {
    Layer layer;
    Produced output;
    bool uses_step{false};  ///< a size depends on the decode step
    bool valid{false};
};
/// Errors go to the document's diagnostics.
ReadLayer read_in_context(const config::Value& value, const Scope& scope);
Layer read_layer(const config::Value& value, const Scope& scope);

const std::vector<std::string>& operation_names();
Shape read_shape(const Layer& layer, Fields& fields, const Scope& scope);

Shape read_gemm(const Layer& layer, Fields& fields);
Shape read_rnn(const Layer& layer, Fields& fields);
Shape read_elementwise(Fields& fields);
Shape read_rows(const Layer& layer, Fields& fields);
Shape read_conv(const Layer& layer, Fields& fields);
Shape read_pool(Fields& fields);
Shape read_embedding(const Layer& layer, Fields& fields, const Scope& scope);
Shape read_attention(Fields& fields, const Scope& scope);

/// The library a value names. Errors go to the document's diagnostics.
Library read_library(const config::Value& value);

/// Legal values of `activation:`.
const std::vector<std::string>& activation_names();

}  // namespace rafter::workload
