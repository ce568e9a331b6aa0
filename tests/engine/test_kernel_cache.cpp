// Measurements of kernels on disk: found again, never half, never of other code. docs/model/engine.md, (E.7).
#include "sim/engine/kernel_cache.h"

#include <filesystem>
#include <fstream>
#include <thread>

#include "tests/support.h"

using namespace rafter;
using engine::KernelCache;
namespace fs = std::filesystem;

namespace {

struct Place {
    std::string path{fs::temp_directory_path() / ("rafter_cache_" + std::to_string(getpid()))};
    ~Place() { fs::remove_all(path); }
};

struct Warnings {
    std::vector<std::string> said;
    KernelCache::Warn sink() {
        return [this](const std::string& text) { said.push_back(text); };
    }
};

machine::KernelMeasurement measurement() {
    machine::KernelMeasurement m;
    m.time = Femtoseconds(123), m.resident = Femtoseconds(-4);
    m.causes[3] = Femtoseconds(std::int64_t{1} << 62);
    m.traffic.link_write = Bytes(9);
    m.simulated_units = 5;
    m.buffers = {{1, 2, 3}, {4, 5, 6}};
    m.warm = {{7, 8, 9}};
    return m;
}

void damage(const std::string& path, const std::function<std::string(std::string)>& how) {
    std::ifstream in(path, std::ios::binary);
    const std::string content(std::istreambuf_iterator<char>(in), {});
    std::ofstream(path, std::ios::binary) << how(content);
}

}  // namespace

TEST_CASE("what was kept is found, under its key and code alone", "[cache]") {
    const Place place;
    Warnings warnings;
    KernelCache cache(place.path, "code", warnings.sink());
    CHECK_FALSE(cache.find("key"));
    cache.keep("key", measurement());
    const auto found = cache.find("key");
    REQUIRE(found);
    CHECK(found->time == Femtoseconds(123));
    CHECK(found->resident == Femtoseconds(-4));
    CHECK(found->causes == measurement().causes);
    CHECK(found->traffic.link_write == Bytes(9));
    CHECK(found->simulated_units == 5);
    REQUIRE(found->buffers.size() == 2);
    CHECK(found->buffers[1].dirty_lines == 5);
    CHECK(found->warm[0].copied_lines == 9);
    CHECK_FALSE(cache.find("other"));
    CHECK_FALSE(KernelCache(place.path, "newer code", warnings.sink()).find("key"));
    CHECK(KernelCache::size(place.path).entries == 1);
    CHECK(KernelCache::clear(place.path).entries == 1);
    CHECK(KernelCache::size(place.path).entries == 0);
    CHECK(warnings.said.empty());
}

TEST_CASE("a damaged entry is warned of, not used, and written anew", "[cache]") {
    const Place place;
    Warnings warnings;
    KernelCache cache(place.path, "code", warnings.sink());
    const std::vector<std::function<std::string(std::string)>> ways{[](std::string s) { return s.substr(0, s.size() / 2); },
                                                                    [](std::string) { return std::string(); },
                                                                    [](std::string s) {
                                                                        s[s.size() - 3] ^= 1;
                                                                        return s;
                                                                    },
                                                                    [](const std::string&) { return std::string(5000, 'x'); }};
    std::size_t damaged = 0;
    for (const auto& way : ways) {
        cache.keep("key", measurement());
        damage(cache.path_of("key"), way);
        CHECK_FALSE(cache.find("key"));
        CHECK(warnings.said.size() == ++damaged);
        cache.keep("key", measurement());
        CHECK(cache.find("key"));
    }
}

TEST_CASE("writers at the same time leave whole entries", "[cache]") {
    const Place place;
    std::vector<pid_t> children;
    for (int child = 0; child < 8; ++child) {
        const pid_t pid = fork();
        if (pid == 0) {
            Warnings mine;
            KernelCache cache(place.path, "code", mine.sink());
            for (int i = 0; i < 200; ++i) {
                cache.keep("key" + std::to_string(i % 5), measurement());
                cache.find("key" + std::to_string((i + 1) % 5));
            }
            _exit(mine.said.empty() ? 0 : 1);
        }
        children.push_back(pid);
    }
    for (const pid_t pid : children) {
        int status = 1;
        waitpid(pid, &status, 0);
        CHECK(status == 0);
    }
    CHECK(KernelCache::size(place.path).entries == 5);
}

TEST_CASE("a folder that cannot be written is warned of once", "[cache]") {
    Warnings warnings;
    KernelCache cache("/proc/nowhere", "code", warnings.sink());
    cache.keep("key", measurement());
    cache.keep("other", measurement());
    CHECK(warnings.said.size() == 1);
}
