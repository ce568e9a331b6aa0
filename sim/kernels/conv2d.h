// Convolution as implicit GEMM. Models cuDNN / CUTLASS implicit_gemm fprop (NHWC, KRSC): rows are output pixels, k runs over (r,
// s, channels), and the patches are gathered from the image as they are needed. CUDA twin: validate/twins/conv2d.cu.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sim/kernels/gemm.h"

namespace rafter::kernels {

/// The image side of a windowed operation. Padding is never fetched.
struct Window {
    std::int64_t n{1}, c{1}, h{1}, w{1}, r{1}, s{1}, p{1}, q{1};
    std::int64_t stride_h{1}, stride_w{1}, dilation_h{1}, dilation_w{1}, pad_top{0}, pad_left{0};

    /// Output columns [first, last) whose tap `s` lies inside the image.
    std::int64_t first_column(std::int64_t tap) const {
        return std::max<std::int64_t>(0, ceil_div(std::max<std::int64_t>(0, pad_left - tap * dilation_w), stride_w));
    }
    std::int64_t last_column(std::int64_t tap) const {
        const std::int64_t reach = w - 1 + pad_left - tap * dilation_w;
        return reach < 0 ? 0 : std::min(q, reach / stride_w + 1);
    }
    std::string text() const;
};

/// Buffers in order: image, weights, bias (if any), residual (if any), output.
class Conv2d : public Gemm {
public:
    /// `gemm`: batch = groups, m = n p q, n = output channels of a group, k = r s (channels of a group).
    Conv2d(const GemmParameters& gemm, const Window& window);

protected:
    program::Ticket load(program::Cta& cta, const std::vector<program::Buffer>& buffers, const Cursor& cursor) const override;

private:
    /// A contiguous run of k inside filter row `r`: elements [from, to) of (s, channel).
    struct Run {
        std::int64_t r, from, to;
    };
    program::Ticket load_run(program::Cta& cta, const program::Buffer& image, const Unit& unit, const Run& run) const;
    program::Ticket load_tap(program::Cta& cta, const program::Access& line, const Run& run, std::int64_t q0,
                             std::int64_t q1) const;
    program::Ticket load_merged(program::Cta& cta, const program::Access& line, const Run& run, std::int64_t q0,
                                std::int64_t q1) const;
    program::Path image_path() const;

    Window w_;
    std::int64_t channels_;  ///< of a group
    std::int64_t bits_;
    bool pointwise_, merges_;
};

}  // namespace rafter::kernels
