#include "sim/kernels/attention_prefill.h"

#include <algorithm>

namespace rafter::kernels {

using program::Access;
using program::Buffer;
using program::Cta;
using program::Mma;
using program::Path;
using program::Ticket;
using program::Vector;

namespace {

constexpr std::int64_t kAhead = 3;  // key blocks that are on their way, at most

}  // namespace

std::string AttentionPrefill::Parameters::text() const {
    std::string s;
    for (const std::int64_t field : {batch, heads, kv_heads, seq_q, seq_kv, window, q.offset, q.pitch, k.offset, k.pitch,
                                     v.offset, q_stride, k_stride, v_stride, heads_together}) {
        s += std::to_string(field) + ",";
    }
    return s + (causal ? "c," : "f,") + (overlaps ? "o," : "s,") + (longest_first ? "l," : "n,") + block.text();
}

std::int64_t AttentionPrefill::Parameters::first_key(std::int64_t row) const {
    if (window == 0) return 0;
    const std::int64_t reach = causal ? window - 1 : window / 2;
    return std::max<std::int64_t>(0, seq_kv - seq_q + row - reach) / block.tile.n * block.tile.n;
}

std::int64_t AttentionPrefill::Parameters::last_key(std::int64_t row, std::int64_t rows) const {
    const std::int64_t ahead = causal ? 0 : window > 0 ? window / 2 : seq_kv;
    return std::min(seq_kv, seq_kv - seq_q + row + rows + ahead);
}

Count AttentionPrefill::Parameters::issued_macs() const {
    Count total = 0;
    for (std::int64_t row = 0; row < seq_q; row += block.tile.m) {
        const std::int64_t rows = std::min(block.tile.m, seq_q - row), last = last_key(row, rows);
        for (std::int64_t key = first_key(row); key < last; key += block.tile.n) {
            const Mma s = block.scores(rows, std::min(block.tile.n, last - key));
            const Mma o = block.values(rows, std::min(block.tile.n, last - key));
            total += Count(s.m) * Count(s.n) * Count(s.k) + Count(o.m) * Count(o.n) * Count(o.k);
        }
    }
    return total * Count(batch) * Count(heads);
}

AttentionPrefill::AttentionPrefill(const Parameters& p)
    : p_(p), out_(Matrix::packed(p.heads * p.block.head_dim_v, p.block.compute)) {}

// Groups of heads whose K and V fit the L2 together; inside a group the query blocks with most keys first, so that no long CTA is
// left for the end.
AttentionPrefill::Work AttentionPrefill::work(std::int64_t index) const {
    const std::int64_t blocks = p_.q_blocks(), pairs = p_.batch * p_.heads;
    const std::int64_t group = index / (p_.heads_together * blocks), first = group * p_.heads_together;
    const std::int64_t width = std::min(p_.heads_together, pairs - first), inside = index - first * blocks;
    const std::int64_t pair = first + inside % width;
    const std::int64_t block = p_.causal && p_.longest_first ? blocks - 1 - inside / width : inside / width;
    const std::int64_t row = block * p_.block.tile.m, rows = std::min(p_.block.tile.m, p_.seq_q - row);
    if (!p_.longest_first) return {pair % p_.batch, pair / p_.batch, row, rows, p_.first_key(row), p_.last_key(row, rows)};
    return {pair / p_.heads, pair % p_.heads, row, rows, p_.first_key(row), p_.last_key(row, rows)};
}

// Query blocks of one group of heads are alike when all see all keys; groups of heads are alike whatever the mask.
program::Repeats AttentionPrefill::repeats(std::int64_t unit) const {
    const std::int64_t blocks = p_.q_blocks(), in_group = p_.heads_together * blocks, pairs = p_.batch * p_.heads;
    const std::int64_t whole = pairs / p_.heads_together * in_group;
    program::Repeats all;
    all[1] = unit < whole ? program::Repeat{0, whole, in_group, 0, false, !p_.causal}
                          : program::Repeat{whole, pairs * blocks, in_group};
    if (p_.causal || p_.window > 0) return all;
    const std::int64_t group = unit / in_group, from = group * in_group;
    const std::int64_t width = std::min(p_.heads_together, pairs - group * p_.heads_together);
    const std::int64_t full = from + p_.seq_q / p_.block.tile.m * width, end = from + blocks * width;
    all[0] = unit < full ? program::Repeat{from, full, width} : program::Repeat{full, end, width};
    return all;
}

Ticket AttentionPrefill::load_k(Cta& cta, const std::vector<Buffer>& buffers, const Work& w, std::int64_t key) const {
    const std::int64_t head = w.head / (p_.heads / p_.kv_heads);
    Access a = p_.k.block(buffers[1], key, keys(w, key), head * p_.block.head_dim, p_.block.head_dim);
    a.address += w.sequence * p_.k_stride;
    return cta.load(a, Path::async_copy);
}

Ticket AttentionPrefill::load_v(Cta& cta, const std::vector<Buffer>& buffers, const Work& w, std::int64_t key) const {
    const std::int64_t head = w.head / (p_.heads / p_.kv_heads);
    Access a = p_.v.block(buffers[2], key, keys(w, key), head * p_.block.head_dim_v, p_.block.head_dim_v);
    a.address += w.sequence * p_.v_stride;
    return cta.load(a, Path::async_copy);
}

Ticket AttentionPrefill::load_q(Cta& cta, const std::vector<Buffer>& buffers, const Work& w) const {
    Access q = p_.q.block(buffers[0], w.row, w.rows, w.head * p_.block.head_dim, p_.block.head_dim);
    q.address += w.sequence * p_.q_stride;
    return cta.load(q, Path::async_copy);
}

Access AttentionPrefill::output(const Buffer& buffer, const Work& w) const {
    return out_.block(buffer, w.sequence * p_.seq_q + w.row, w.rows, w.head * p_.block.head_dim_v, p_.block.head_dim_v);
}

program::TileProgram AttentionPrefill::run(Cta& cta, const std::vector<Buffer>& buffers) const {
    Work w = work(cta.index());
    const std::int64_t step = p_.block.tile.n;
    const Vector prologue = AttentionBlock::prologue();
    co_await cta.vector(prologue);
    const Ticket queries = load_q(cta, buffers, w);
    Ticket next_k = w.first < w.last ? load_k(cta, buffers, w, w.first) : queries;
    Ticket s, o;
    co_await cta.wait(queries);
    if (p_.overlaps && w.first < w.last) {
        co_await cta.wait(next_k);
        s = cta.mma_async(p_.block.scores(w.rows, keys(w, w.first)));
        if (w.first + step < w.last) next_k = load_k(cta, buffers, w, w.first + step);
    }
    for (std::int64_t key = w.first; key < w.last; key += step) {
        const std::int64_t done = (key - w.first) / step, left = (w.last - key) / step - kAhead;
        w.last -= step * cta.step(done, done + left, 1);
        const std::int64_t now = keys(w, key);
        const bool more = key + step < w.last;
        if (p_.block.paged) {
            const Vector lookup = p_.block.lookup();
            co_await cta.vector(lookup);
        }
        const Ticket v = load_v(cta, buffers, w, key);
        if (p_.overlaps) {  // S of the next block runs under the softmax of this one
            co_await cta.wait(s);
            if (more) {
                co_await cta.wait(next_k);
                s = cta.mma_async(p_.block.scores(w.rows, keys(w, key + step)));
                if (key + 2 * step < w.last) next_k = load_k(cta, buffers, w, key + 2 * step);
            }
        } else {
            co_await cta.wait(next_k);
            co_await cta.barrier();
            const Mma scores = p_.block.scores(w.rows, now);
            co_await multiply(cta, scores, p_.block.tensor);
            if (p_.block.paged && more) {
                const Vector lookup = p_.block.lookup();
                co_await cta.vector(lookup);
            }
            if (more) next_k = load_k(cta, buffers, w, key + step);
        }
        for (int pass = 0; pass < AttentionBlock::kPasses; ++pass) {
            const Vector softmax = p_.block.softmax(pass, w.rows, now);
            co_await cta.vector(softmax);
        }
        co_await cta.wait(v);
        co_await cta.barrier();
        const Mma values = p_.block.values(w.rows, now);
        if (p_.overlaps) {
            o = cta.mma_async(values);
        } else {
            co_await multiply(cta, values, p_.block.tensor);
        }
    }
    co_await cta.wait(o);
    const Vector finish = p_.block.finish(w.rows);
    co_await cta.vector(finish);
    cta.store(output(buffers.back(), w));
}

}  // namespace rafter::kernels
