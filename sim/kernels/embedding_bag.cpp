#include "sim/kernels/embedding_bag.h"

#include <algorithm>

namespace rafter::kernels {

using program::Access;
using program::Buffer;
using program::Cta;
using program::Path;
using program::Ticket;
using program::Vector;

/// Row `k` of a bag; bags are numbered table by table.
Ticket EmbeddingBag::load_row(Cta& cta, const std::vector<Buffer>& buffers, std::int64_t bag, std::int64_t k) const {
    const std::int64_t table = bag / p_.batch, sample = bag % p_.batch;
    const std::int64_t row = indices_.row(table, sample * p_.pooling + k);
    const std::size_t which = p_.separate_tables ? static_cast<std::size_t>(1 + table) : 1;
    const Access access = table_.block(buffers[which], p_.separate_tables ? row : table * p_.rows + row, 1, 0, p_.dim);
    return cta.load(access, Path::through_l1);
}

// CTAs of one table are alike, and tables are.
program::Repeats EmbeddingBag::repeats(std::int64_t unit) const {
    const std::int64_t table = unit * kBagsPerCta / p_.batch;
    const std::int64_t first = ceil_div(table * p_.batch, kBagsPerCta), end = (table + 1) * p_.batch / kBagsPerCta;
    program::Repeats all;
    all[0] = {first, std::max(end, unit + 1), 1, 0, true};
    if (p_.batch % kBagsPerCta == 0) all[1] = {0, grid(p_), p_.batch / kBagsPerCta, 0, true};
    return all;
}

/// Additions of `rows` rows, `deep` of them one after another in the same bag.
Vector EmbeddingBag::pool(std::int64_t rows, std::int64_t deep) const {
    Vector v;
    v.fma = rows * p_.dim;
    v.integer = rows * 32 + (bits(p_.weights) < 32 ? rows * p_.dim : 0);  // addresses; conversion to fp32
    v.chain = deep;
    return v;
}

void EmbeddingBag::store_bags(Cta& cta, const Buffer& out, std::int64_t from, std::int64_t to) const {
    const Matrix row = Matrix::packed(p_.dim * p_.tables, p_.out);
    while (from < to) {  // bags of one table are a column block of the output
        const std::int64_t table = from / p_.batch, sample = from % p_.batch;
        const std::int64_t count = std::min(to - from, p_.batch - sample);
        const Access block = row.block(out, sample, count, table * p_.dim, p_.dim);
        cta.store(block);
        from += count;
    }
}

// indices of all bags; then for each group of eight bags (a warp each): rows, kRowsInFlight deep, added as they come; store.
program::TileProgram EmbeddingBag::run(Cta& cta, const std::vector<Buffer>& buffers) const {
    const std::int64_t first = cta.index() * kBagsPerCta, last = std::min(first + kBagsPerCta, p_.bags());
    for (std::int64_t bag = first; bag < last; bag += kWarps) {
        const std::int64_t end = std::min(bag + kWarps, last);
        const Access list = span(buffers[0], bag * p_.pooling * kIndexBytes, (end - bag) * p_.pooling * kIndexBytes);
        co_await cta.wait(cta.load(list, Path::through_l1));
        for (std::int64_t k = 0; k < p_.pooling; k += kRowsInFlight) {
            const std::int64_t deep = std::min(kRowsInFlight, p_.pooling - k);
            Ticket rows;
            for (std::int64_t b = bag; b < end; ++b) {
                for (std::int64_t i = 0; i < deep; ++i) rows = later(rows, load_row(cta, buffers, b, k + i));
            }
            co_await cta.wait(rows);
            const Vector work = pool((end - bag) * deep, deep);
            co_await cta.vector(work);
        }
        store_bags(cta, buffers.back(), bag, end);
    }
}

}  // namespace rafter::kernels
