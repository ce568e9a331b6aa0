#include "sim/model/arena.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstdint>
#include <new>

namespace rafter::model {

namespace {

constexpr std::size_t kHugePage = std::size_t{2} << 20;
constexpr std::size_t kChunk = std::size_t{16} << 20;

struct Chunk {
    std::uintptr_t next{0}, end{0};
};

Chunk make_chunk(std::size_t bytes) {
    const std::size_t size = (std::max(bytes, kChunk) + 2 * kHugePage - 1) / kHugePage * kHugePage;
    void* memory = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) throw std::bad_alloc();
    madvise(memory, size, MADV_HUGEPAGE);  // advice: a host without huge pages is only slower
    const auto begin = reinterpret_cast<std::uintptr_t>(memory);
    return {(begin + kHugePage - 1) / kHugePage * kHugePage, begin + size};
}

}  // namespace

void* arena_allocate(std::size_t bytes) {
    static Chunk chunk;
    const std::size_t rounded = (bytes + 63) / 64 * 64;
    if (chunk.end - chunk.next < rounded) chunk = make_chunk(rounded);
    void* memory = reinterpret_cast<void*>(chunk.next);
    chunk.next += rounded;
    return memory;
}

}  // namespace rafter::model
