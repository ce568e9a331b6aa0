// Integer expressions over named dims: `batch * seq`, `(heads + 2 * kv_heads) * head_dim`. Division must be exact.
#pragma once

#include <cstdint>
#include <map>
#include <string>

namespace rafter::workload {

using Dims = std::map<std::string, std::int64_t>;

/// Errors: a text in `error` (unknown name with the nearest, inexact division, overflow of 64 bits, syntax); the result is then
/// 0. The text says at which character of the expression.
std::int64_t evaluate(const std::string& text, const Dims& dims, std::string& error);

/// Whether the expression uses the dim `name`.
bool mentions(const std::string& text, const std::string& name);

/// Whether the expression uses any dim at all: `2048` does not.
bool is_derived(const std::string& text);

}  // namespace rafter::workload
