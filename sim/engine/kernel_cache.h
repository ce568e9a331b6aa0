// Measurements of kernels on disk, so that what one run has simulated the next one reads. docs/model/engine.md, (E.7).
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "sim/machine/machine.h"

namespace rafter::engine {

/// A file an entry, named by a hash of its key: everything that decides a measurement, the simulator's own code included. Safe
/// with any number of readers and writers: a file is written beside its place and renamed. A damaged file counts as none.
class KernelCache {
public:
    using Warn = std::function<void(const std::string&)>;

    /// `folder` is made when the first entry is kept. `code` stands for the simulator: entries of another are not found.
    KernelCache(std::string folder, std::string code, Warn warn);

    std::optional<machine::KernelMeasurement> find(const std::string& key) const;
    /// What cannot be written is warned of once and not kept.
    void keep(const std::string& key, const machine::KernelMeasurement& measured);

    struct Size {
        std::int64_t entries{0}, bytes{0};
    };
    static Size size(const std::string& folder);
    /// Removes every entry. Errors: Error when the folder cannot be removed.
    static Size clear(const std::string& folder);

    std::string path_of(const std::string& key) const;

private:
    std::string folder_, code_;
    Warn warn_;
    bool writable_{true};
};

/// $XDG_CACHE_HOME/rafter/kernels, else ~/.cache/rafter/kernels; "" when neither variable says where.
std::string default_cache_folder();

/// A hash of the program that is running, so that a measurement never outlives the code that made it.
std::string code_hash();

}  // namespace rafter::engine
