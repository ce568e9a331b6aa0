// What the forward and the backward pass of embedding look-ups have in common.
#pragma once

#include <string>
#include <vector>

#include "sim/kernels/embedding_bag.h"
#include "sim/lowering/families.h"

namespace rafter::lowering {

/// One source for all tables when they are equal, else one each.
std::vector<kernels::IndexSource> index_sources(const workload::EmbeddingBag& op);
/// Everything that decides which rows are looked up, for signatures.
std::string index_text(const workload::EmbeddingBag& op);
/// Of a kernel for all tables.
kernels::EmbeddingBag::Parameters bag_parameters(const workload::Layer& layer, const workload::EmbeddingBag& op);

Launches lower_embedding_backward(const workload::Layer& layer, const workload::EmbeddingBag& op);

}  // namespace rafter::lowering
