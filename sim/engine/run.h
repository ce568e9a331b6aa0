// One run: model on a GPU.
#pragma once

#include <functional>
#include <string>

#include "sim/config/hw_config.h"
#include "sim/engine/protocol.h"
#include "sim/stats/result.h"
#include "sim/workload/model.h"

namespace rafter::engine {

class KernelCache;

struct RunOptions {
    Protocol protocol;
    bool exact{false};            ///< simulate every kernel of every step, no memo
    bool every_step{false};       ///< run every step of a phase, with the memo
    KernelCache* cache{nullptr};  ///< on disk; not used by `exact`
    std::function<void(const std::string& label, std::int64_t done, std::int64_t total)> progress;  ///< may be empty
};

/// Simulates every layer. Must be called once per process and from inside sc_main (SystemC elaborates once).
/// Errors: Error when the model does not fit the GPU or a kernel cannot run on it; InternalError on a broken invariant.
stats::RunResult run(const config::HwConfig& gpu, const workload::Model& model, const RunOptions& options);

}  // namespace rafter::engine
