// A kernel launch as a plain value: grid, resources, arguments, and the program each CTA runs.
#pragma once

#include <array>
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
    Tier tier{Tier::hbm};
};

/// Units of work that are alike: those of [first, end) do the same on other data, `period` of them after each other. A unit is a
/// CTA, or a tile of a persistent kernel. `first` is a place where nothing of the data before is used again but what every period
/// uses.
struct Repeat {
    std::int64_t first{0}, end{0}, period{0};
    std::int64_t reuse_bytes{0};  ///< touched until data of this stretch is used again outside of it; 0: it never is
    bool gathers{false};          ///< what a unit finds in the L2 depends on all units before it
    bool uniform{true};           ///< the units of a period cost the same
    friend bool operator==(const Repeat&, const Repeat&) = default;
};
/// Stretches inside stretches, shortest period first; period 0: none at this level.
using Repeats = std::array<Repeat, 3>;

/// The code of a kernel. One object serves all CTAs; `run` is a coroutine and must not keep references to temporaries.
class Code {
public:
    virtual ~Code() = default;
    /// The stretches of like units that hold `unit`; asked again at the first of their ends, if that
    /// is ahead. None: every unit has to be run.
    virtual Repeats repeats(std::int64_t /*unit*/) const { return {}; }
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
    DType dtype{DType::fp16};         ///< that the multiply units work in; decides the clock (tensor peak or boost)
    bool tensor{false};               ///< uses tensor cores
    std::int64_t host_calls{0};       ///< that an eager framework makes on the host before it launches this kernel
    std::int64_t stream_commands{0};  ///< events recorded or waited for before it: each passes like a launch without work
    bool graph{false};                ///< launched from a captured graph: graph gap instead of stream gap
    bool cooperative{false};          ///< uses grid_sync; the grid must fit the machine
    Count issued_macs{};              ///< on tensor cores, including padding of edge tiles
    Count lane_macs{};                ///< of products on the vector lanes, the same way
};

}  // namespace rafter::program
