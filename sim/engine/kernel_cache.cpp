#include "sim/engine/kernel_cache.h"

#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>
#include <utility>

#include <fmt/format.h>

#include "sim/core/error.h"
#include "sim/core/mix.h"

namespace rafter::engine {

namespace fs = std::filesystem;

namespace {

constexpr std::string_view kFormat = "rafter.kernel/1";
constexpr std::size_t kMostBuffers = 1 << 16;

std::uint64_t hash(std::string_view text, std::uint64_t seed) {
    std::uint64_t h = mix(seed, text.size());
    for (std::size_t i = 0; i < text.size(); i += 8) {
        std::uint64_t word = 0;
        std::memcpy(&word, text.data() + i, std::min<std::size_t>(8, text.size() - i));
        h = (h ^ word) * 0x9e3779b97f4a7c15ULL;
        h ^= h >> 29;
    }
    return mix(h);
}

std::string digest(std::string_view text) { return fmt::format("{:016x}{:016x}", hash(text, 1), hash(text, 2)); }

std::optional<std::string> read(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    if (!file) return std::nullopt;
    return std::string(std::istreambuf_iterator<char>(file), {});
}

// A field more must be written and read as well.
static_assert(sizeof(machine::KernelMeasurement) ==
              (1 + stats::kCauses + 8 + 4 + 2 + 6) * sizeof(std::int64_t) + 2 * sizeof(std::vector<machine::Residency>));

/// Visits every number of a measurement, to write it or to read it.
template <class Measurement, class Visit>
void each_number(Measurement& m, Visit visit) {
    visit(m.time.value);
    for (auto& cause : m.causes) visit(cause.value);
    auto& t = m.traffic;
    for (auto* bytes : {&t.l1_read, &t.l1_write, &t.l2_read, &t.l2_write, &t.hbm_read, &t.hbm_write, &t.link_read, &t.link_write})
        visit(bytes->value);
    visit(m.resident.value);
    for (auto* n : {&m.line_requests, &m.events, &m.units, &m.simulated_lines, &m.simulated_events, &m.simulated_units})
        visit(*n);
    visit(m.clock.value);
    for (auto* n : {&m.lanes.fp64_flops, &m.lanes.fp32_flops, &m.lanes.fp16_flops, &m.lanes.operations}) visit(*n);
    for (auto* list : {&m.buffers, &m.warm}) {
        for (auto& residency : *list)
            visit(residency.resident_lines), visit(residency.dirty_lines), visit(residency.copied_lines);
    }
}

std::string text_of(const machine::KernelMeasurement& measured) {
    std::string text = fmt::format("{} {}", measured.buffers.size(), measured.warm.size());
    each_number(measured, [&](std::int64_t n) { text += fmt::format(" {}", n); });
    return text + "\n";
}

std::optional<machine::KernelMeasurement> measurement_of(const std::string& text) {
    std::istringstream in(text);
    machine::KernelMeasurement m;
    std::size_t buffers = 0, warm = 0;
    if (!(in >> buffers >> warm) || buffers > kMostBuffers || warm > kMostBuffers) return std::nullopt;
    m.buffers.resize(buffers), m.warm.resize(warm);
    each_number(m, [&](std::int64_t& n) { in >> n; });
    if (!in) return std::nullopt;
    return m;
}

}  // namespace

KernelCache::KernelCache(std::string folder, std::string code, Warn warn)
    : folder_(std::move(folder)), code_(std::move(code)), warn_(std::move(warn)) {}

std::string KernelCache::path_of(const std::string& key) const {
    const std::string name = digest(code_ + "\n" + key);
    return folder_ + "/" + name.substr(0, 2) + "/" + name.substr(2);
}

// The first line is the format and a digest of what follows: the code and the key, a line each, and the numbers.
std::optional<machine::KernelMeasurement> KernelCache::find(const std::string& key) const {
    const std::string path = path_of(key);
    const auto content = read(path);
    if (!content) return std::nullopt;
    const auto line = content->find('\n');
    const std::string body = line == std::string::npos ? "" : content->substr(line + 1);
    const std::string head = code_ + "\n" + key + "\n";
    if (content->substr(0, line) == fmt::format("{} {}", kFormat, digest(body))) {
        if (body.rfind(head, 0) != 0) return std::nullopt;  // another key of the same digest
        if (auto measured = measurement_of(body.substr(head.size()))) return measured;
    }
    warn_(fmt::format("warning: {} is damaged; the kernel is simulated again", path));
    return std::nullopt;
}

void KernelCache::keep(const std::string& key, const machine::KernelMeasurement& measured) {
    if (!writable_) return;
    const std::string path = path_of(key), body = code_ + "\n" + key + "\n" + text_of(measured);
    const std::string beside = fmt::format("{}.{}", path, getpid());
    std::error_code failed;
    fs::create_directories(fs::path(path).parent_path(), failed);
    std::ofstream file(beside, std::ios::binary);
    file << fmt::format("{} {}\n", kFormat, digest(body)) << body;
    file.close();
    if (file) fs::rename(beside, path, failed);
    if (file && !failed) return;
    writable_ = false;
    fs::remove(beside, failed);
    warn_(fmt::format("warning: nothing can be kept in {}: results of kernels are not cached", folder_));
}

KernelCache::Size KernelCache::size(const std::string& folder) {
    Size size;
    std::error_code ignored;
    for (fs::recursive_directory_iterator at(folder, ignored), end; at != end; at.increment(ignored)) {
        if (!at->is_regular_file(ignored)) continue;
        ++size.entries;
        size.bytes += static_cast<std::int64_t>(at->file_size(ignored));
    }
    return size;
}

KernelCache::Size KernelCache::clear(const std::string& folder) {
    const Size before = size(folder);
    std::error_code failed;
    fs::remove_all(folder, failed);
    if (failed) throw Error(fmt::format("error: cannot remove {}: {}", folder, failed.message()));
    return before;
}

std::string default_cache_folder() {
    const char *xdg = std::getenv("XDG_CACHE_HOME"), *home = std::getenv("HOME");
    if (xdg != nullptr && *xdg == '/') return std::string(xdg) + "/rafter/kernels";  // a relative one is to be ignored
    if (home != nullptr && *home == '/') return std::string(home) + "/.cache/rafter/kernels";
    return "";
}

std::string code_hash() {
    const auto program = read("/proc/self/exe");
    if (!program) throw Error("error: cannot read /proc/self/exe, which names the entries of the cache; give --no-cache");
    return digest(*program);
}

}  // namespace rafter::engine
