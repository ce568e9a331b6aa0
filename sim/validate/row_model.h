// From a measured row to what has to be simulated: a workload and the protocol it was measured with.
#pragma once

#include <string>

#include "sim/engine/protocol.h"
#include "sim/validate/measured.h"

namespace rafter::validate {

/// Rows with equal keys are simulated once.
struct Simulation {
    std::string gpu;
    std::string workload;  ///< text of a workload file; `rafter run` gives the same time for it
    engine::Protocol protocol;
    std::string reason;  ///< why the row cannot be simulated; then the rest is empty
    std::string key() const;
};

Simulation to_simulation(const Row& row);

/// "graph_replay;weights=cold;activations=warm;includes=quantise" in parts.
struct MeasuredProtocol {
    engine::Protocol engine;
    bool includes_kv_write{false}, includes_quantise{false};
    std::string problem;
};
MeasuredProtocol parse_protocol(const std::string& text);

/// Whose kernels were measured, as the row's source and notes say: a value of `library:` in a workload file.
std::string library_of(const Row& row);

/// What the power limit saw: how often the work was repeated without a pause, and what its operands held, as the row's notes
/// (`passes=400`, `data=zeros`), its source or else its launches say.
void set_loop(const Row& row, engine::Protocol& protocol);

/// Operations of the interchange format.
const std::vector<std::string>& operation_names();

}  // namespace rafter::validate
