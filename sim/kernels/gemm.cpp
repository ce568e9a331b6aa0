#include "sim/kernels/gemm.h"

#include "sim/core/error.h"

namespace rafter::kernels {

using program::Access;
using program::Buffer;
using program::Cta;
using program::Mma;
using program::Path;
using program::Ticket;
using program::Vector;

namespace {

constexpr std::int64_t kRasterGroup = 8;  // rows of tiles walked together, so that neighbours share A and B in the L2

// Multiply-adds of a SIMT kernel for each further instruction: addresses, predicates, stores to shared memory. They take issue
// slots, which parts with 128 lanes an SM have none to spare of.
constexpr std::int64_t kOther = 5;

// Before the first load: barriers are initialised, the cluster meets, the tensor maps are fetched; dependent instructions.
constexpr std::int64_t kTmaPrologue = 200;

std::int64_t issued_extent_sum(std::int64_t total, std::int64_t tile, const auto& issued) {
    const std::int64_t full = total / tile, rest = total % tile;
    return full * issued(tile) + (rest > 0 ? issued(rest) : 0);
}

}  // namespace

std::int64_t even_splits(std::int64_t k_blocks, std::int64_t wanted) {
    const std::int64_t per_split = ceil_div(k_blocks, std::clamp<std::int64_t>(wanted, 1, k_blocks));
    return ceil_div(k_blocks, per_split);
}

Count GemmParameters::issued_macs() const {
    const auto im = issued_extent_sum(m, tile.m, [&](std::int64_t v) { return tile.issued_m(v); });
    const auto in = issued_extent_sum(n, tile.n, [&](std::int64_t v) { return tile.issued_n(v); });
    const auto ik = issued_extent_sum(k, tile.k, [&](std::int64_t v) { return tile.issued_k(v); });
    return Count(batch) * Count(im) * Count(in) * Count(ik);
}

std::string GemmParameters::text() const {
    std::string s;
    for (const std::int64_t v : {batch,       m,           n,      k,       c_columns, b_offset,    a_stride,     b_stride,
                                 a_pitch,     b_pitch,     tile.m, tile.n,  tile.k,    tile.stages, tile.warps_m, tile.warps_n,
                                 tile.unit_m, tile.unit_n, splits, cluster, grid}) {
        s += std::to_string(v) + ",";
    }
    for (const DType t : {a, b, compute, epilogue.out}) s += std::string(name(t)) + ",";
    return s + (a_transposed ? "T" : "") + (b_transposed ? "tn," : "nn,") + epilogue.text();
}

Gemm::Gemm(const GemmParameters& parameters)
    : p_(parameters),
      step_period_(step_period()),
      units_(parameters.units()),
      k_per_split_(parameters.blocks_per_split() * parameters.tile.k),
      tile_count_(parameters.tiles_m() * parameters.tiles_n()),
      unpacks_(bits(parameters.b) < bits(parameters.compute)),
      simt_(parameters.tile.feed == Feed::simt),
      a_(Matrix::packed(parameters.a_transposed ? parameters.m : parameters.k, parameters.a)),
      b_(Matrix::packed(parameters.b_transposed ? parameters.k : parameters.n, parameters.b, parameters.b_offset)),
      bias_(Matrix::packed(parameters.n, parameters.epilogue.bias_type, parameters.epilogue.bias_offset)),
      c_(Matrix::packed(parameters.c_columns > 0                                    ? parameters.c_columns
                        : parameters.epilogue.gated && !parameters.epilogue.partial ? parameters.n / 2
                                                                                    : parameters.n,
                        parameters.epilogue.partial ? DType::fp32 : parameters.epilogue.out)),
      out_bits_(c_.bits) {
    if (p_.a_pitch > 0) a_.pitch = p_.a_pitch;
    if (p_.b_pitch > 0) b_.pitch = p_.b_pitch;
    RAFTER_CHECK(p_.tile.stages >= 2 && p_.tile.stages <= kMostStages, "stages of a GEMM tile");
    RAFTER_CHECK(p_.splits == even_splits(ceil_div(p_.k, p_.tile.k), p_.splits), "a split without a k block");
    RAFTER_CHECK(p_.splits == 1 || p_.epilogue.partial, "split-K stores partial sums");
    RAFTER_CHECK(p_.splits == 1 || p_.c_columns == 0, "split-K of a grouped convolution");
}

// Grid order: batch, split, then groups of eight tile rows walked column by column.
Gemm::Unit Gemm::unit(std::int64_t index) const {
    const std::int64_t tile = index % tile_count_, outer = index / tile_count_;
    const std::int64_t tiles_m = p_.tiles_m(), in_group = kRasterGroup * p_.tiles_n();
    const std::int64_t first = tile / in_group * kRasterGroup, height = std::min(tiles_m - first, kRasterGroup);
    const std::int64_t row = (first + tile % in_group % height) * p_.tile.m;
    const std::int64_t column = tile % in_group / height * p_.tile.n;
    const std::int64_t split = outer % p_.splits;
    return {outer / p_.splits,
            split,
            row,
            std::min(p_.tile.m, p_.m - row),
            column,
            std::min(p_.tile.n, p_.n - column),
            std::min(p_.k, (split + 1) * k_per_split_)};
}

Gemm::Cursor Gemm::at(std::int64_t index) const {
    if (index >= units_) return {index, 0, {}};
    const Unit u = unit(index);
    return {index, u.split * k_per_split_, u};
}

void Gemm::advance(Cta& cta, Cursor& cursor) const {
    cursor.k += p_.tile.k;
    if (cursor.k < cursor.unit.k_end) return;
    cursor = at(p_.grid < units_ ? cta.next_unit(cursor.index, p_.grid) : units_);
}

/// A line holds several k blocks of a narrow tile: only whole lines of steps are alike.
std::int64_t Gemm::step_period() const {
    constexpr std::int64_t kLineBits = program::kLineBytes * 8;
    const std::int64_t a = ceil_div(kLineBits, p_.tile.k * bits(p_.a)), b = ceil_div(kLineBits, p_.tile.k * bits(p_.b));
    return p_.a_transposed ? (p_.b_transposed ? b : 1) : p_.b_transposed ? std::max(a, b) : a;
}

void Gemm::leave_out(Cta& cta, Cursor& consumer, Cursor& producer) const {
    if (step_period_ == 0) return;
    const std::int64_t done = consumer.k / p_.tile.k - consumer.unit.split * p_.blocks_per_split();
    const bool together = producer.index == consumer.index;
    const std::int64_t left = together ? (consumer.unit.k_end - producer.k) / p_.tile.k : 0;
    const std::int64_t skipped = cta.step(done, done + left, step_period_) * p_.tile.k;
    consumer.unit.k_end -= skipped;
    producer.unit.k_end -= skipped;
}

/// Columns of one raster group: A stays, B and C move on. The next group comes back to the columns of B.
program::Repeat Gemm::columns_alike(std::int64_t first, std::int64_t tile) const {
    const std::int64_t in_group = kRasterGroup * p_.tiles_n(), group = tile / in_group;
    const std::int64_t rows = std::min(p_.tiles_m() - group * kRasterGroup, kRasterGroup), from = first + group * in_group;
    const std::int64_t whole = from + rows * (p_.n / p_.tile.n), end = from + rows * p_.tiles_n();
    if (first + tile >= whole) return {whole, end, rows};
    const bool last = (group + 1) * kRasterGroup >= p_.tiles_m();
    const std::int64_t group_bytes = (p_.n * bits(p_.b) + kRasterGroup * p_.tile.m * bits(p_.a)) * (p_.k / p_.splits) / 8;
    return {from, whole, rows, last ? 0 : group_bytes};
}

/// Raster groups: each has rows of A of its own, all walk the columns of B.
program::Repeat Gemm::groups_alike(std::int64_t first, std::int64_t tile) const {
    const std::int64_t in_group = kRasterGroup * p_.tiles_n();
    const std::int64_t whole = p_.m / p_.tile.m / kRasterGroup * in_group;
    if (tile >= whole) return {first + whole, first + tile_count_, in_group};
    return {first, first + whole, in_group};
}

program::Repeats Gemm::repeats(std::int64_t unit) const {
    const std::int64_t outer = unit / tile_count_, first = outer * tile_count_, tile = unit % tile_count_;
    const bool even = p_.k % (p_.splits * p_.tile.k) == 0;
    const std::int64_t period = even ? tile_count_ : tile_count_ * p_.splits;
    return {columns_alike(first, tile), groups_alike(first, tile), program::Repeat{0, units_, period}};
}

/// The columns of B that this CTA asks for. In a cluster each asks for its share and all get the whole: the neighbours' shares
/// arrive when its own does.
Gemm::Columns Gemm::columns_loaded(const Unit& u) const {
    const std::int64_t row = u.row / p_.tile.m, first = row / p_.cluster * p_.cluster;
    if (p_.cluster == 1 || first + p_.cluster > p_.tiles_m()) return {u.column, u.columns};
    const std::int64_t share = ceil_div(u.columns, p_.cluster), from = std::min(u.columns, (row - first) * share);
    return {u.column + from, std::min(share, u.columns - from)};
}

Ticket Gemm::load_b(Cta& cta, const Buffer& buffer, const Cursor& cursor) const {
    const Unit& u = cursor.unit;
    const auto [column, columns] = columns_loaded(u);
    if (columns == 0) return {};
    Access b = p_.b_transposed ? b_.block(buffer, column, columns, cursor.k, depth(cursor))
                               : b_.block(buffer, cursor.k, depth(cursor), column, columns);
    b.address += u.batch * p_.b_stride;
    return cta.load(b, path());
}

Ticket Gemm::load(Cta& cta, const std::vector<Buffer>& buffers, const Cursor& cursor) const {
    const Unit& u = cursor.unit;
    Access a = p_.a_transposed ? a_.block(buffers[0], cursor.k, depth(cursor), u.row, u.rows)
                               : a_.block(buffers[0], u.row, u.rows, cursor.k, depth(cursor));
    a.address += u.batch * p_.a_stride;
    const Ticket ticket = cta.load(a, path());
    return later(ticket, load_b(cta, buffers[1], cursor));
}

std::int64_t Gemm::block_bytes(const Cursor& cursor) const {
    return (cursor.unit.rows * a_.bits + cursor.unit.columns * b_.bits) * depth(cursor) / 8;
}

Mma Gemm::product(const Cursor& cursor) const {
    const Tile& t = p_.tile;
    const std::int64_t m = t.issued_m(cursor.unit.rows), n = t.issued_n(cursor.unit.columns);
    const std::int64_t k = t.issued_k(std::min(t.k, cursor.unit.k_end - cursor.k));
    return {m, n, k, p_.compute, t.operand_bytes(m, n, k, bits(p_.compute), std::min(bits(p_.b), bits(p_.compute)))};
}

/// The same product on the FMA lanes. A thread holds an 8 x w patch of C, so that each k needs (8 + w) / 4 vector loads from
/// shared memory for 8 w multiply-adds: those issue slots are why SIMT kernels stop near 94 % of the lanes.
Vector Gemm::simt_product(const Cursor& cursor) const {
    const Tile& t = p_.tile;
    const std::int64_t m = t.issued_m(cursor.unit.rows), n = t.issued_n(cursor.unit.columns);
    const std::int64_t k = t.issued_k(std::min(t.k, cursor.unit.k_end - cursor.k));
    // 32 x 32 tiles are sliced: a warp has the whole tile for its share of k. A 16-byte load takes four turns at shared memory
    // whatever the lanes have in common.
    const std::int64_t lanes = t.m * t.n <= 32 * 32 ? 32 : t.warps() * 32;
    const std::int64_t wide = std::max<std::int64_t>(1, t.m * t.n / lanes / 8);
    Vector v;
    v.fma = m * n * k;
    v.integer = v.fma * (8 + wide) / (4 * 8 * wide) + v.fma / kOther;
    v.shared_bytes = k * lanes * (8 + wide) * bits(p_.compute) / 8;
    v.dtype = p_.compute;
    v.chain = k;
    return v;
}

/// Narrow weights become the compute dtype on the vector units, in every warp that reads them.
Vector Gemm::unpack(const Cursor& cursor) const {
    const std::int64_t values = cursor.unit.columns * depth(cursor) * p_.tile.warps_m;
    Vector v;
    v.integer = values;
    v.fma = values / 2;  // packed pairs: scale and zero point
    v.chain = 4;
    return v;
}

Ticket Gemm::load_epilogue(Cta& cta, const std::vector<Buffer>& buffers, const Unit& u) const {
    Ticket ticket;
    if (p_.epilogue.partial) return ticket;
    std::size_t next = 2;
    if (p_.epilogue.bias) {
        const std::int64_t bias_column = p_.c_columns > 0 ? u.batch * p_.n : 0;
        const Access bias = bias_.block(buffers[next++], 0, 1, bias_column + u.column, u.columns);
        ticket = cta.load(bias, Path::through_l1);
    }
    if (p_.epilogue.residual) {
        const Access residual = c_block(buffers[next], u);
        ticket = later(ticket, cta.load(residual, Path::streaming));
    }
    return ticket;
}

Vector Gemm::epilogue(const Unit& u) const {
    const std::int64_t elements = p_.tile.issued_m(u.rows) * p_.tile.issued_n(u.columns);
    return p_.epilogue.work(elements, p_.epilogue.partial ? 0 : elements * out_bits_ / 8);
}

/// The part of C (or of anything laid out like it) that a unit covers.
Access Gemm::c_block(const Buffer& buffer, const Unit& u) const {
    const bool halved = p_.epilogue.gated && !p_.epilogue.partial;
    const std::int64_t column = halved ? u.column / 2 : u.column;
    const std::int64_t columns = halved ? (u.column + u.columns) / 2 - column : u.columns;
    if (p_.c_columns > 0) return c_.block(buffer, u.row, u.rows, u.batch * p_.n + u.column, u.columns);
    return c_.block(buffer, (u.split * p_.batch + u.batch) * p_.m + u.row, u.rows, column, columns);
}

void Gemm::refill(Cta& cta, const std::vector<Buffer>& buffers, Pipeline& pipe) const {
    if (!more(pipe.producer)) return;
    pipe.arrival[pipe.filled] = load(cta, buffers, pipe.producer);
    pipe.filled = (pipe.filled + 1) % static_cast<std::size_t>(p_.tile.stages);
    advance(cta, pipe.producer);
}

program::Suspend Gemm::multiply_now(Cta& cta, const Cursor& cursor) const {
    return simt_ ? cta.vector(simt_product(cursor)) : cta.mma(product(cursor));
}

// for each output tile: for each k block: wait, __syncthreads, mma, refill the stage the last product has left.
program::TileProgram Gemm::run(Cta& cta, const std::vector<Buffer>& buffers) const {
    const bool staged = p_.tile.feed == Feed::register_staged || simt_;
    const bool overlap = p_.tile.overlaps();
    if (p_.tile.feed == Feed::tma) {
        Vector prologue;
        prologue.chain = kTmaPrologue;
        co_await cta.vector(prologue);
    }
    Cursor consumer = at(cta.index());
    Pipeline pipe{{}, consumer, 0, 0};
    for (std::int64_t i = 0; i + 1 < p_.tile.stages; ++i) refill(cta, buffers, pipe);

    Ticket previous, extra;
    Unit done{};
    bool pending = false;  // the tile before this one still owes its epilogue
    for (; more(consumer); advance(cta, consumer)) {
        leave_out(cta, consumer, pipe.producer);
        co_await cta.wait(pipe.arrival[pipe.used]);
        pipe.used = (pipe.used + 1) % static_cast<std::size_t>(p_.tile.stages);
        if (staged) co_await cta.shared(block_bytes(consumer));
        co_await cta.barrier();
        if (staged) refill(cta, buffers, pipe);  // registers are free: the next block starts before this product
        if (unpacks_) co_await cta.vector(unpack(consumer));
        if (overlap) {
            const Ticket current = cta.mma_async(product(consumer));
            co_await cta.wait(previous);
            previous = current;
        } else {
            co_await multiply_now(cta, consumer);
        }
        if (pending) {
            pending = false;
            co_await cta.wait(extra);
            co_await cta.vector(epilogue(done));
            cta.store(c_block(buffers.back(), done));
        }
        if (!staged) refill(cta, buffers, pipe);
        if (!ends_unit(consumer)) continue;
        done = consumer.unit;
        extra = load_epilogue(cta, buffers, done);
        pending = p_.tile.pingpong && overlap && more(pipe.producer);
        if (pending) continue;
        co_await cta.wait(previous);
        co_await cta.wait(extra);
        co_await cta.vector(epilogue(done));
        cta.store(c_block(buffers.back(), done));
    }
}

}  // namespace rafter::kernels
