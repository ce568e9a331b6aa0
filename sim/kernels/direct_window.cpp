#include "sim/kernels/direct_window.h"

#include <algorithm>

namespace rafter::kernels {

using program::Access;
using program::Buffer;
using program::Cta;
using program::Path;
using program::Ticket;
using program::Vector;

std::string DirectWindow::Parameters::text() const {
    return window.text() + std::to_string(multiplier) + (weighted ? "w," : "p,") + std::string(name(dtype)) + "," +
           std::string(name(weights)) + "," + epilogue.text();
}

// Channels fastest, then columns and rows: CTAs that run together share the rows between their blocks.
DirectWindow::Work DirectWindow::work(std::int64_t index) const {
    const Window& w = p_.window;
    const std::int64_t channels = p_.channels_per_cta(), slices = ceil_div(w.c, channels);
    const std::int64_t across = ceil_div(w.q, kColumns), down = ceil_div(w.p, kRows);
    const std::int64_t slice = index % slices, block = index / slices;
    const std::int64_t q0 = block % across * kColumns, p0 = block / across % down * kRows;
    return {block / (across * down),
            p0,
            std::min(w.p, p0 + kRows),
            q0,
            std::min(w.q, q0 + kColumns),
            slice * channels,
            std::min(channels, w.c - slice * channels)};
}

// Rows of blocks of one image are alike but for the borders, and images are.
program::Repeats DirectWindow::repeats(std::int64_t unit) const {
    const Window& w = p_.window;
    const std::int64_t row = ceil_div(w.c, p_.channels_per_cta()) * ceil_div(w.q, kColumns), rows = ceil_div(w.p, kRows);
    const std::int64_t image = unit / (row * rows) * row * rows, inner = image + (rows - 1) * row;
    program::Repeats all;
    all[0] = {image, inner, row};
    if (unit < image + row) all[0] = {image, image + row, row};
    if (unit >= inner) all[0] = {inner, image + row * rows, row};
    all[1] = {0, w.n * row * rows, row * rows};
    return all;
}

/// Every image row under the block, once: pixels between the first and the last tap.
Ticket DirectWindow::load_image(Cta& cta, const Buffer& image, const Work& w) const {
    const Window& g = p_.window;
    const Matrix pixels = Matrix::packed(g.c, p_.dtype);
    const std::int64_t x0 = std::max<std::int64_t>(0, w.q0 * g.stride_w - g.pad_left);
    const std::int64_t x1 = std::min(g.w, (w.q1 - 1) * g.stride_w - g.pad_left + (g.s - 1) * g.dilation_w + 1);
    Ticket ticket;
    std::int64_t next = 0;  // rows below it are loaded
    for (std::int64_t p = w.p0; p < w.p1 && x0 < x1; ++p) {
        for (std::int64_t r = 0; r < g.r; ++r) {
            const std::int64_t y = p * g.stride_h - g.pad_top + r * g.dilation_h;
            const bool shared = g.dilation_h == 1 && y < next;
            if (y < 0 || y >= g.h || shared) continue;
            next = y + 1;
            const Access row = pixels.block(image, (w.image * g.h + y) * g.w + x0, x1 - x0, w.channel, w.channels);
            ticket = later(ticket, cta.load(row, Path::through_l1));
        }
    }
    return ticket;
}

Ticket DirectWindow::load_parameters(Cta& cta, const std::vector<Buffer>& buffers, const Work& w) const {
    const std::int64_t taps = p_.window.r * p_.window.s, out = w.channel * p_.multiplier, outs = w.channels * p_.multiplier;
    std::size_t next = 1;
    Ticket ticket;
    if (p_.weighted) {
        const Access weights = Matrix::packed(taps, p_.weights).block(buffers[next++], 0, 1, out * taps, outs * taps);
        ticket = cta.load(weights, Path::through_l1);
    }
    if (p_.epilogue.bias) {
        const Matrix bias = Matrix::packed(1, p_.epilogue.bias_type, p_.epilogue.bias_offset);
        ticket = later(ticket, cta.load(bias.block(buffers[next++], 0, 1, out, outs), Path::through_l1));
    }
    for (std::int64_t p = w.p0; p_.epilogue.residual && p < w.p1; ++p) {
        ticket = later(ticket, cta.load(output_row(buffers[next], w, p), Path::streaming));
    }
    return ticket;
}

Vector DirectWindow::arithmetic(const Work& w) const {
    const std::int64_t outputs = w.pixels() * w.channels * p_.multiplier, taps = p_.window.r * p_.window.s;
    Vector v = p_.epilogue.work(outputs, 0);
    v.fma += outputs * taps;
    v.integer += outputs * taps / 4;  // addresses: one for four vector-loaded channels
    v.chain += taps;
    return v;
}

Access DirectWindow::output_row(const Buffer& buffer, const Work& w, std::int64_t p) const {
    const Window& g = p_.window;
    const Matrix pixels = Matrix::packed(g.c * p_.multiplier, p_.dtype);
    return pixels.block(buffer, (w.image * g.p + p) * g.q + w.q0, w.q1 - w.q0, w.channel * p_.multiplier,
                        w.channels * p_.multiplier);
}

program::TileProgram DirectWindow::run(Cta& cta, const std::vector<Buffer>& buffers) const {
    const Work w = work(cta.index());
    const Ticket parameters = load_parameters(cta, buffers, w);
    const Ticket image = load_image(cta, buffers[0], w);
    co_await cta.wait(parameters);
    co_await cta.wait(image);
    const Vector work = arithmetic(w);
    co_await cta.vector(work);
    for (std::int64_t p = w.p0; p < w.p1; ++p) cta.store(output_row(buffers.back(), w, p));
}

}  // namespace rafter::kernels
