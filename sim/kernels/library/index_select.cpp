#include "sim/kernels/library/index_select.h"

#include <algorithm>

#include "sim/kernels/layout.h"

namespace rafter::kernels {

using program::Access;
using program::Buffer;
using program::Cta;
using program::Path;
using program::Vector;

namespace {

// Lane operations of a thread's element. A 32-bit division is about 20 integer instructions around a reciprocal and two
// conversions, all dependent on each other; there are three, and the rest is address arithmetic.
constexpr std::int64_t kDivisions = 3, kPerDivision = 20, kOther = 40;
constexpr std::int64_t kSfuPerDivision = 3;

Vector arithmetic(std::int64_t elements, std::int64_t divisions, std::int64_t other) {
    Vector v;
    v.integer = elements * (divisions * kPerDivision + other);
    v.sfu = elements * divisions * kSfuPerDivision;
    v.chain = divisions * (kPerDivision + 2 * kSfuPerDivision) + other / 2;
    return v;
}

}  // namespace

// which row: a division; its index; where in source and destination: two more; the element; store.
program::TileProgram IndexSelect::run(Cta& cta, const std::vector<Buffer>& buffers) const {
    const Matrix table = Matrix::packed(p_.dim, p_.dtype);
    const std::int64_t stride = p_.ctas * kThreads;
    std::int64_t steps = ceil_div(p_.elements() - cta.index() * kThreads, stride);
    for (std::int64_t step = 0; step < steps; ++step) {
        steps -= cta.step(step, steps, 1);
        const std::int64_t first = cta.index() * kThreads + step * stride;
        const std::int64_t last = std::min(first + kThreads, p_.elements());
        const Vector find_row = arithmetic(last - first, 1, kOther / 4);
        co_await cta.vector(find_row);
        const std::int64_t token = first / p_.dim, tokens = (last - 1) / p_.dim - token + 1;
        const Access list = span(buffers[0], token * 8, tokens * 8);
        co_await cta.wait(cta.load(list, Path::through_l1));
        const Vector address = arithmetic(last - first, kDivisions - 1, kOther);
        co_await cta.vector(address);
        program::Ticket rows;
        for (std::int64_t at = first; at < last;) {
            const std::int64_t column = at % p_.dim, count = std::min(last - at, p_.dim - column);
            const Access row = table.block(buffers[1], indices_.row(0, at / p_.dim), 1, column, count);
            rows = later(rows, cta.load(row, Path::through_l1));
            at += count;
        }
        co_await cta.wait(rows);
        const Access out = span(buffers[2], first * bits(p_.dtype) / 8, (last - first) * bits(p_.dtype) / 8);
        cta.store(out);
    }
}

}  // namespace rafter::kernels
