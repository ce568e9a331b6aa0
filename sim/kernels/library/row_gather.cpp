#include "sim/kernels/library/row_gather.h"

#include "sim/kernels/layout.h"

namespace rafter::kernels {

using program::Access;
using program::Buffer;
using program::Cta;
using program::Path;

// index; its piece of the row; store.
program::TileProgram RowGather::run(Cta& cta, const std::vector<Buffer>& buffers) const {
    const std::int64_t token = cta.index() / p_.pieces(), from = cta.index() % p_.pieces() * kPieceBytes;
    const std::int64_t bytes = std::min(kPieceBytes, p_.row_bytes - from);
    const Access index = span(buffers[0], token * 8, 8);
    co_await cta.wait(cta.load(index, Path::through_l1));
    const Access row = span(buffers[1], indices_.row(0, token) * p_.row_bytes + from, bytes);
    co_await cta.wait(cta.load(row, Path::streaming));
    const Access out = span(buffers[2], token * p_.row_bytes + from, bytes);
    cta.store(out);
}

}  // namespace rafter::kernels
