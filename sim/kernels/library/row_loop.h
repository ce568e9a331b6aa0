// Kernels that give a CTA to a row and loop over it, once or several times, as those of PyTorch and vLLM do: norms, softmax,
// gated activations, rotary embedding. Which one it is, is a matter of parameters (lowering/library/rows.cpp).
// docs/model/libraries.md.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "sim/program/kernel.h"

namespace rafter::kernels {

class RowLoop : public program::Code {
public:
    /// A buffer of which every row reads or writes `row_bytes`, its own or (`shared`) the same.
    struct Stream {
        std::size_t buffer{0};
        std::int64_t row_bytes{0};
        bool shared{false};
    };
    /// One loop over the row. Lane operations are per element.
    struct Pass {
        std::vector<Stream> loads, stores;
        std::int64_t integer{0}, fma{0}, sfu{0};
        std::int64_t chain{1};         ///< dependent instructions of a step, behind its loads
        std::int64_t reduction{0};     ///< dependent instructions of the reduction behind the pass; 0: there is none
        std::int64_t barriers{0};      ///< of that reduction
        std::int64_t shared_reads{0};  ///< bytes of an element that come from shared memory
        bool atomic{false};            ///< a thread combines the CTA's result with the first word of the last buffer
    };
    struct Parameters {
        std::int64_t rows{}, rows_per_cta{1}, cols{};
        std::int64_t step{};    ///< elements of a row between one wait for loads and the next
        std::int64_t padded{};  ///< elements of a row the lanes work on, idle ones included; at least cols
        std::vector<Pass> passes;
        std::string text() const;
    };
    static std::int64_t grid(const Parameters& p) { return ceil_div(p.rows, p.rows_per_cta); }

    explicit RowLoop(Parameters parameters) : p_(std::move(parameters)) {}
    program::TileProgram run(program::Cta& cta, const std::vector<program::Buffer>& buffers) const override;
    program::Repeats repeats(std::int64_t) const override { return {program::Repeat{0, p_.rows / p_.rows_per_cta, 1}}; }

private:
    program::Access part(const Stream& stream, const program::Buffer& buffer, std::int64_t row, std::int64_t rows,
                         std::int64_t column) const;
    program::Vector work(const Pass& pass, std::int64_t elements) const;
    Parameters p_;
};

}  // namespace rafter::kernels
