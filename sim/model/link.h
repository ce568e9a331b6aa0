// A link to memory outside of the GPU: the host's over PCIe or C2C, another GPU's over NVLink. docs/model/links.md, equations
// (K.1), (K.2).
#pragma once

#include <algorithm>
#include <cstdint>

#include "sim/config/hw_config.h"
#include "sim/model/calendar.h"

namespace rafter::model {

/// Requests of any SM share it. Both directions have the same rate; a read takes the one into the GPU, a write the other.
class Link {
public:
    explicit Link(const config::Link& link)
        : latency_(link.latency.value),
          fs_per_byte_(1e15 / static_cast<double>(link.bytes_per_s)),
          in_(service(kTypical), kBuckets),
          out_(in_) {}

    struct Outcome {
        Fs done{0};  ///< data at the GPU, or the write accepted
        Fs wait{0};  ///< for the link
    };
    Outcome access(Fs arrival, std::int64_t bytes, bool write) {
        const Fs take = service(bytes), half = latency_ / 2;
        // A read asks first and occupies the link when the data come back.
        const Fs ready = write ? arrival : arrival + half;
        const Fs end = (write ? out_ : in_).reserve(ready, take);
        (write ? write_bytes_ : read_bytes_) += bytes;
        return {end + latency_ - (write ? 0 : half), end - take - ready};
    }
    void reset() {
        in_.reset();
        out_.reset();
        read_bytes_ = write_bytes_ = 0;
    }
    std::int64_t read_bytes() const { return read_bytes_; }
    std::int64_t write_bytes() const { return write_bytes_; }

private:
    /// All SMs' budgets may wait for one link: the ring has to reach that far ahead.
    static constexpr std::int64_t kTypical = 1024, kBuckets = 8192;
    Fs service(std::int64_t bytes) const {
        return std::max<Fs>(1, static_cast<Fs>(static_cast<double>(bytes) * fs_per_byte_ + 0.5));
    }

    Fs latency_;
    double fs_per_byte_;
    Calendar in_, out_;
    std::int64_t read_bytes_{0}, write_bytes_{0};
};

}  // namespace rafter::model
