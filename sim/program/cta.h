// What a tile program may ask of the machine. Reads like CUDA: loads are asynchronous and return a Ticket to wait for; compute,
// barriers and waits suspend the program.
#pragma once

#include <coroutine>
#include <cstdint>

#include "sim/core/dtype.h"
#include "sim/program/access.h"

namespace rafter::program {

/// A pending memory operation of this CTA. Value-like; waiting twice is legal and free.
struct Ticket {
    std::int64_t ready_fs{0};  ///< set by the machine
    std::uint8_t cause{0};     ///< stats::Cause of the largest share of its latency, set by the machine
};

/// One CTA-wide matrix product m x n x k on tensor cores. Edge tiles pass their padded (issued) shape, rounded up to the
/// instruction by the program; useful work is counted by the layer.
struct Mma {
    std::int64_t m{}, n{}, k{};
    DType dtype{DType::fp16};      ///< of the operands
    std::int64_t shared_bytes{0};  ///< operand bytes the warps read from shared memory for it
};

/// Instructions executed by the CTA on its vector units, in lane operations (thread-level operations).
struct Vector {
    std::int64_t fma{0};           ///< fp32 FMA/add/mul lane-ops (or `dtype` ones)
    std::int64_t sfu{0};           ///< exp, rsqrt, tanh ...
    std::int64_t integer{0};       ///< address arithmetic, compares, conversions
    std::int64_t shared_bytes{0};  ///< shared memory traffic of these instructions
    DType dtype{DType::fp32};      ///< decides which FMA lanes
    std::int64_t chain{1};         ///< dependent instructions on the critical path: at least chain x latency
    bool exclusive{false};         ///< the tensor cores get nothing to do meanwhile, from other CTAs either
};

class Cta;

/// Awaitable that always suspends; the machine has already noted when to resume.
struct Suspend {
    bool await_ready() const noexcept { return ready; }
    void await_suspend(std::coroutine_handle<>) const noexcept {}
    void await_resume() const noexcept {}
    bool ready{false};
};

/// The interface of the machine to one resident CTA. All calls are made from inside the program.
class Cta {
public:
    virtual ~Cta() = default;

    /// Index of this CTA in the grid, in launch order.
    virtual std::int64_t index() const = 0;

    /// The CTA is about to begin step `step` of a loop in which the steps up to `steps` are alike, or repeat after `period`.
    /// Returns how many of those ahead to leave out: the loop ends that much earlier. (docs/model/steady.md)
    virtual std::int64_t step(std::int64_t /*step*/, std::int64_t /*steps*/, std::int64_t /*period*/) { return 0; }
    /// Persistent kernels: the unit of work that follows `unit` when the grid takes `stride` units a round.
    virtual std::int64_t next_unit(std::int64_t unit, std::int64_t stride) { return unit + stride; }

    /// Starts a load; does not suspend. The in-flight budget of the SM delays the later lines of a large one.
    virtual Ticket load(const Access& access, Path path) = 0;
    /// Starts a store of the CTA's data. Retires in the background; a CTA is done when its stores are on their way.
    virtual Ticket store(const Access& access) = 0;
    /// Atomic adds executed at the L2 slices (split-K, sparse gradients).
    virtual Ticket atomic_add(const Access& access) = 0;
    /// Issues a matrix product to the tensor cores behind earlier ones of this SM; does not suspend (wgmma-like).
    virtual Ticket mma_async(const Mma& mma) = 0;

    /// Suspends until the ticket is ready.
    virtual Suspend wait(const Ticket& ticket) = 0;
    /// Issues and waits: the product's issue time on the tensor cores (results are pipelined into the next product).
    virtual Suspend mma(const Mma& mma) = 0;
    virtual Suspend vector(const Vector& work) = 0;
    /// Copies inside shared memory or between registers and shared memory.
    virtual Suspend shared(std::int64_t bytes) = 0;
    /// __syncthreads: the CTA's warps are one thread of control here, so it costs its latency.
    virtual Suspend barrier() = 0;
    /// Cooperative grid barrier; every CTA of the grid must be resident.
    virtual Suspend grid_sync() = 0;
};

}  // namespace rafter::program
