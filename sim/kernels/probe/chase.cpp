#include "sim/kernels/probe/chase.h"

#include <algorithm>

#include "sim/core/mix.h"
#include "sim/kernels/layout.h"

namespace rafter::kernels {

using program::Access;
using program::Buffer;
using program::Cta;
using program::kLineBytes;
using program::Path;
using program::Ticket;

// a lap without waiting; then one load after another.
program::TileProgram Chase::run(Cta& cta, const std::vector<Buffer>& buffers) const {
    constexpr std::int64_t kTogether = 64;
    for (std::int64_t first = 0; p_.lap && first < p_.lines; first += kTogether) {
        Ticket arrived;
        for (std::int64_t i = first; i < std::min(first + kTogether, p_.lines); ++i) {
            const Access line = span(buffers[0], cycle_(i) * kLineBytes, 8);
            arrived = later(arrived, cta.load(line, Path::through_l1));
        }
        co_await cta.wait(arrived);
    }
    for (std::int64_t step = 0; step < p_.steps; ++step) {
        const Access line = span(buffers[0], cycle_(step % p_.lines) * kLineBytes, 8);
        co_await cta.wait(cta.load(line, Path::through_l1));
    }
}

program::TileProgram SetRead::run(Cta& cta, const std::vector<Buffer>& buffers) const {
    for (std::int64_t pass = 0; pass < p_.passes; ++pass) {
        // Which of two neighbours is free first is chance: a piece is read from either partition of the L2.
        const std::uint64_t pair = mix(static_cast<std::uint64_t>(pass), static_cast<std::uint64_t>(cta.index() / 2));
        const std::int64_t other = cta.index() ^ static_cast<std::int64_t>(pair >> 63);
        const std::int64_t block = pass * p_.ctas + (other < p_.ctas ? other : cta.index());
        const std::int64_t from = block % p_.pieces() * p_.piece_bytes;
        const std::int64_t to = std::min(from + p_.piece_bytes, p_.set_bytes);
        const std::int64_t steps = ceil_div(to - from, p_.step_bytes);
        // As if CTAs before these had come to their ends one after another: the first has the least left.
        const std::int64_t done = pass == 0 ? steps - ceil_div(steps * (cta.index() + 1), p_.ctas) : 0;
        for (std::int64_t step = done; step < steps; ++step) {
            const std::int64_t at = from + step * p_.step_bytes;
            const Access data = span(buffers[0], at, std::min(p_.step_bytes, to - at));
            co_await cta.wait(cta.load(data, Path::streaming));
        }
    }
}

program::TileProgram RowRead::run(Cta& cta, const std::vector<Buffer>& buffers) const {
    for (std::int64_t step = 0, steps = p_.steps; step < steps; ++step) {
        steps -= cta.step(step, steps, 1);
        const std::int64_t first = (step * p_.ctas + cta.index()) * p_.depth;
        Ticket arrived;
        for (std::int64_t i = first; i < first + p_.depth; ++i) {
            const auto at = static_cast<std::uint64_t>(i), all = static_cast<std::uint64_t>(p_.rows);
            const auto row = static_cast<std::int64_t>((p_.random ? mix(1, at) : at) % all);
            const Access data = span(buffers[0], row * p_.row_bytes, p_.row_bytes);
            arrived = later(arrived, cta.load(data, Path::streaming));
        }
        co_await cta.wait(arrived);
    }
}

}  // namespace rafter::kernels
