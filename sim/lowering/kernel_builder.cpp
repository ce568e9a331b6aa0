#include "sim/lowering/kernel_builder.h"

#include <algorithm>

namespace rafter::lowering {

program::Kernel KernelBuilder::build(std::shared_ptr<const program::Code> code, const std::string& parameters) {
    kernel_.code = std::move(code);
    const program::Resources& r = kernel_.resources;
    kernel_.signature = kernel_.name + "(" + parameters + ")" +
                        join({kernel_.grid, r.threads, r.registers_per_thread, r.shared_memory.value, kernel_.graph ? 1 : 0,
                              kernel_.cooperative ? 1 : 0, kernel_.tensor ? 1 : 0}) +
                        std::string(name(kernel_.dtype));
    for (const auto& a : kernel_.arguments) {
        kernel_.signature += "," + std::to_string(a.size) + ":" + std::to_string(static_cast<int>(a.use));
    }
    // Arguments that are the same memory make a kernel of its own.
    for (std::size_t i = 0; i < kernel_.arguments.size(); ++i) {
        for (std::size_t j = 0; j < i; ++j) {
            if (kernel_.arguments[i].tensor == kernel_.arguments[j].tensor)
                kernel_.signature += "=" + join({static_cast<std::int64_t>(i), static_cast<std::int64_t>(j)});
        }
    }
    return kernel_;
}

program::Argument argument_of(const std::vector<workload::Tensor>& list, std::size_t index, const workload::Layer& layer,
                              const std::string& role, std::int64_t size, program::Use use) {
    if (index >= list.size()) return {layer.name + "." + role, size, use};
    return {list[index].id, std::max(size, list[index].size.value), use};
}

std::string join(std::initializer_list<std::int64_t> values) {
    std::string text;
    for (const std::int64_t v : values) text += std::to_string(v) + ",";
    return text;
}

}  // namespace rafter::lowering
