// Launch of softmax, layer norm and RMS norm (twin of sim/kernels/row_reduction.cpp).
#include "validate/twins/kernels/row_reduction.h"

#include "validate/twins/launch.h"
#include "validate/twins/twins.h"

namespace rafter::validate {

namespace {

constexpr int kSharedBytes = 2 * 32 * 4;

template <RowOp Op, class T>
void launch_typed(const RowPlan& plan, const RowArguments<T>& arguments, cudaStream_t stream) {
    const LaunchShape shape{arguments.rows, plan.threads, kSharedBytes};
    if (!plan.wide) {
        launch(row_reduction_kernel<Op, 1, 0, T>, shape, stream, arguments);
    } else if (plan.packs == 1) {
        launch(row_reduction_kernel<Op, kPack<T>, 1, T>, shape, stream, arguments);
    } else if (plan.packs == 4) {
        launch(row_reduction_kernel<Op, kPack<T>, 4, T>, shape, stream, arguments);
    } else {
        launch(row_reduction_kernel<Op, kPack<T>, 0, T>, shape, stream, arguments);
    }
}

}  // namespace

void launch_row_reduction(RowOp op, DType dtype, int rows, int cols, const RowBuffers& b, cudaStream_t stream) {
    with_float(dtype, [&](auto tag) {
        using T = typename decltype(tag)::type;
        const RowPlan plan = plan_rows(dtype, cols);
        const RowArguments<T> arguments{static_cast<const T*>(b.in),
                                        static_cast<const T*>(b.scale),
                                        static_cast<const T*>(b.shift),
                                        static_cast<T*>(b.out),
                                        rows,
                                        cols};
        switch (op) {
            case RowOp::softmax:
                return launch_typed<RowOp::softmax>(plan, arguments, stream);
            case RowOp::layernorm:
                return launch_typed<RowOp::layernorm>(plan, arguments, stream);
            case RowOp::rmsnorm:
                return launch_typed<RowOp::rmsnorm>(plan, arguments, stream);
        }
    });
}

}  // namespace rafter::validate
