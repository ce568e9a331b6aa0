// Small YAML texts and files, and the whole text of the error they give.
#pragma once

#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <functional>
#include <string>

#include "sim/config/reader.h"
#include "sim/core/error.h"

namespace rafter::tests {

/// what() of the Error thrown, or "no error".
inline std::string error_of(const std::function<void()>& body) {
    try {
        body();
    } catch (const Error& e) {
        return e.what();
    }
    return "no error";
}

/// Reads `text` as t.yaml by `read`, and gives all that was wrong with it.
inline std::string error_in(const std::string& text, const std::function<void(config::Map&)>& read) {
    return error_of([&] {
        const auto document = config::Document::parse(text, "t.yaml");
        config::Map map(document.root());
        read(map);
        map.finish();
        document.finish();
    });
}

/// A directory of its own, the current one as long as it lives, so that messages name files without a path.
class Folder {
public:
    Folder() : before_(std::filesystem::current_path()) {
        std::string name = (std::filesystem::temp_directory_path() / "rafter-test-XXXXXX").string();
        if (mkdtemp(name.data()) == nullptr) throw std::runtime_error("no temporary directory");
        path_ = name;
        std::filesystem::current_path(path_);
    }
    ~Folder() {
        std::filesystem::current_path(before_);
        std::filesystem::remove_all(path_);
    }
    Folder(const Folder&) = delete;
    Folder& operator=(const Folder&) = delete;

    void write(const std::string& name, const std::string& text) const { std::ofstream(path_ / name, std::ios::binary) << text; }

private:
    std::filesystem::path before_, path_;
};

}  // namespace rafter::tests
