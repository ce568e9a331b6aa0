// A kernel launch as a plain value: grid, resources, arguments, and the program each CTA runs.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "sim/core/dtype.h"
#include "sim/core/quantity.h"
#include "sim/program/access.h"
#include "sim/program/cta.h"
#include "sim/program/task.h"

namespace rafter::program {

struct Resources {
    std::int64_t threads{128};
    std::int64_t registers_per_thread{32};
    Bytes shared_memory{};  ///< per CTA, dynamic and static
};

/// How a kernel touches an argument; decides what it leaves in the L2 for the next kernel.
enum class Use : std::uint8_t { read, write, read_write };

struct Argument {
    std::string tensor;    ///< tensor id
    std::int64_t size{0};  ///< bytes
    Use use{Use::read};
};

/// The code of a kernel. One object serves all CTAs; `run` is a coroutine and must not keep references to temporaries.
class Code {
public:
    virtual ~Code() = default;
    /// `buffers[i]` belongs to argument i of the kernel and outlives the program.
    virtual TileProgram run(Cta& cta, const std::vector<Buffer>& buffers) const = 0;
};

struct Kernel {
    std::string name;       ///< as a profiler would show it, e.g. "gemm_fp16_128x256x64_3"
    std::string signature;  ///< every parameter that decides its timing: equal signatures behave equally
    std::int64_t grid{1};   ///< CTAs, in launch (rasterisation) order
    Resources resources;
    std::vector<Argument> arguments;
    std::shared_ptr<const Code> code;
    DType dtype{DType::fp16};  ///< that the multiply units work in; decides the clock (tensor peak or boost)
    bool tensor{false};        ///< uses tensor cores
    bool graph{false};         ///< launched from a captured graph: graph gap instead of stream gap
    bool cooperative{false};   ///< uses grid_sync; the grid must fit the machine
    Count issued_macs{};       ///< including padding of edge tiles
};

}  // namespace rafter::program
