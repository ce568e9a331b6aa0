// One DRAM channel: banks with open rows, a data bus, refresh and bus turnaround. docs/model/hbm.md, equations (H.1)-(H.6).
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "sim/config/hw_config.h"
#include "sim/model/calendar.h"

namespace rafter::model {

class DramChannel {
public:
    explicit DramChannel(const config::Dram& dram);

    struct Outcome {
        Fs done{0};             ///< reads: data at the L2; writes: accepted by the bus
        Fs wait{0};             ///< share spent queueing for the bank, the activation window or the bus
        std::int64_t bytes{0};  ///< moved, a multiple of the access granularity
        bool row_hit{false};
    };

    /// A burst for `bytes` useful bytes at channel-local byte address `local`, arriving at `arrival`.
    Outcome access(Fs arrival, std::uint64_t local, std::int64_t bytes, bool write);

    void reset();

private:
    struct Bank {
        std::array<std::uint64_t, 4> rows{};  ///< row + 1, most recent first: the requests a first-ready scheduler groups
        Calendar activates;
    };
    Fs activate(Bank& bank, Fs arrival);
    Fs turnaround(Fs arrival, bool write);
    static bool find_row(Bank& bank, std::uint64_t row);

    config::Dram dram_;
    Fs fs_per_granule_;  ///< bus time of one access granule, refresh included (H.1), (H.4)
    std::int64_t granule_;
    std::int64_t row_bytes_;
    Fs activate_interval_;  ///< max(tRRD, tFAW / 4) (H.3)
    Calendar bus_;
    Calendar activate_window_;
    std::vector<Bank> banks_;
    Fs last_read_{0}, last_write_{0};
};

}  // namespace rafter::model
