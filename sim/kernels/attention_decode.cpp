#include "sim/kernels/attention_decode.h"

#include <algorithm>

namespace rafter::kernels {

using program::Access;
using program::Buffer;
using program::Cta;
using program::Mma;
using program::Path;
using program::Ticket;
using program::Vector;

std::int64_t decode_splits(std::int64_t work, std::int64_t slots, std::int64_t kv_blocks) {
    if (static_cast<double>(work) >= 0.8 * static_cast<double>(slots)) return 1;
    const std::int64_t most = std::min({std::int64_t{128}, slots, kv_blocks});
    const auto eligible = [&](std::int64_t s) { return s == 1 || ceil_div(kv_blocks, s) != ceil_div(kv_blocks, s - 1); };
    const auto fill = [&](std::int64_t s) {
        const double waves = static_cast<double>(work * s) / static_cast<double>(slots);
        return waves / static_cast<double>(ceil_div(work * s, slots));
    };
    double best = 0.0;
    for (std::int64_t s = 1; s <= most; ++s) {
        if (eligible(s)) best = std::max(best, fill(s));
    }
    for (std::int64_t s = 1; s <= most; ++s) {
        if (eligible(s) && fill(s) >= 0.85 * best) return s;
    }
    return 1;
}

Count AttentionDecode::Parameters::issued_macs() const {
    Count total = 0;
    const std::int64_t per_split = ceil_div(kv_blocks(), splits) * block.tile.n;
    for (std::int64_t row = 0; row < rows(); row += block.tile.m) {
        const std::int64_t here = std::min(block.tile.m, rows() - row);
        for (std::int64_t split = 0; split < splits; ++split) {
            const std::int64_t last = std::min(held, (split + 1) * per_split);
            for (std::int64_t key = split * per_split; key < last; key += block.tile.n) {
                const Mma s = block.scores(here, std::min(block.tile.n, last - key));
                const Mma o = block.values(here, std::min(block.tile.n, last - key));
                total += Count(s.m) * Count(s.n) * Count(s.k) + Count(o.m) * Count(o.n) * Count(o.k);
            }
        }
    }
    return total * Count(batch) * Count(kv_heads);
}

std::string AttentionDecode::Parameters::text() const {
    std::string s;
    for (const std::int64_t v : {batch, heads, kv_heads, seq_q, held, splits}) s += std::to_string(v) + ",";
    return s + block.text();
}

AttentionDecode::AttentionDecode(const Parameters& p)
    : p_(p),
      q_(Matrix::packed(p.heads * p.block.head_dim, p.block.compute)),
      k_(Matrix::packed(p.kv_heads * p.block.head_dim, p.block.kv)),
      v_(Matrix::packed(p.kv_heads * p.block.head_dim_v, p.block.kv)) {
    v_.offset = k_.pitch * p.held * p.batch;
}

AttentionDecode::Work AttentionDecode::work(std::int64_t index) const {
    const std::int64_t block = index % p_.q_blocks(), split = index / p_.q_blocks() % p_.splits;
    const std::int64_t pair = index / (p_.q_blocks() * p_.splits);
    const std::int64_t per_split = ceil_div(p_.kv_blocks(), p_.splits) * p_.block.tile.n;
    const std::int64_t row = block * p_.block.tile.m;
    return {pair / p_.kv_heads,
            pair % p_.kv_heads,
            split,
            row,
            std::min(p_.block.tile.m, p_.rows() - row),
            split * per_split,
            std::min(p_.held, (split + 1) * per_split)};
}

/// Heads of one group are neighbours: a token's group is one piece. Rows are (token, head of the group).
void AttentionDecode::load_queries(Cta& cta, const Buffer& q, const Work& w, Ticket& ticket) const {
    const std::int64_t group = p_.heads / p_.kv_heads;
    for (std::int64_t row = w.row; row < w.row + w.rows;) {
        const std::int64_t token = row / group, head = row % group, count = std::min(group - head, w.row + w.rows - row);
        const Access a = q_.block(q, w.sequence * p_.seq_q + token, 1, (w.kv_head * group + head) * p_.block.head_dim,
                                  count * p_.block.head_dim);
        ticket = later(ticket, cta.load(a, Path::async_copy));
        row += count;
    }
}

Ticket AttentionDecode::load(Cta& cta, const Matrix& cache, std::int64_t dim, const Buffer& buffer, const Work& w,
                             std::int64_t key) const {
    const Access a = cache.block(buffer, w.sequence * p_.held + key, keys(w, key), w.kv_head * dim, dim);
    return cta.load(a, Path::async_copy);
}

void AttentionDecode::store(Cta& cta, const Buffer& out, const Work& w) const {
    const std::int64_t dim = p_.block.head_dim_v, group = p_.heads / p_.kv_heads;
    if (p_.splits > 1) {
        const std::int64_t row = (w.split * p_.batch + w.sequence) * p_.kv_heads * p_.rows() + w.kv_head * p_.rows() + w.row;
        cta.store(span(out, row * dim * 4, w.rows * dim * 4));
        cta.store(span(out, (p_.splits * p_.output_rows() * dim + row) * 4, w.rows * 4));
        return;
    }
    const Matrix matrix = Matrix::packed(p_.heads * dim, p_.block.compute);
    for (std::int64_t row = w.row; row < w.row + w.rows;) {
        const std::int64_t token = row / group, head = row % group, count = std::min(group - head, w.row + w.rows - row);
        cta.store(matrix.block(out, w.sequence * p_.seq_q + token, 1, (w.kv_head * group + head) * dim, count * dim));
        row += count;
    }
}

// K of the next block loads under the softmax and P V of this one, V of a block under its S.
program::TileProgram AttentionDecode::run(Cta& cta, const std::vector<Buffer>& buffers) const {
    Work w = work(cta.index());
    const std::int64_t step = p_.block.tile.n;
    const Vector prologue = AttentionBlock::prologue();
    co_await cta.vector(prologue);
    Ticket next_k = load(cta, k_, p_.block.head_dim, buffers[1], w, w.first);
    Ticket queries;
    load_queries(cta, buffers[0], w, queries);
    co_await cta.wait(queries);
    for (std::int64_t key = w.first; key < w.last; key += step) {
        const std::int64_t done = (key - w.first) / step, left = (w.last - key) / step - 2;
        w.last -= step * cta.step(done, done + left, 1);
        if (p_.block.paged) {
            const Vector lookup = p_.block.lookup();
            co_await cta.vector(lookup);
        }
        const Ticket v = load(cta, v_, p_.block.head_dim_v, buffers[1], w, key);
        co_await cta.wait(next_k);
        co_await cta.barrier();
        const Mma scores = p_.block.scores(w.rows, keys(w, key));
        co_await multiply(cta, scores, p_.block.tensor);
        if (p_.block.paged && key + step < w.last) {
            const Vector lookup = p_.block.lookup();
            co_await cta.vector(lookup);
        }
        if (key + step < w.last) next_k = load(cta, k_, p_.block.head_dim, buffers[1], w, key + step);
        for (int pass = 0; pass < AttentionBlock::kPasses; ++pass) {
            const Vector softmax = p_.block.softmax(pass, w.rows, keys(w, key));
            co_await cta.vector(softmax);
        }
        co_await cta.wait(v);
        co_await cta.barrier();
        const Mma values = p_.block.values(w.rows, keys(w, key));
        co_await multiply(cta, values, p_.block.tensor);
    }
    const Vector finish = p_.block.finish(w.rows);
    co_await cta.vector(finish);
    store(cta, buffers.back(), w);
}

program::TileProgram AttentionCombine::run(Cta& cta, const std::vector<Buffer>& buffers) const {
    const std::int64_t row = cta.index() * kRows, rows = std::min(kRows, rows_ - row);
    Ticket sums;
    for (std::int64_t split = 0; split < splits_; ++split) {
        const Access sum = span(buffers[0], (splits_ * rows_ * dim_ + split * rows_ + row) * 4, rows * 4);
        sums = later(sums, cta.load(sum, Path::streaming));
    }
    co_await cta.wait(sums);
    Vector scales;
    scales.sfu = rows * splits_, scales.fma = 3 * rows * splits_, scales.chain = 16;
    co_await cta.vector(scales);
    const std::int64_t together = serial_ ? 1 : splits_;
    Vector add;
    add.fma = rows * dim_ * together, add.integer = serial_ ? 0 : rows * dim_ / 2, add.chain = serial_ ? 4 : splits_;
    for (std::int64_t first = 0; first < splits_; first += together) {
        Ticket parts;
        for (std::int64_t split = first; split < first + together; ++split) {
            const Access part = span(buffers[0], (split * rows_ + row) * dim_ * 4, rows * dim_ * 4);
            parts = later(parts, cta.load(part, Path::streaming));
        }
        co_await cta.wait(parts);
        co_await cta.vector(add);
    }
    const Access out = out_.block(buffers.back(), row, rows, 0, dim_);
    cta.store(out);
}

}  // namespace rafter::kernels
