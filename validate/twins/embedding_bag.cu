// Launch of the embedding bag (twin of sim/kernels/embedding_bag.cpp).
#include "validate/twins/kernels/embedding_bag.h"

#include "validate/twins/launch.h"
#include "validate/twins/twins.h"

namespace rafter::validate {

void launch_embedding_bag(DType dtype, const Embedding& p, const long long* indices, const void* tables, void* out,
                          cudaStream_t stream) {
    with_float(dtype, [&](auto tag) {
        using T = typename decltype(tag)::type;
        const BagArguments<T> arguments{p, indices, static_cast<const T*>(tables), static_cast<T*>(out)};
        const LaunchShape shape{ceil_of(p.bags(), static_cast<long long>(EmbeddingBag::kBagsPerCta)), EmbeddingBag::kThreads};
        if (p.dim % kPack<T> == 0) {
            launch(embedding_bag_kernel<kPack<T>, T>, shape, stream, arguments);
        } else {
            launch(embedding_bag_kernel<1, T>, shape, stream, arguments);
        }
    });
}

}  // namespace rafter::validate
