// Puts a kernel together: arguments in the order of its buffers, and a signature from everything that decides its timing.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "sim/lowering/lower.h"
#include "sim/program/kernel.h"
#include "sim/workload/layer.h"

namespace rafter::lowering {

class KernelBuilder {
public:
    KernelBuilder(std::string name, program::Resources resources) {
        kernel_.name = std::move(name);
        kernel_.resources = resources;
    }
    KernelBuilder& argument(program::Argument argument) {
        kernel_.arguments.push_back(std::move(argument));
        return *this;
    }
    KernelBuilder& arguments(const std::vector<program::Argument>& list) {
        for (const auto& a : list) argument(a);
        return *this;
    }
    KernelBuilder& grid(std::int64_t ctas) { return kernel_.grid = ctas, *this; }
    KernelBuilder& graph(bool on) { return kernel_.graph = on, *this; }
    KernelBuilder& cooperative(bool on) { return kernel_.cooperative = on, *this; }
    KernelBuilder& math(DType dtype, bool tensor, Count macs = 0) {
        kernel_.dtype = dtype, kernel_.tensor = tensor;
        (tensor ? kernel_.issued_macs : kernel_.lane_macs) = macs;
        return *this;
    }
    /// `parameters`: every field of the code's parameters as text.
    program::Kernel build(std::shared_ptr<const program::Code> code, const std::string& parameters);

private:
    program::Kernel kernel_;
};

/// The tensor at `index` of a layer's list as an argument of at least `size` bytes; a tensor of the layer's own when the list is
/// shorter.
program::Argument argument_of(const std::vector<workload::Tensor>& list, std::size_t index, const workload::Layer& layer,
                              const std::string& role, std::int64_t size, program::Use use);

/// "a,b,c," of integers.
std::string join(std::initializer_list<std::int64_t> values);

}  // namespace rafter::lowering
