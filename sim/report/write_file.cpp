#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>

#include <fmt/format.h>

#include "sim/core/error.h"
#include "sim/report/report.h"

namespace rafter::report {

namespace fs = std::filesystem;

namespace {

[[noreturn]] void refuse(const std::string& path) {
    throw Error(fmt::format("error: {} exists; give --force to replace it", path));
}
[[noreturn]] void fail(const std::string& path, const std::string& why) {
    throw Error(fmt::format("error: cannot write {}: {}", path, why));
}

/// A terminal, /dev/null or a pipe: there is nothing to replace.
bool is_stream(const std::string& path) {
    std::error_code ignored;
    const auto status = fs::status(path, ignored);
    return fs::exists(status) && !fs::is_regular_file(status) && !fs::is_directory(status);
}

bool exists(const std::string& path) {
    std::error_code ignored;
    return fs::exists(fs::symlink_status(path, ignored));
}

void write_all(const std::string& path, const std::string& content) {
    std::ofstream file(path, std::ios::binary);
    file << content;
    file.close();
    if (!file) fail(path, std::strerror(errno));
}

/// The finished file takes its name in one step. A link fails when the name is taken; a rename would not.
void publish(const std::string& from, const std::string& path, bool force) {
    std::error_code failed;
    if (!force) {
        fs::create_hard_link(from, path, failed);
        if (failed == std::errc::file_exists) refuse(path);
        if (!failed) return;
        if (exists(path)) refuse(path);  // a file system without hard links
    }
    fs::rename(from, path, failed);
    if (failed) fail(path, failed.message());
}

struct Temporary {
    std::string path;
    ~Temporary() {
        std::error_code ignored;
        fs::remove(path, ignored);
    }
};

}  // namespace

void check_writable(const std::string& path, bool force) {
    if (is_stream(path)) return;
    std::error_code ignored;
    if (fs::is_directory(path, ignored)) fail(path, "it is a folder");
    if (exists(path) && !force) refuse(path);
    const fs::path folder = fs::path(path).parent_path();
    if (!folder.empty() && !fs::is_directory(folder, ignored)) fail(path, fmt::format("no folder {}", folder.string()));
}

void write_file(const std::string& path, const std::string& content, bool force) {
    if (is_stream(path)) return write_all(path, content);
    check_writable(path, force);
    const Temporary beside{fmt::format("{}.{}.part", path, getpid())};
    write_all(beside.path, content);
    publish(beside.path, path, force);
}

}  // namespace rafter::report
