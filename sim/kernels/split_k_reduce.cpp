#include "sim/kernels/split_k_reduce.h"

#include <algorithm>

#include "sim/kernels/layout.h"

namespace rafter::kernels {

using program::Access;
using program::Buffer;
using program::Cta;
using program::Path;
using program::Ticket;
using program::Vector;

/// Bias of the columns that [from, from + count) of the flat output touches, and that part of the residual.
Ticket SplitKReduce::load_operands(Cta& cta, const std::vector<Buffer>& buffers, std::int64_t from, std::int64_t count) const {
    const std::int64_t size = bits(epilogue_.bias_type) / 8, out = bits(epilogue_.out) / 8, halves = epilogue_.gated ? 2 : 1;
    std::size_t next = 1;
    Ticket ticket;
    if (epilogue_.bias) {
        const Buffer& bias = buffers[next++];
        const std::int64_t first = count >= n_ ? 0 : from % n_;
        const std::int64_t here = count >= n_ ? n_ : std::min(count, n_ - first);
        ticket = cta.load(span(bias, epilogue_.bias_offset + first * size, here * size), Path::through_l1);
        const std::int64_t wrapped = count >= n_ ? 0 : count - here;
        if (wrapped > 0) ticket = later(ticket, cta.load(span(bias, epilogue_.bias_offset, wrapped * size), Path::through_l1));
    }
    if (epilogue_.residual)
        ticket = later(ticket, cta.load(span(buffers[next], from / halves * out, count / halves * out), Path::streaming));
    return ticket;
}

program::TileProgram SplitKReduce::run(Cta& cta, const std::vector<Buffer>& buffers) const {
    const std::int64_t from = cta.index() * kElements, count = std::min(kElements, elements_ - from);
    Ticket ticket = load_operands(cta, buffers, from, count);
    for (std::int64_t split = 0; split < splits_; ++split) {
        const Access partial = span(buffers[0], (split * elements_ + from) * 4, count * 4);
        ticket = later(ticket, cta.load(partial, Path::streaming));
    }
    co_await cta.wait(ticket);
    Vector work = epilogue_.work(count, 0);
    work.fma += count * splits_;
    work.chain += splits_;
    co_await cta.vector(work);
    const std::int64_t halves = epilogue_.gated ? 2 : 1, size = bits(epilogue_.out) / 8;
    const Access out = span(buffers.back(), from / halves * size, count / halves * size);
    cta.store(out);
}

}  // namespace rafter::kernels
