#include "sim/kernels/rnn_cell.h"

#include <algorithm>
#include <array>

namespace rafter::kernels {

using program::Access;
using program::Buffer;
using program::Cta;
using program::Mma;
using program::Path;
using program::Ticket;
using program::Vector;

Count RnnCell::Parameters::issued_macs() const {
    Count rows = 0, columns = 0, depth = 0;
    for (std::int64_t row = 0; row < batch; row += tile.m) rows += Count(tile.issued_m(std::min(tile.m, batch - row)));
    for (std::int64_t u = 0; u < hidden; u += units) columns += Count(tile.issued_n(gates * std::min(units, hidden - u)));
    for (std::int64_t k = 0; k < hidden; k += tile.k) depth += Count(tile.issued_k(std::min(tile.k, hidden - k)));
    return rows * columns * depth * Count(steps);
}

std::string RnnCell::Parameters::text() const {
    std::string s;
    for (const std::int64_t v : {batch, hidden, gates, steps, slots, units, row_groups, weight_offset, tile.m, tile.n, tile.k,
                                 tile.stages, tile.warps_n, tile.unit_k}) {
        s += std::to_string(v) + ",";
    }
    for (const DType t : {compute, weights, state}) s += std::string(name(t)) + ",";
    return s + (cell_state ? "c" : "") + (persistent ? "p" : "") + (resident ? "r" : "") + (tensor ? "t" : "");
}

RnnCell::RnnCell(const Parameters& p)
    : p_(p),
      gates_(Matrix::packed(p.gates * p.hidden, p.state)),
      weights_(Matrix::packed(p.hidden, p.weights, p.weight_offset)),
      state_(Matrix::packed(p.hidden, p.state)),
      cell_(Matrix::packed(p.hidden, DType::fp32)) {}

/// Columns [k, k + depth) of the CTA's weight rows: a piece for each gate.
Ticket RnnCell::load_weights(Cta& cta, const Buffer& weights, const Work& w, std::int64_t k, std::int64_t depth) const {
    Ticket ticket;
    for (std::int64_t gate = 0; gate < p_.gates; ++gate) {
        const Access rows = weights_.block(weights, gate * p_.hidden + w.unit, w.units, k, depth);
        ticket = later(ticket, cta.load(rows, Path::async_copy));
    }
    return ticket;
}

/// The previous state (from the L2: other CTAs wrote it) and, unless they stay on chip, the weights.
Ticket RnnCell::load_block(Cta& cta, const std::vector<Buffer>& buffers, const Work& w, std::int64_t step, std::int64_t k) const {
    const std::int64_t before = std::max<std::int64_t>(0, slot(step) - 1);
    const Access state = state_.block(buffers[2], before * p_.batch + w.row, w.rows, k, depth(k));
    const Ticket ticket = cta.load(state, Path::async_copy);
    return p_.resident ? ticket : later(ticket, load_weights(cta, buffers[1], w, k, depth(k)));
}

Ticket RnnCell::load_gates(Cta& cta, const std::vector<Buffer>& buffers, const Work& w, std::int64_t step) const {
    Ticket ticket;
    for (std::int64_t gate = 0; gate < p_.gates; ++gate) {
        const Access part = gates_.block(buffers[0], slot(step) * p_.batch + w.row, w.rows, gate * p_.hidden + w.unit, w.units);
        ticket = later(ticket, cta.load(part, Path::streaming));
    }
    const bool in_registers = p_.persistent && step > 0;
    if (p_.cell_state && !in_registers) {
        ticket = later(ticket, cta.load(cell_.block(buffers[3], w.row, w.rows, w.unit, w.units), Path::streaming));
    }
    return ticket;
}

Mma RnnCell::product(const Work& w, std::int64_t k) const {
    const Tile& t = p_.tile;
    const std::int64_t m = t.issued_m(w.rows), n = t.issued_n(p_.gates * w.units), d = t.issued_k(depth(k));
    return {m, n, d, p_.compute, t.operand_bytes(m, n, d, bits(p_.compute), bits(p_.weights))};
}

/// Sigmoid and tanh of the gates, and the update of the state.
Vector RnnCell::pointwise(const Work& w) const {
    const std::int64_t elements = w.rows * w.units;
    Vector v;
    v.fma = elements * (p_.gates * 4 + 4);
    v.sfu = elements * (p_.gates + 1) * 2;
    v.integer = elements * 2;
    v.shared_bytes = 2 * elements * p_.gates * 4;
    v.chain = 16;
    return v;
}

void RnnCell::store(Cta& cta, const std::vector<Buffer>& buffers, const Work& w, std::int64_t step) const {
    cta.store(state_.block(buffers[2], slot(step) * p_.batch + w.row, w.rows, w.unit, w.units));
    const bool in_registers = p_.persistent && step + 1 < p_.steps;
    if (p_.cell_state && !in_registers) cta.store(cell_.block(buffers[3], w.row, w.rows, w.unit, w.units));
}

// for each step: for each block of rows: gates += h W^T over k, then the cell; then every CTA must see the new h.
program::TileProgram RnnCell::run(Cta& cta, const std::vector<Buffer>& buffers) const {
    const std::int64_t unit = cta.index() % p_.unit_blocks() * p_.units, group = cta.index() / p_.unit_blocks();
    Work w{unit, std::min(p_.units, p_.hidden - unit), 0, 0};
    if (p_.resident) {
        const Ticket weights = load_weights(cta, buffers[1], w, 0, p_.hidden);
        co_await cta.wait(weights);
    }
    std::array<Ticket, kStages> arrival;
    for (std::int64_t step = 0, steps = p_.steps; step < steps; ++step) {
        if (p_.persistent) steps -= cta.step(step, steps, 1);
        for (w.row = group * p_.tile.m; w.row < p_.batch; w.row += p_.row_groups * p_.tile.m) {
            w.rows = std::min(p_.tile.m, p_.batch - w.row);
            std::int64_t ahead = 0;
            std::size_t fill = 0, use = 0;
            for (; ahead < p_.hidden && fill + 1 < kStages; ahead += p_.tile.k)
                arrival[fill++] = load_block(cta, buffers, w, step, ahead);
            const Ticket gates = load_gates(cta, buffers, w, step);
            for (std::int64_t k = 0; k < p_.hidden; k += p_.tile.k) {
                co_await cta.wait(arrival[use++ % kStages]);
                co_await cta.barrier();
                if (ahead < p_.hidden) {
                    arrival[fill++ % kStages] = load_block(cta, buffers, w, step, ahead);
                    ahead += p_.tile.k;
                }
                const Mma work = product(w, k);
                co_await multiply(cta, work, p_.tensor);
            }
            co_await cta.wait(gates);
            const Vector cell = pointwise(w);
            co_await cta.vector(cell);
            store(cta, buffers, w, step);
        }
        if (p_.persistent && step + 1 < steps) co_await cta.grid_sync();
    }
}

}  // namespace rafter::kernels
