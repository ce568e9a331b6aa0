// Layers and models from a few lines of text.
#pragma once

#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "sim/core/error.h"
#include "sim/workload/model.h"
#include "tests/catch.h"

namespace rafter::workload::test {

using Settings = std::vector<std::pair<std::string, std::string>>;

/// A file in the temporary directory that goes with the object.
class TemporaryFile {
public:
    explicit TemporaryFile(const std::string& content, const std::string& extension = ".yaml") {
        static int number = 0;
        const auto name = fmt::format("rafter_test_{}_{}{}", getpid(), ++number, extension);
        path_ = (std::filesystem::temp_directory_path() / name).string();
        std::ofstream(path_, std::ios::binary) << content;
    }
    TemporaryFile(const TemporaryFile&) = delete;
    TemporaryFile& operator=(const TemporaryFile&) = delete;
    ~TemporaryFile() { std::filesystem::remove(path_); }
    const std::string& path() const { return path_; }
    std::string name() const { return std::filesystem::path(path_).filename().string(); }

private:
    std::string path_;
};

inline Model load_text(const std::string& text, const Settings& settings = {}) {
    const TemporaryFile file("schema: rafter.workload/1\ntitle: test\nfamily: mlp\n" + text);
    return load(file.path(), settings);
}

/// The layer of "op: gemm, m: 1, ..." in a workload of that dtype.
inline Layer layer_of(const std::string& fields, const std::string& dtype = "fp16") {
    const Model model = load_text(fmt::format("dtype: {}\nlayers:\n  - {{name: layer, {}}}\n", dtype, fields));
    const Phase& phase = model.phases.at(0);
    return phase.layer_at(phase.blocks.at(0), 0, 0, 0);
}

inline std::string error_of(const std::string& text, const Settings& settings = {}) {
    try {
        load_text(text, settings);
    } catch (const Error& e) {
        return e.what();
    }
    return "no error";
}

inline std::string layer_error(const std::string& fields, const std::string& dtype = "fp16") {
    return error_of(fmt::format("dtype: {}\nlayers:\n  - {{name: layer, {}}}\n", dtype, fields));
}

/// Counts as decimal text: __int128 has no stream operator.
inline std::string text(Count n) {
    std::string digits;
    do {
        digits.insert(digits.begin(), static_cast<char>('0' + static_cast<int>(n % 10)));
        n /= 10;
    } while (n > 0);
    return digits;
}

/// Counts of a whole model, block repetitions and steps included.
inline Count total_macs(const Model& model) {
    Count macs{};
    for (const Phase& phase : model.phases) {
        for (const Block& block : phase.blocks) {
            for (std::size_t i = 0; i < block.layers.size(); ++i) {
                for (std::int64_t step = 0; step < phase.steps; ++step)
                    macs += count(phase.layer_at(block, i, step, 0)).macs * static_cast<Count>(block.repeat);
            }
        }
    }
    return macs;
}

/// A layer of a model by block and name, at a step.
inline Layer find(const Model& model, const std::string& phase_name, const std::string& name, std::int64_t step = 0,
                  std::int64_t repetition = 0) {
    for (const Phase& phase : model.phases) {
        for (const Block& block : phase.blocks) {
            for (std::size_t i = 0; i < block.layers.size(); ++i) {
                if (phase.name == phase_name && block.layers[i].name == name) return phase.layer_at(block, i, step, repetition);
            }
        }
    }
    throw InternalError("no layer " + name);
}

}  // namespace rafter::workload::test
