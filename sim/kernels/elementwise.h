// Elementwise operations. Models at::native::vectorized_elementwise_kernel: 128 threads, each with four 16-byte loads in flight.
// CUDA twin: validate/twins/elementwise.cu.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "sim/program/kernel.h"

namespace rafter::kernels {

/// Streams its inputs and outputs side by side. Buffers in order: inputs, outputs; each is read or written once, in proportion,
/// so that operands of different sizes (a bias row, a narrower output) keep their exact bytes.
class Elementwise : public program::Code {
public:
    static constexpr std::int64_t kThreads = 128;
    static constexpr std::int64_t kBytes = kThreads * 16;  ///< of the widest operand per CTA and step
    static constexpr std::int64_t kUnroll = 4;
    static constexpr std::int64_t kEagerElements =
        4 * kThreads;  ///< of a CTA of eager PyTorch: four a thread, whatever their width

    struct Parameters {
        std::vector<std::int64_t> reads, writes;  ///< bytes of each operand
        std::int64_t elements{};                  ///< of the operation
        std::int64_t fma{1}, sfu{0}, chain{1};    ///< per element
        std::int64_t ctas{1};
    };
    /// One step of kUnroll loads per CTA.
    static std::int64_t grid(const Parameters& p);

    explicit Elementwise(Parameters parameters) : p_(std::move(parameters)) {}
    program::TileProgram run(program::Cta& cta, const std::vector<program::Buffer>& buffers) const override;
    program::Repeats repeats(std::int64_t) const override { return {program::Repeat{0, p_.ctas - 1, 1}}; }

private:
    Parameters p_;
};

}  // namespace rafter::kernels
