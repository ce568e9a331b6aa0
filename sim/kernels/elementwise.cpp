#include "sim/kernels/elementwise.h"

#include <algorithm>

#include "sim/kernels/layout.h"

namespace rafter::kernels {

using program::Access;
using program::Buffer;
using program::Cta;
using program::Path;
using program::Ticket;
using program::Vector;

namespace {

constexpr std::int64_t kPiece = 16;  // vector width: shares start and end on it

/// Byte at which share `index` of `shares` of an operand starts; the same fraction of every operand.
std::int64_t boundary(std::int64_t size, std::int64_t index, std::int64_t shares) {
    if (index >= shares) return size;
    __extension__ using Wide = __int128;
    const std::int64_t pieces = ceil_div(size, kPiece);
    return std::min(size, static_cast<std::int64_t>(Wide{pieces} * index / shares) * kPiece);
}

Access share(const Buffer& buffer, std::int64_t size, std::int64_t index, std::int64_t shares) {
    const std::int64_t from = boundary(size, index, shares);
    return span(buffer, from, boundary(size, index + 1, shares) - from);
}

}  // namespace

std::int64_t Elementwise::grid(const Parameters& p) {
    std::int64_t widest = 1;
    for (const std::int64_t size : p.reads) widest = std::max(widest, size);
    for (const std::int64_t size : p.writes) widest = std::max(widest, size);
    return ceil_div(widest, kBytes * kUnroll);
}

program::TileProgram Elementwise::run(Cta& cta, const std::vector<Buffer>& buffers) const {
    const std::int64_t index = cta.index();
    Ticket ticket;
    for (std::size_t i = 0; i < p_.reads.size(); ++i) {
        const Access in = share(buffers[i], p_.reads[i], index, p_.ctas);
        if (in.row_bytes > 0) ticket = later(ticket, cta.load(in, Path::streaming));
    }
    co_await cta.wait(ticket);
    const std::int64_t elements =
        boundary(p_.elements * kPiece, index + 1, p_.ctas) / kPiece - boundary(p_.elements * kPiece, index, p_.ctas) / kPiece;
    Vector work;
    work.fma = elements * p_.fma;
    work.sfu = elements * p_.sfu;
    work.integer = elements / 2;
    work.chain = p_.chain;
    co_await cta.vector(work);
    for (std::size_t i = 0; i < p_.writes.size(); ++i) {
        const Access out = share(buffers[p_.reads.size() + i], p_.writes[i], index, p_.ctas);
        if (out.row_bytes > 0) cta.store(out);
    }
}

}  // namespace rafter::kernels
