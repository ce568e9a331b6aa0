#include <fmt/format.h>

#include "sim/cli/cli.h"
#include "sim/core/error.h"
#include "sim/engine/kernel_cache.h"
#include "sim/report/report.h"

namespace rafter::cli {

int cache(bool clear) {
    const std::string folder = engine::default_cache_folder();
    if (folder.empty()) throw Error("error: neither XDG_CACHE_HOME nor HOME says where the cache is");
    const auto size = clear ? engine::KernelCache::clear(folder) : engine::KernelCache::size(folder);
    fmt::print("{}\n{}{} kernels, {}\n", folder, clear ? "removed: " : "", size.entries, report::human_bytes(Bytes(size.bytes)));
    return 0;
}

}  // namespace rafter::cli
