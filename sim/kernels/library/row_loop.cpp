#include "sim/kernels/library/row_loop.h"

#include <algorithm>

#include <fmt/format.h>

#include "sim/kernels/layout.h"

namespace rafter::kernels {

using program::Access;
using program::Buffer;
using program::Cta;
using program::Path;
using program::Ticket;
using program::Vector;

std::string RowLoop::Parameters::text() const {
    std::string text = fmt::format("{},{},{},{},{}", rows, rows_per_cta, cols, step, padded);
    for (const Pass& pass : passes) {
        text += fmt::format("|{},{},{},{},{},{},{}", pass.integer, pass.fma, pass.sfu, pass.chain, pass.reduction, pass.barriers,
                            pass.shared_reads);
        if (pass.atomic) text += "a";
        for (const Stream& s : pass.loads) text += fmt::format("r{}.{}{}", s.buffer, s.row_bytes, s.shared ? "s" : "");
        for (const Stream& s : pass.stores) text += fmt::format("w{}.{}{}", s.buffer, s.row_bytes, s.shared ? "s" : "");
    }
    return text;
}

/// What a step from `column` on touches of a stream, whose rows may be wider or narrower than the row worked on.
Access RowLoop::part(const Stream& stream, const Buffer& buffer, std::int64_t row, std::int64_t rows, std::int64_t column) const {
    const std::int64_t end = std::min(column + p_.step, p_.cols);
    const std::int64_t from = stream.row_bytes * column / p_.cols, to = stream.row_bytes * end / p_.cols;
    const std::int64_t base = buffer.base + from + (stream.shared ? 0 : row * stream.row_bytes);
    return {base, to - from, stream.shared ? 1 : rows, stream.row_bytes};
}

Vector RowLoop::work(const Pass& pass, std::int64_t elements) const {
    const std::int64_t lanes = elements * p_.padded / p_.cols;
    Vector v;
    v.integer = lanes * pass.integer;
    v.fma = lanes * pass.fma;
    v.sfu = lanes * pass.sfu;
    v.shared_bytes = elements * pass.shared_reads;
    v.chain = pass.chain;
    return v;
}

// for each pass: for each step: load; compute; store. Between passes: reduce over the CTA.
program::TileProgram RowLoop::run(Cta& cta, const std::vector<Buffer>& buffers) const {
    const std::int64_t row = cta.index() * p_.rows_per_cta, rows = std::min(p_.rows_per_cta, p_.rows - row);
    for (const Pass& pass : p_.passes) {
        for (std::int64_t column = 0; column < p_.cols; column += p_.step) {
            Ticket loaded;
            for (const Stream& stream : pass.loads) {
                const Access data = part(stream, buffers[stream.buffer], row, rows, column);
                if (data.row_bytes > 0) loaded = later(loaded, cta.load(data, Path::through_l1));
            }
            co_await cta.wait(loaded);
            const Vector compute = work(pass, rows * (std::min(column + p_.step, p_.cols) - column));
            co_await cta.vector(compute);
            for (const Stream& stream : pass.stores) {
                const Access data = part(stream, buffers[stream.buffer], row, rows, column);
                if (data.row_bytes > 0) cta.store(data);
            }
        }
        if (pass.reduction == 0) continue;
        Vector reduce;
        reduce.chain = pass.reduction;
        co_await cta.vector(reduce);
        for (std::int64_t i = 0; i < pass.barriers; ++i) co_await cta.barrier();
        if (pass.atomic) cta.atomic_add({buffers.back().base, 4, 1, 4});
    }
}

}  // namespace rafter::kernels
