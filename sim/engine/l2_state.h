// What the L2 holds between kernels, by tensor. A kernel is simulated on its own from such a state, so that equal kernels in
// equal states are simulated once. docs/model/engine.md, equations (E.1)-(E.3).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sim/machine/machine.h"
#include "sim/program/kernel.h"

namespace rafter::engine {

/// Bytes of a kernel's arguments that are in the L2 when it starts, rounded to grains so that states that differ by a few lines
/// are one state; and the dirty bytes of other tensors, which it will have to write back when it needs the room.
struct StartState {
    struct Argument {
        std::int64_t resident{0};
        bool dirty{false};
        std::int64_t copied_quarters{0};  ///< of its lines that have copies in the other partitions
    };
    std::vector<Argument> arguments;  ///< same order as Kernel::arguments
    std::int64_t foreign_dirty{0};

    std::string key() const;
};

/// Tensors in the L2, least recently used first.
class L2State {
public:
    explicit L2State(std::int64_t capacity) : capacity_(capacity) {}

    StartState before(const program::Kernel& kernel) const;
    /// The kernel has run from `start` and left `measured` behind.
    void after(const program::Kernel& kernel, const StartState& start, const machine::KernelMeasurement& measured);

    /// `tensor` of `size` bytes has just been written by somebody else: the end of it is here, in at most half of the room (the
    /// other half is what its producer read meanwhile), and the DRAM has it as well. (E.5)
    void produce(const std::string& tensor, std::int64_t size);

    /// Dirty bytes that no kernel has written back yet.
    std::int64_t dirty_bytes() const;
    friend bool operator==(const L2State&, const L2State&) = default;

private:
    struct Entry {
        std::string tensor;
        std::int64_t size{0}, resident{0}, dirty{0};
        std::int64_t copied{0};  ///< bytes of copies in partitions that are not a line's home
        std::int64_t held() const { return resident + copied; }
        void add_rest_of(const Entry& before, std::int64_t used);
        friend bool operator==(const Entry&, const Entry&) = default;
    };
    std::int64_t grain(std::int64_t size) const;
    void trim(std::int64_t room);
    void clean_oldest(std::int64_t still_dirty);

    std::int64_t capacity_;
    std::vector<Entry> entries_;
};

}  // namespace rafter::engine
