#include "sim/kernels/embedding_bag.h"

#include <algorithm>

namespace rafter::kernels {

using program::Access;
using program::Buffer;
using program::Cta;
using program::Path;
using program::Ticket;
using program::Vector;

BagGroup bags_of(const EmbeddingBag::Parameters& p, std::int64_t from, std::int64_t to) {
    BagGroup bags;
    std::int64_t start = p.lengths.before(from), table = -1, table_start = 0;
    for (std::int64_t b = from; b < to; ++b) {
        if (b / p.batch != table) {
            table = b / p.batch;
            table_start = p.lengths.before(table * p.batch);
        }
        const std::int64_t length = p.lengths(b);
        bags[static_cast<std::size_t>(b - from)] = {table, start - table_start, length};
        start += length;
    }
    return bags;
}

std::int64_t row_of(const EmbeddingBag::Parameters& p, const std::vector<IndexSource>& indices, const Bag& bag, std::int64_t k) {
    const auto source = std::min(static_cast<std::size_t>(bag.table), indices.size() - 1);
    return indices[source].row(bag.table, bag.position + k) + (p.separate_tables ? 0 : p.rows_before(bag.table));
}

Ticket load_lists(const EmbeddingBag::Parameters& p, Cta& cta, const std::vector<Buffer>& buffers, std::int64_t from,
                  std::int64_t to) {
    const std::int64_t first = p.lengths.before(from), count = p.lengths.before(to) - first;
    if (count == 0) return {};
    const Access list = span(buffers[0], first * EmbeddingBag::kIndexBytes, count * EmbeddingBag::kIndexBytes);
    const Ticket indices = cta.load(list, Path::through_l1);
    if (!p.weighted) return indices;
    const Access weights =
        span(buffers[p.offsets ? 2 : 1], first * EmbeddingBag::kWeightBytes, count * EmbeddingBag::kWeightBytes);
    return later(indices, cta.load(weights, Path::through_l1));
}

Ticket EmbeddingBag::load_row(Cta& cta, const std::vector<Buffer>& buffers, const Bag& bag, std::int64_t k) const {
    const std::size_t tables = 1U + (p_.offsets ? 1U : 0U) + (p_.weighted ? 1U : 0U);
    const std::size_t which = p_.separate_tables ? tables + static_cast<std::size_t>(bag.table) : tables;
    return cta.load(table_.block(buffers[which], row_of(p_, indices_, bag, k), 1, 0, p_.dim), Path::through_l1);
}

// CTAs of one table are alike, and equal tables are.
program::Repeats EmbeddingBag::repeats(std::int64_t unit) const {
    const std::int64_t table = unit * kBagsPerCta / p_.batch;
    const std::int64_t first = ceil_div(table * p_.batch, kBagsPerCta), end = (table + 1) * p_.batch / kBagsPerCta;
    const bool uniform = p_.lengths.min == p_.lengths.max;
    program::Repeats all;
    all[0] = {first, std::max(end, unit + 1), 1, 0, true, uniform};
    if (p_.batch % kBagsPerCta == 0 && p_.row_offsets.empty()) all[1] = {0, grid(p_), p_.batch / kBagsPerCta, 0, true, uniform};
    return all;
}

/// Additions (weighted: multiply-adds) of `rows` rows, `deep` of them one after another in the same bag.
Vector EmbeddingBag::pool(std::int64_t rows, std::int64_t deep) const {
    Vector v;
    v.fma = rows * p_.dim;
    v.integer = rows * 32 + (bits(p_.weights) < 32 ? rows * p_.dim : 0);  // addresses; conversion to fp32
    v.chain = deep;
    return v;
}

/// A reciprocal a bag and a product a value.
Vector EmbeddingBag::divide(std::int64_t bags) const {
    Vector v;
    v.fma = bags * p_.dim;
    v.sfu = bags;
    v.chain = 2;
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

// For each group of eight bags (a warp each): where they begin; their indices; rows, kRowsInFlight deep, added as they come;
// store. Warps with short bags wait for the longest.
program::TileProgram EmbeddingBag::run(Cta& cta, const std::vector<Buffer>& buffers) const {
    const std::int64_t before = p_.first * p_.batch;
    const std::int64_t first = before + cta.index() * kBagsPerCta, last = std::min(first + kBagsPerCta, before + p_.bags());
    for (std::int64_t from = first; from < last; from += kWarps) {
        const std::int64_t to = std::min(from + kWarps, last);
        const Access begins = span(buffers[1], from * kIndexBytes, (to - from + 1) * kIndexBytes);
        if (p_.offsets) co_await cta.wait(cta.load(begins, Path::through_l1));
        const BagGroup bags = bags_of(p_, from, to);
        std::int64_t longest = 0, filled = 0;
        for (const Bag& bag : bags) longest = std::max(longest, bag.length), filled += bag.length > 0 ? 1 : 0;
        if (longest > 0) co_await cta.wait(load_lists(p_, cta, buffers, from, to));
        for (std::int64_t k = 0; k < longest; k += kRowsInFlight) {
            std::int64_t loaded = 0;
            Ticket rows;
            for (const Bag& bag : bags) {
                const std::int64_t end = std::min(k + kRowsInFlight, bag.length);
                for (std::int64_t i = k; i < end; ++i) rows = later(rows, load_row(cta, buffers, bag, i)), ++loaded;
            }
            co_await cta.wait(rows);
            const Vector work = pool(loaded, std::min(kRowsInFlight, longest - k));
            co_await cta.vector(work);
        }
        const Vector last_step = divide(filled);
        if (p_.mean && filled > 0) co_await cta.vector(last_step);
        store_bags(cta, buffers.back(), from, to);
    }
}

}  // namespace rafter::kernels
