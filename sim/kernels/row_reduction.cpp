#include "sim/kernels/row_reduction.h"

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

constexpr std::int64_t kTreeDepth = 5 + 3;  // shuffles over a warp, then over the warps of the CTA
constexpr std::int64_t kPassBytes = 16 * 1024;

}  // namespace

std::int64_t RowReduction::rows_per_cta(std::int64_t rows, std::int64_t row_bytes, std::int64_t sms) {
    const std::int64_t by_size = std::max<std::int64_t>(1, kBytesPerCta / std::max<std::int64_t>(row_bytes, 1));
    return std::clamp<std::int64_t>(ceil_div(rows, 4 * sms), 1, by_size);
}

std::int64_t RowReduction::threads(const Parameters& p) {
    const std::int64_t bytes = p.cols * p.rows_per_cta * bits(p.dtype) / 8;
    return std::clamp<std::int64_t>(round_up(ceil_div(bytes, 32), 128), 128, 1024);
}

Vector RowReduction::work(std::int64_t elements) const {
    Vector v;
    v.fma = elements * p_.fma;
    v.sfu = elements * p_.sfu;
    v.integer = elements / 2;
    v.shared_bytes = 2 * 4 * 32;
    v.chain = kTreeDepth * 2 + ceil_div(elements, threads(p_)) / 4;
    return v;
}

// load a piece; reduce; (long rows: load again); scale; store.
program::TileProgram RowReduction::run(Cta& cta, const std::vector<Buffer>& buffers) const {
    const Matrix in = Matrix::packed(p_.cols, p_.dtype);
    const std::int64_t row = cta.index() * p_.rows_per_cta, rows = std::min(p_.rows_per_cta, p_.rows - row);
    const std::int64_t row_bytes = p_.cols * in.bits / 8;
    const bool resident = row_bytes <= kRowBytesInRegisters;
    const std::int64_t piece = resident ? p_.cols : std::max<std::int64_t>(1, kPassBytes * 8 / in.bits);

    Ticket scales;
    for (std::size_t i = 0; i < p_.parameter_bytes.size(); ++i) {
        const Access vector = span(buffers[(p_.residual ? 2U : 1U) + i], 0, p_.parameter_bytes[i]);
        scales = later(scales, cta.load(vector, Path::through_l1));
    }
    for (std::int64_t column = 0; column < p_.cols; column += piece) {
        const std::int64_t columns = std::min(piece, p_.cols - column);
        const Access data = in.block(buffers[0], row, rows, column, columns);
        Ticket loaded = cta.load(data, Path::streaming);
        const Access stream = in.block(buffers[p_.residual ? 1 : 0], row, rows, column, columns);
        if (p_.residual) loaded = later(loaded, cta.load(stream, Path::streaming));
        co_await cta.wait(loaded);
        const Vector reduce = work(rows * columns);
        co_await cta.vector(reduce);
        if (p_.residual) cta.store(stream);
    }
    co_await cta.barrier();
    if (!p_.keeps_rows) {
        const Access sums = Matrix::packed(1, p_.dtype).block(buffers.back(), row, rows, 0, 1);
        cta.store(sums);
        co_return;
    }
    co_await cta.wait(scales);
    for (std::int64_t column = 0; column < p_.cols; column += piece) {
        const std::int64_t columns = std::min(piece, p_.cols - column);
        if (!resident) {
            const Access again = in.block(buffers[0], row, rows, column, columns);
            co_await cta.wait(cta.load(again, Path::streaming));
            const Vector scale = work(rows * columns);
            co_await cta.vector(scale);
        }
        const Access out = in.block(buffers.back(), row, rows, column, columns);
        cta.store(out);
    }
}

}  // namespace rafter::kernels
