#include "sim/kernels/conv2d.h"

#include <algorithm>

namespace rafter::kernels {

using program::Access;
using program::Buffer;
using program::Cta;
using program::Path;
using program::Ticket;

std::string Window::text() const {
    std::string text;
    for (const std::int64_t v : {n, c, h, w, r, s, p, q, stride_h, stride_w, dilation_h, dilation_w, pad_top, pad_left}) {
        text += std::to_string(v) + ",";
    }
    return text;
}

Conv2d::Conv2d(const GemmParameters& gemm, const Window& window)
    : Gemm(gemm),
      w_(window),
      channels_(window.c / gemm.batch),
      bits_(bits(gemm.a)),
      pointwise_(window.r == 1 && window.s == 1 && window.p == window.h && window.q == window.w && window.stride_h == 1 &&
                 window.stride_w == 1 && window.pad_top == 0 && window.pad_left == 0),
      merges_(gemm.batch == 1 && window.dilation_w == 1 && window.c < gemm.tile.k) {
    if (!pointwise_) step_period_ = 0;  // taps find more or less of the image in the L1
}

/// cp.async gathers go through the L1, so that neighbouring taps find the halo there; TMA im2col loads bypass it.
Path Conv2d::image_path() const { return p_.tile.feed == Feed::tma ? Path::async_copy : Path::through_l1; }

// k = (r, s, channel): cut [k, k + depth) at the ends of filter rows or, when taps are not neighbours in memory, at each tap.
Ticket Conv2d::load(Cta& cta, const std::vector<Buffer>& buffers, const Cursor& cursor) const {
    Ticket ticket = load_b(cta, buffers[1], cursor);
    const std::int64_t piece = merges_ ? w_.s * channels_ : channels_, end = cursor.k + depth(cursor);
    for (std::int64_t k = cursor.k; k < end;) {
        const std::int64_t stop = std::min(end, (k / piece + 1) * piece);
        const std::int64_t row = w_.s * channels_;
        const Run run{k / row, k % row, k % row + (stop - k)};
        ticket = later(ticket, load_run(cta, buffers[0], cursor.unit, run));
        k = stop;
    }
    return ticket;
}

/// One run for all output pixels of the tile: an access for each output row it touches.
Ticket Conv2d::load_run(Cta& cta, const Buffer& image, const Unit& u, const Run& run) const {
    const std::int64_t pixel_bytes = w_.c * bits_ / 8, group = u.batch * channels_ * bits_ / 8;
    if (pointwise_) {
        const Access a{image.base + u.row * pixel_bytes + group + run.from * bits_ / 8, (run.to - run.from) * bits_ / 8, u.rows,
                       pixel_bytes};
        return cta.load(a, image_path());
    }
    Ticket ticket;
    for (std::int64_t m = u.row; m < u.row + u.rows;) {
        const std::int64_t q0 = m % w_.q, q1 = std::min(w_.q, q0 + u.row + u.rows - m), line = m / w_.q;
        m += q1 - q0;
        const std::int64_t y = line % w_.p * w_.stride_h - w_.pad_top + run.r * w_.dilation_h;
        if (y < 0 || y >= w_.h) continue;
        const Access row{image.base + (line / w_.p * w_.h + y) * w_.w * pixel_bytes + group, 0, 0, w_.stride_w * pixel_bytes};
        ticket = later(ticket, merges_ ? load_merged(cta, row, run, q0, q1) : load_tap(cta, row, run, q0, q1));
    }
    return ticket;
}

/// A run inside one tap: the same channels of every pixel that is not padding.
Ticket Conv2d::load_tap(Cta& cta, const Access& line, const Run& run, std::int64_t q0, std::int64_t q1) const {
    const std::int64_t tap = run.from / channels_, channel = run.from % channels_;
    const std::int64_t first = std::max(q0, w_.first_column(tap)), last = std::min(q1, w_.last_column(tap));
    if (first >= last) return {};
    const std::int64_t x = first * w_.stride_w - w_.pad_left + tap * w_.dilation_w;
    Access a = line;
    a.address += (x * w_.c + channel) * bits_ / 8;
    a.row_bytes = (run.to - run.from) * bits_ / 8;
    a.rows = last - first;
    return cta.load(a, image_path());
}

/// Few channels: taps of a filter row are neighbours in memory, and so a pixel's run is one piece; at the borders it is cut.
Ticket Conv2d::load_merged(Cta& cta, const Access& line, const Run& run, std::int64_t q0, std::int64_t q1) const {
    Ticket ticket;
    const std::int64_t end_of_row = w_.w * w_.c;
    for (std::int64_t q = q0; q < q1;) {
        const std::int64_t start = (q * w_.stride_w - w_.pad_left) * w_.c;  // of the window, in elements of the row
        const std::int64_t from = std::max<std::int64_t>(0, start + run.from), to = std::min(end_of_row, start + run.to);
        const bool whole = to - from == run.to - run.from;
        const std::int64_t until_end = (end_of_row - start - run.to) / (w_.stride_w * w_.c) + 1;
        const std::int64_t count = whole ? std::min(q1 - q, until_end) : 1;
        q += count;
        if (from >= to) continue;
        Access a = line;
        a.address += from * bits_ / 8;
        a.row_bytes = (to - from) * bits_ / 8;
        a.rows = count;
        ticket = later(ticket, cta.load(a, image_path()));
    }
    return ticket;
}

}  // namespace rafter::kernels
