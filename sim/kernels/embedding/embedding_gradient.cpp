#include "sim/kernels/embedding/embedding_gradient.h"

#include <algorithm>

namespace rafter::kernels {

using program::Access;
using program::Buffer;
using program::Cta;
using program::Path;
using program::Ticket;
using program::Vector;

namespace {

constexpr std::int64_t kWarps = EmbeddingBag::kWarps, kDeep = EmbeddingBag::kRowsInFlight;

/// The gradient of a bag: the place in [sample][table][dim] that the forward pass wrote.
Access gradient_of(const EmbeddingBag::Parameters& p, const Buffer& gradients, std::int64_t bag) {
    const Matrix matrix = Matrix::packed(p.dim * p.tables, p.out);
    return matrix.block(gradients, bag % p.batch, 1, bag / p.batch * p.dim, p.dim);
}

/// A multiply-add for each value of `rows` rows, `deep` of them after each other; addresses and conversions.
Vector add(const EmbeddingBag::Parameters& p, std::int64_t rows, std::int64_t deep) {
    Vector v;
    v.fma = rows * p.dim;
    v.integer = rows * 32 + (bits(p.out) < 32 ? rows * p.dim : 0);
    v.chain = deep;
    return v;
}

}  // namespace

// For each group of eight bags: indices; gradients; an atomic addition for every row of every bag.
program::TileProgram ScatterGradient::run(Cta& cta, const std::vector<Buffer>& buffers) const {
    const Matrix target = Matrix::packed(p_.dim, p_.weights);
    const Buffer& gradients = buffers[buffers.size() - 2];
    const std::int64_t first = cta.index() * EmbeddingBag::kBagsPerCta;
    const std::int64_t last = std::min(first + EmbeddingBag::kBagsPerCta, p_.bags());
    for (std::int64_t from = first; from < last; from += kWarps) {
        const std::int64_t to = std::min(from + kWarps, last);
        const Access begins = span(buffers[1], from * EmbeddingBag::kIndexBytes, (to - from + 1) * EmbeddingBag::kIndexBytes);
        if (p_.offsets) co_await cta.wait(cta.load(begins, Path::through_l1));
        const BagGroup bags = bags_of(p_, from, to);
        Ticket ready = load_lists(p_, cta, buffers, from, to);
        for (std::int64_t b = from; b < to; ++b) {
            const Access row = gradient_of(p_, gradients, b);
            if (bags[static_cast<std::size_t>(b - from)].length > 0) ready = later(ready, cta.load(row, Path::streaming));
        }
        co_await cta.wait(ready);
        std::int64_t rows = 0, longest = 0;
        for (const Bag& bag : bags) rows += bag.length, longest = std::max(longest, bag.length);
        const Vector work = add(p_, rows, longest);
        if (rows > 0) co_await cta.vector(work);
        for (const Bag& bag : bags) {
            for (std::int64_t k = 0; k < bag.length; ++k)
                cta.atomic_add(target.block(buffers.back(), row_of(p_, indices_, bag, k), 1, 0, p_.dim));
        }
    }
}

SortedLookups::SortedLookups(const EmbeddingBag::Parameters& p, const std::vector<IndexSource>& indices) {
    std::vector<std::pair<std::int64_t, std::uint32_t>> all;
    for (std::int64_t from = 0; from < p.bags(); from += kWarps) {
        const std::int64_t to = std::min(from + kWarps, p.bags());
        const BagGroup group = bags_of(p, from, to);
        for (std::int64_t b = from; b < to; ++b) {
            const Bag& bag = group[static_cast<std::size_t>(b - from)];
            for (std::int64_t k = 0; k < bag.length; ++k)
                all.emplace_back(row_of(p, indices, bag, k), static_cast<std::uint32_t>(b));
        }
    }
    std::sort(all.begin(), all.end());
    for (const auto& [row, bag] : all) {
        const auto at = static_cast<std::int64_t>(bags.size());
        if (segments.empty() || segments.back().row != row) segments.push_back({row, at});
        bags.push_back(bag);
    }
    segments.push_back({-1, static_cast<std::int64_t>(bags.size())});
    share_out();
}

/// A CTA takes eight segments (a warp each) of at most kMostOfCta look-ups together, or that many of a long one.
void SortedLookups::share_out() {
    std::int64_t taken = 0, held = 0;
    for (std::int64_t s = 0; s < rows(); ++s) {
        const auto i = static_cast<std::size_t>(s);
        const std::int64_t length = segments[i + 1].from - segments[i].from;
        const bool starts = shares.empty() || held == kWarps || taken + length > kMostOfCta;
        if (starts) taken = held = 0;
        const std::int64_t sum = length > kMostOfCta ? split++ : -1;
        for (std::int64_t done = 0; starts && done < length; done += kMostOfCta)
            shares.push_back({segments[i].from + done, s, sum});
        taken += length, ++held;
    }
    shares.push_back({static_cast<std::int64_t>(bags.size()), rows()});
}

/// Of the look-ups of one CTA.
struct UpdateRows::Slice {
    std::int64_t from{}, to{};       ///< look-ups
    std::int64_t segment{}, last{};  ///< segments they are in
    std::int64_t sum{-1};            ///< of the only segment, when it is split: its row of partial sums
};

Ticket UpdateRows::load_lists(Cta& cta, const std::vector<Buffer>& buffers, const Slice& s) const {
    const Access places = span(buffers[0], s.from * kPlaceBytes, (s.to - s.from) * kPlaceBytes);
    const Access rows = span(buffers[1], s.segment * kSegmentBytes, (s.last - s.segment) * kSegmentBytes);
    Ticket ready = later(cta.load(places, Path::streaming), cta.load(rows, Path::streaming));
    if (!p_.weighted) return ready;
    const Access weights = span(buffers[2], s.from * EmbeddingBag::kWeightBytes, (s.to - s.from) * EmbeddingBag::kWeightBytes);
    return later(ready, cta.load(weights, Path::streaming));
}

/// Rows of the table and their state; the sums that other CTAs have added.
Ticket UpdateRows::load_rows(Cta& cta, const std::vector<Buffer>& buffers, const Slice& s) const {
    const Matrix table = Matrix::packed(p_.dim, p_.weights), sums = Matrix::packed(p_.dim, DType::fp32);
    const std::size_t partials = p_.weighted ? 4 : 3;
    Ticket ready;
    if (s.sum >= 0) ready = cta.load(sums.block(buffers[partials], s.sum, 1, 0, p_.dim), Path::streaming);
    for (std::int64_t i = s.segment; i < s.last && optimizer_ != Optimizer::none; ++i) {
        const std::int64_t row = sorted_->segments[static_cast<std::size_t>(i)].row;
        ready = later(ready, cta.load(table.block(buffers[partials + 1], row, 1, 0, p_.dim), Path::streaming));
        if (optimizer_ == Optimizer::rowwise_adagrad)
            ready = later(ready, cta.load(span(buffers.back(), row * kStateBytes, kStateBytes), Path::streaming));
    }
    return ready;
}

void UpdateRows::store_rows(Cta& cta, const std::vector<Buffer>& buffers, const Slice& s) const {
    const Matrix table = Matrix::packed(p_.dim, p_.weights);
    const std::size_t out = p_.weighted ? 5 : 4;
    for (std::int64_t i = s.segment; i < s.last; ++i) {
        const std::int64_t row = optimizer_ == Optimizer::none ? i : sorted_->segments[static_cast<std::size_t>(i)].row;
        cta.store(table.block(buffers[out], row, 1, 0, p_.dim));
        if (optimizer_ == Optimizer::rowwise_adagrad) cta.store(span(buffers.back(), row * kStateBytes, kStateBytes));
    }
}

/// SGD: a multiply-add a value. Row-wise Adagrad: the mean of the squares of a row, a root and a quotient a row, too.
Vector UpdateRows::step(std::int64_t rows) const {
    const bool adagrad = optimizer_ == Optimizer::rowwise_adagrad;
    Vector v;
    v.fma = optimizer_ == Optimizer::none ? 0 : rows * p_.dim * (adagrad ? 2 : 1);
    v.sfu = adagrad ? 2 * rows : 0;
    v.integer = rows * 16 + (bits(p_.weights) < 32 ? 2 * rows * p_.dim : 0);
    v.chain = adagrad ? 12 : 2;
    return v;
}

// places and segments; gradients, 64 in flight, added as they come; of a split row: the sum to memory; rows, state; step; store.
program::TileProgram UpdateRows::run(Cta& cta, const std::vector<Buffer>& buffers) const {
    const auto share = static_cast<std::size_t>(cta.index());
    const auto& shares = sorted_->shares;
    Slice s{shares[share].from, shares[share + 1].from, shares[share].segment, shares[share + 1].segment, shares[share].sum};
    const bool goes_on = s.last == s.segment;
    if (goes_on) s.last = s.segment + 1;
    co_await cta.wait(load_lists(cta, buffers, s));
    const Buffer& gradients = buffers[p_.weighted ? 3 : 2];
    for (std::int64_t at = s.from; at < s.to; at += kWarps * kDeep) {
        const std::int64_t stop = std::min(at + kWarps * kDeep, s.to);
        Ticket rows;
        for (std::int64_t i = at; i < stop; ++i) {
            const Access row = gradient_of(p_, gradients, sorted_->bags[static_cast<std::size_t>(i)]);
            rows = later(rows, cta.load(row, Path::through_l1));
        }
        co_await cta.wait(rows);
        const Vector work = add(p_, stop - at, kDeep);
        co_await cta.vector(work);
    }
    const Matrix sums = Matrix::packed(p_.dim, DType::fp32);
    if (goes_on) {
        const Access sum = sums.block(buffers[p_.weighted ? 4 : 3], s.sum, 1, 0, p_.dim);
        cta.atomic_add(sum);
        co_return;
    }
    co_await cta.wait(load_rows(cta, buffers, s));
    const Vector update = step(s.last - s.segment);
    co_await cta.vector(update);
    store_rows(cta, buffers, s);
}

}  // namespace rafter::kernels
