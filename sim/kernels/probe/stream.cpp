#include "sim/kernels/probe/stream.h"

#include <algorithm>

#include <fmt/format.h>

namespace rafter::kernels {

using program::Access;
using program::Buffer;
using program::Ticket;

namespace {

constexpr std::int64_t kIndexChain = 4;  // dependent instructions from the thread's number to its address

/// Calls visit with the one or two accesses that `size` bytes at `offset` of a cyclic array are.
template <class Visit>
void cyclic(const Buffer& buffer, std::int64_t offset, std::int64_t size, Visit visit) {
    while (size > 0) {
        const std::int64_t now = std::min(size, buffer.size - offset);
        visit(Access{buffer.base + offset, now, 1, now});
        size -= now;
        offset = 0;
    }
}

}  // namespace

std::int64_t Stream::bytes(const Parameters& p) {
    return p.grid * p.steps * p.unroll * p.threads * p.element * (p.reads + p.writes);
}

std::int64_t Stream::offset(std::int64_t cta, std::int64_t piece) const {
    const std::int64_t index = p_.stride > 0 ? piece * p_.stride + cta % p_.stride : cta * p_.steps * p_.unroll + piece;
    return index * p_.threads * p_.element % p_.array_bytes;
}

program::TileProgram Stream::run(program::Cta& cta, const std::vector<Buffer>& buffers) const {
    const std::int64_t index = cta.index(), piece = p_.threads * p_.element;
    const auto reads = static_cast<std::size_t>(p_.reads);
    program::Vector address, work;
    address.integer = p_.threads * p_.unroll * p_.integer;
    address.chain = kIndexChain;
    work.fma = p_.threads * p_.unroll * (p_.element / 8) * p_.half_fma / 2;
    work.dtype = DType::fp64;
    for (std::int64_t step = 0; step < p_.steps; ++step) {
        if (address.integer > 0) co_await cta.vector(address);
        Ticket latest;
        for (std::int64_t i = step * p_.unroll; i < (step + 1) * p_.unroll; ++i) {
            for (std::size_t array = 0; array < reads; ++array) {
                cyclic(buffers[array], offset(index, i), piece, [&](const Access& access) {
                    const Ticket ticket = cta.load(access, p_.path);
                    if (ticket.ready_fs > latest.ready_fs) latest = ticket;
                });
            }
        }
        if (reads > 0) co_await cta.wait(latest);
        if (work.fma > 0) co_await cta.vector(work);
        for (std::int64_t i = step * p_.unroll; i < (step + 1) * p_.unroll; ++i) {
            for (std::size_t array = reads; array < buffers.size(); ++array)
                cyclic(buffers[array], offset(index, i), piece, [&](const Access& access) { cta.store(access); });
        }
    }
}

program::Kernel stream_kernel(const Stream::Parameters& p) {
    program::Kernel kernel;
    kernel.name = "probe_stream";
    kernel.signature = fmt::format(
        "probe_stream;r={};w={};array={};threads={};element={};unroll={};steps={};grid={};stride={};fma={};int={};path={}",
        p.reads, p.writes, p.array_bytes, p.threads, p.element, p.unroll, p.steps, p.grid, p.stride, p.half_fma, p.integer,
        static_cast<int>(p.path));
    kernel.grid = p.grid;
    kernel.resources.threads = p.threads;
    for (std::int64_t i = 0; i < p.reads + p.writes; ++i)
        kernel.arguments.push_back(
            {fmt::format("array{}", i), p.array_bytes, i < p.reads ? program::Use::read : program::Use::write});
    kernel.code = std::make_shared<Stream>(p);
    kernel.dtype = DType::fp64;
    return kernel;
}

}  // namespace rafter::kernels
