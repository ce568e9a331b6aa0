// Where the elements of a matrix lie, and small helpers shared by the tile programs.
#pragma once

#include <algorithm>
#include <cstdint>

#include "sim/core/dtype.h"
#include "sim/core/quantity.h"
#include "sim/program/access.h"
#include "sim/program/cta.h"

namespace rafter::kernels {

constexpr std::int64_t round_up(std::int64_t value, std::int64_t multiple) { return ceil_div(value, multiple) * multiple; }

/// A row-major matrix inside a buffer. Sub-byte elements are packed; a row of them that ends inside a byte shares that byte with
/// the next row, and the pitch is rounded down, so that no access leaves the buffer.
struct Matrix {
    std::int64_t offset{0};  ///< bytes from the start of the buffer
    std::int64_t pitch{0};   ///< bytes from row to row
    std::int64_t bits{16};   ///< of one element

    static Matrix packed(std::int64_t columns, DType dtype, std::int64_t offset = 0) {
        return {offset, std::max<std::int64_t>(columns * rafter::bits(dtype) / 8, 1), rafter::bits(dtype)};
    }

    /// Rows [row, row + rows) of columns [column, column + columns).
    program::Access block(const program::Buffer& buffer, std::int64_t row, std::int64_t rows, std::int64_t column,
                          std::int64_t columns) const {
        const std::int64_t from = column * bits / 8;
        const std::int64_t to = ceil_div((column + columns) * bits, 8);
        return {buffer.base + offset + row * pitch + from, to - from, rows, pitch};
    }
};

/// `size` consecutive bytes.
inline program::Access span(const program::Buffer& buffer, std::int64_t offset, std::int64_t size) {
    return {buffer.base + offset, size, 1, size};
}

/// The later of two tickets: waiting for it is waiting for both.
inline program::Ticket later(const program::Ticket& a, const program::Ticket& b) { return b.ready_fs > a.ready_fs ? b : a; }

/// A product on the tensor cores or, without them, on the FMA lanes (threads hold 8 x 8 patches: a load from shared memory for
/// every sixteen multiply-adds).
inline program::Suspend multiply(program::Cta& cta, const program::Mma& mma, bool tensor) {
    if (tensor) return cta.mma(mma);
    program::Vector v;
    v.fma = mma.m * mma.n * mma.k;
    v.integer = v.fma / 16;
    v.shared_bytes = mma.shared_bytes;
    v.dtype = mma.dtype;
    v.chain = mma.k;
    return cta.vector(v);
}

}  // namespace rafter::kernels
