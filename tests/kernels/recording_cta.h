// A machine that does nothing but count: runs tile programs eagerly (every wait is over at once).
#pragma once

#include <algorithm>
#include <cstdint>
#include <stdexcept>
#include <vector>

#include "sim/core/error.h"
#include "sim/core/quantity.h"
#include "sim/program/kernel.h"

namespace rafter::test {

/// What a kernel asked of the machine, over all of its CTAs.
struct Record {
    std::vector<std::int64_t> loaded, stored;            ///< bytes by buffer
    std::vector<std::vector<std::uint16_t>> read_count;  ///< times each byte was read, by buffer (when asked for)
    std::vector<std::vector<std::uint16_t>> write_count;
    Count macs{};
    std::int64_t fma{}, sfu{}, integer{}, shared_bytes{}, loads{}, calls{}, products{}, grid_syncs{};
};

class RecordingCta final : public program::Cta {
public:
    RecordingCta(std::int64_t index, const std::vector<program::Buffer>& buffers, Record& record, bool bytes)
        : index_(index), buffers_(buffers), record_(record), bytes_(bytes) {}

    std::int64_t index() const override { return index_; }
    program::Ticket load(const program::Access& a, program::Path) override {
        ++record_.loads;
        touch(a, record_.loaded, record_.read_count);
        return {++clock_, 0};
    }
    program::Ticket store(const program::Access& a) override {
        touch(a, record_.stored, record_.write_count);
        return {++clock_, 0};
    }
    program::Ticket atomic_add(const program::Access& a) override { return store(a); }
    program::Ticket mma_async(const program::Mma& mma) override {
        count(mma);
        return {++clock_, 0};
    }
    program::Suspend wait(const program::Ticket&) override { return ready(); }
    program::Suspend mma(const program::Mma& mma) override {
        count(mma);
        return ready();
    }
    program::Suspend vector(const program::Vector& v) override {
        record_.fma += v.fma, record_.sfu += v.sfu, record_.integer += v.integer, record_.shared_bytes += v.shared_bytes;
        if (v.fma < 0 || v.sfu < 0 || v.integer < 0 || v.chain < 0) throw std::logic_error("negative vector work");
        return ready();
    }
    program::Suspend shared(std::int64_t bytes) override {
        record_.shared_bytes += bytes;
        return ready();
    }
    program::Suspend barrier() override { return ready(); }
    program::Suspend grid_sync() override {
        ++record_.grid_syncs;
        return ready();
    }

private:
    program::Suspend ready() {
        ++record_.calls;
        return {true};
    }
    void count(const program::Mma& mma) {
        ++record_.products;
        record_.macs += Count(mma.m) * Count(mma.n) * Count(mma.k);
    }
    void touch(const program::Access& a, std::vector<std::int64_t>& total, std::vector<std::vector<std::uint16_t>>& counts) {
        if (a.row_bytes <= 0 || a.rows <= 0) throw std::logic_error("empty access");
        const std::int64_t last = a.address + (a.rows - 1) * a.pitch + a.row_bytes;
        for (std::size_t i = 0; i < buffers_.size(); ++i) {
            const program::Buffer& b = buffers_[i];
            if (a.address < b.base || last > b.base + b.size) continue;
            total[i] += a.rows * a.row_bytes;
            for (std::int64_t row = 0; bytes_ && row < a.rows; ++row) {
                for (std::int64_t x = 0; x < a.row_bytes; ++x) {
                    ++counts[i][static_cast<std::size_t>(a.address - b.base + row * a.pitch + x)];
                }
            }
            return;
        }
        throw std::logic_error("access outside of every buffer");
    }

    std::int64_t index_;
    const std::vector<program::Buffer>& buffers_;
    Record& record_;
    bool bytes_;
    std::int64_t clock_{0};
};

inline std::vector<program::Buffer> buffers_of(const program::Kernel& kernel) {
    std::vector<program::Buffer> buffers;
    std::int64_t next = 1 << 20;
    for (const auto& argument : kernel.arguments) {
        const auto same = std::find_if(buffers.begin(), buffers.end(), [&](const auto& b) { return b.id == argument.tensor; });
        if (same != buffers.end()) {  // the same tensor is the same memory; its touches count for the first argument
            buffers.push_back({argument.tensor, same->base, argument.size});
            continue;
        }
        buffers.push_back({argument.tensor, next, argument.size});
        next += ceil_div(argument.size, 128) * 128 + 128;
    }
    return buffers;
}

/// Runs every CTA of the kernel. `bytes`: count the touches of each byte as well.
inline Record record(const program::Kernel& kernel, bool bytes = false) {
    Record r;
    const auto buffers = buffers_of(kernel);
    r.loaded.resize(buffers.size());
    r.stored.resize(buffers.size());
    if (bytes) {
        for (const auto& b : buffers) {
            r.read_count.emplace_back(static_cast<std::size_t>(b.size));
            r.write_count.emplace_back(static_cast<std::size_t>(b.size));
        }
    }
    for (std::int64_t i = 0; i < kernel.grid; ++i) {
        RecordingCta cta(i, buffers, r, bytes);
        program::TileProgram program = kernel.code->run(cta, buffers);
        if (program.resume()) throw std::logic_error("a program that waits for nothing");
    }
    return r;
}

}  // namespace rafter::test
