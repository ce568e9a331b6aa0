// The DRAM of the GPU as one module: a socket per L2 slice, a channel model per channel. Lines are spread over the channels by a
// hash of their own, so that any number of slices and channels balances.
#pragma once

#include <vector>

#include "sim/config/hw_config.h"
#include "sim/machine/request.h"
#include "sim/model/divider.h"
#include "sim/model/dram_channel.h"

namespace rafter::machine {

class Dram : public sc_core::sc_module, private BlockingTarget {
public:
    Dram(const sc_core::sc_module_name& name, const config::HwConfig& gpu);

    sc_core::sc_vector<tlm::tlm_target_socket<>> sockets;  ///< one per L2 slice

    void reset();
    std::int64_t read_bytes() const { return read_bytes_; }
    std::int64_t write_bytes() const { return write_bytes_; }

private:
    void b_transport(tlm::tlm_generic_payload& transaction, sc_core::sc_time& delay) override;

    model::Interleave interleave_;
    std::vector<model::DramChannel> channels_;
    std::int64_t read_bytes_{0}, write_bytes_{0};
};

}  // namespace rafter::machine
