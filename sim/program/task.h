// The coroutine type of a tile program. Frames come from a free list, so that launching a CTA allocates nothing once warm.
#pragma once

#include <coroutine>
#include <cstddef>
#include <exception>
#include <utility>

namespace rafter::program {

void* allocate_frame(std::size_t size);
void release_frame(void* frame, std::size_t size) noexcept;

/// What one CTA does. Starts suspended; resumed by the SM; destroyed with the object.
class TileProgram {
public:
    struct promise_type {
        TileProgram get_return_object() { return TileProgram(Handle::from_promise(*this)); }
        std::suspend_always initial_suspend() noexcept { return {}; }
        std::suspend_always final_suspend() noexcept { return {}; }
        void return_void() {}
        void unhandled_exception() { failure = std::current_exception(); }
        static void* operator new(std::size_t size) { return allocate_frame(size); }
        static void operator delete(void* frame, std::size_t size) noexcept { release_frame(frame, size); }
        std::exception_ptr failure;
    };
    using Handle = std::coroutine_handle<promise_type>;

    TileProgram() = default;
    explicit TileProgram(Handle handle) : handle_(handle) {}
    TileProgram(TileProgram&& other) noexcept : handle_(std::exchange(other.handle_, nullptr)) {}
    TileProgram& operator=(TileProgram&& other) noexcept {
        if (this != &other) {
            destroy();
            handle_ = std::exchange(other.handle_, nullptr);
        }
        return *this;
    }
    TileProgram(const TileProgram&) = delete;
    TileProgram& operator=(const TileProgram&) = delete;
    ~TileProgram() { destroy(); }

    /// Runs to the next suspension. Rethrows what the program threw. True while it has more to do.
    bool resume() {
        handle_.resume();
        if (!handle_.done()) return true;
        if (handle_.promise().failure) std::rethrow_exception(handle_.promise().failure);
        return false;
    }

private:
    void destroy() {
        if (handle_) handle_.destroy();
    }
    Handle handle_{nullptr};
};

}  // namespace rafter::program
