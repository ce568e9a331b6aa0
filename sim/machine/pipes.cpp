#include "sim/machine/pipes.h"

#include <algorithm>

#include "sim/core/error.h"

namespace rafter::machine {

using stats::Cause;

namespace {

constexpr std::int64_t kWarp = 32;

/// k of one MMA instruction: 32 bytes of each operand row (16 fp16, 8 tf32, 32 int8), 4 for fp64.
std::int64_t instruction_k(DType dtype) { return dtype == DType::fp64 ? 4 : std::max<std::int64_t>(4, 256 / bits(dtype)); }

void extend(Pipes::Done& done, Fs at, Cause cause) {
    if (at > done.at) done = {at, cause};
}

}  // namespace

std::int64_t flop_per_clk(const config::HwConfig& gpu, DType dtype, bool tensor) {
    if (tensor) {
        const auto rate = gpu.tensor.flop_per_clk.find(dtype);
        RAFTER_CHECK(rate != gpu.tensor.flop_per_clk.end(), "no tensor cores for this dtype");
        return rate->second;
    }
    const std::int64_t lanes = dtype == DType::fp64                             ? gpu.sm.fp64_fma_per_clk
                               : (dtype == DType::fp16 || dtype == DType::bf16) ? gpu.sm.fp16_fma_per_clk
                                                                                : gpu.sm.fp32_fma_per_clk;
    RAFTER_CHECK(lanes > 0, "no vector lanes for this dtype");
    return 2 * lanes;
}

void Pipes::begin_kernel(Hertz clk) {
    clk_ = clk;
    barrier_ = clocks(gpu_.sm.barrier_latency_clk, clk).value;
    tensor_latency_ = clocks(gpu_.tensor.latency_clk, clk).value;
    fma_latency_ = clocks(gpu_.sm.fma_latency_clk, clk).value;
    shared_latency_ = clocks(gpu_.sm.shared_latency_clk, clk).value;
    for (model::Pipe* pipe : {&tensor_, &fma_, &integer_, &sfu_, &shared_, &issue_}) pipe->reset();
    shared_bytes_ = 0;
    lanes_ = {};
}

/// Time of `amount` operations at `per_clk` operations a clock, rounded up to a femtosecond.
Fs Pipes::at_rate(std::int64_t amount, std::int64_t per_clk) const {
    if (amount == 0) return 0;
    return clocks(amount, Hertz(clk_.value * per_clk)).value;
}

Pipes::Done Pipes::mma(const program::Mma& mma, Fs now) {
    const Fs work = at_rate(2 * mma.m * mma.n * mma.k, flop_per_clk(gpu_, mma.dtype, true));
    Done done{tensor_.reserve(now, work), Cause::tensor};
    const Fs chain = ceil_div(mma.k, instruction_k(mma.dtype)) * tensor_latency_;  // accumulating products depend on each other
    extend(done, now + chain, Cause::dependency);
    if (mma.shared_bytes > 0) {
        extend(done, shared_.reserve(now, at_rate(mma.shared_bytes, gpu_.sm.shared_bytes_per_clk)), Cause::shared_memory);
        shared_bytes_ += mma.shared_bytes;
    }
    return done;
}

void Pipes::count(const program::Vector& work) {
    std::int64_t& flops = work.dtype == DType::fp64                                  ? lanes_.fp64_flops
                          : (work.dtype == DType::fp16 || work.dtype == DType::bf16) ? lanes_.fp16_flops
                                                                                     : lanes_.fp32_flops;
    flops += 2 * work.fma;
    lanes_.operations += work.integer + work.sfu;
}

Pipes::Done Pipes::vector(const program::Vector& work, Fs now) {
    count(work);
    Done done{now + work.chain * fma_latency_, Cause::dependency};
    if (work.fma > 0) extend(done, fma_.reserve(now, at_rate(2 * work.fma, flop_per_clk(gpu_, work.dtype, false))), Cause::fma);
    if (work.integer > 0) extend(done, integer_.reserve(now, at_rate(work.integer, gpu_.sm.int32_ops_per_clk)), Cause::fma);
    if (work.sfu > 0) extend(done, sfu_.reserve(now, at_rate(work.sfu, gpu_.sm.sfu_ops_per_clk)), Cause::sfu);
    const std::int64_t instructions = ceil_div(work.fma + work.integer + work.sfu, kWarp);
    extend(done, issue_.reserve(now, at_rate(instructions, gpu_.sm.issue_slots_per_clk)), Cause::fma);
    if (work.shared_bytes > 0) {
        extend(done, shared_.reserve(now, at_rate(work.shared_bytes, gpu_.sm.shared_bytes_per_clk)), Cause::shared_memory);
        shared_bytes_ += work.shared_bytes;
    }
    if (work.exclusive) tensor_.reserve(now, done.at - now);
    return done;
}

Pipes::Done Pipes::shared(std::int64_t bytes, Fs now) {
    shared_bytes_ += bytes;
    const Fs moved = shared_.reserve(now, at_rate(bytes, gpu_.sm.shared_bytes_per_clk));
    return {moved + shared_latency_, Cause::shared_memory};
}

std::array<Pipes::Busy, 4> Pipes::busy() const {
    const model::Pipe& vector = fma_.free_at() >= issue_.free_at() ? fma_ : issue_;
    return {{{tensor_.busy_from(), tensor_.free_at(), Cause::tensor},
             {vector.busy_from(), vector.free_at(), Cause::fma},
             {sfu_.busy_from(), sfu_.free_at(), Cause::sfu},
             {shared_.busy_from(), shared_.free_at(), Cause::shared_memory}}};
}

}  // namespace rafter::machine
