#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>

#include <fmt/format.h>

#include "sim/core/error.h"
#include "sim/report/report.h"

namespace rafter::report {

namespace {

std::string scaled(double value, const char* unit) {
    constexpr std::array<const char*, 7> prefixes{"", "k", "M", "G", "T", "P", "E"};
    std::size_t i = 0;
    while (value >= 999.5 && i + 1 < prefixes.size()) {
        value /= 1000;
        ++i;
    }
    const std::string gap = *unit == '\0' && i == 0 ? "" : " ";
    if (i == 0) return fmt::format("{:.0f}{}{}", value, gap, unit);
    return fmt::format("{:.{}f}{}{}{}", value, value < 9.995 ? 2 : value < 99.95 ? 1 : 0, gap, prefixes[i], unit);
}

}  // namespace

std::string human_time(Femtoseconds t) {
    const double s = seconds(t);
    if (s < 1e-6) return fmt::format("{:.0f} ns", s * 1e9);
    if (s < 1e-3) return fmt::format("{:.4g} us", s * 1e6);
    if (s < 1) return fmt::format("{:.4g} ms", s * 1e3);
    return fmt::format("{:.4g} s", s);
}

std::string human_bytes(Bytes b) { return scaled(static_cast<double>(b.value), "B"); }

std::string human_count(double n) { return scaled(n, ""); }

void write_file(const std::string& path, const std::string& content, bool force) {
    namespace fs = std::filesystem;
    if (fs::exists(path) && !force) throw Error(fmt::format("error: {} exists; give --force to replace it", path));
    const std::string beside = fmt::format("{}.{}.part", path, getpid());
    {
        std::ofstream file(beside, std::ios::binary);
        file << content;
        file.flush();
        if (!file) {
            const std::string why = std::strerror(errno);
            std::error_code ignored;
            fs::remove(beside, ignored);
            throw Error(fmt::format("error: cannot write {}: {}", path, why));
        }
    }
    std::error_code failed;
    fs::rename(beside, path, failed);
    if (failed) {
        std::error_code ignored;
        fs::remove(beside, ignored);
        throw Error(fmt::format("error: cannot write {}: {}", path, failed.message()));
    }
}

}  // namespace rafter::report
