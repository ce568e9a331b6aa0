// Memory for the arrays of the machine model: made once, touched at random for the whole run. One arena on huge pages (where the
// host grants them) keeps the host's TLB out of the cost of a line request.
#pragma once

#include <cstddef>

namespace rafter::model {

/// `bytes` of zeroed memory aligned to 64 bytes; lives until the process ends. Errors: std::bad_alloc.
void* arena_allocate(std::size_t bytes);

/// For std::vector: allocation is for ever, so use it only for arrays that are made at elaboration and not resized beyond that.
template <class T>
struct ArenaAllocator {
    using value_type = T;
    ArenaAllocator() = default;
    template <class U>
    ArenaAllocator(const ArenaAllocator<U>&) {}
    T* allocate(std::size_t n) { return static_cast<T*>(arena_allocate(n * sizeof(T))); }
    void deallocate(T*, std::size_t) noexcept {}
    friend bool operator==(const ArenaAllocator&, const ArenaAllocator&) { return true; }
};

}  // namespace rafter::model
