// Launch of the split-K reduction (twin of sim/kernels/split_k_reduce.cpp).
#include "validate/twins/kernels/split_k_reduce.h"

#include "validate/twins/launch.h"
#include "validate/twins/twins.h"

namespace rafter::validate {

void launch_split_k_reduce(DType dtype, const float* partials, void* out, std::int64_t elements, int splits,
                           cudaStream_t stream) {
    with_float(dtype, [&](auto tag) {
        using T = typename decltype(tag)::type;
        const auto count = static_cast<long long>(elements);
        launch(split_k_reduce_kernel<T>, {ceil_of(count, static_cast<long long>(kReduceElements)), kReduceThreads}, stream,
               partials, static_cast<T*>(out), count, splits);
    });
}

}  // namespace rafter::validate
