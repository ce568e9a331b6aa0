// Windowed operations channel by channel: depthwise convolution and pooling. Models cuDNN's conv2d_c1_k1_nhwc / PyTorch's
// conv_depthwise2d and max_pool_forward_nhwc: a CTA owns a block of output pixels and a slice of channels, and works on the FMA
// lanes. CUDA twin: validate/twins/direct_window.cu.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sim/kernels/conv2d.h"
#include "sim/kernels/epilogue.h"
#include "sim/program/kernel.h"

namespace rafter::kernels {

/// Buffers in order: image, weights (if weighted), bias (if any), residual (if any), output.
class DirectWindow : public program::Code {
public:
    static constexpr std::int64_t kThreads = 256;
    static constexpr std::int64_t kRows = 8, kColumns = 16;  ///< output pixels of a CTA
    static constexpr std::int64_t kChannelBytes = 128;       ///< of a pixel

    struct Parameters {
        Window window;
        std::int64_t multiplier{1};  ///< output channels for each input channel
        bool weighted{true};
        DType dtype{DType::fp16}, weights{DType::fp16};
        Epilogue epilogue;

        std::int64_t channels_per_cta() const { return std::min(window.c, kChannelBytes * 8 / bits(dtype)); }
        std::int64_t grid() const {
            return window.n * ceil_div(window.p, kRows) * ceil_div(window.q, kColumns) * ceil_div(window.c, channels_per_cta());
        }
        std::string text() const;
    };

    explicit DirectWindow(const Parameters& p) : p_(p) {}
    program::TileProgram run(program::Cta& cta, const std::vector<program::Buffer>& buffers) const override;
    program::Repeats repeats(std::int64_t unit) const override;

private:
    struct Work {
        std::int64_t image, p0, p1, q0, q1, channel, channels;
        std::int64_t pixels() const { return (p1 - p0) * (q1 - q0); }
    };
    Work work(std::int64_t index) const;
    program::Ticket load_image(program::Cta& cta, const program::Buffer& image, const Work& w) const;
    program::Ticket load_parameters(program::Cta& cta, const std::vector<program::Buffer>& buffers, const Work& w) const;
    program::Vector arithmetic(const Work& w) const;
    program::Access output_row(const program::Buffer& buffer, const Work& w, std::int64_t p) const;

    Parameters p_;
};

}  // namespace rafter::kernels
