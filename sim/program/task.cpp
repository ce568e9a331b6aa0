#include "sim/program/task.h"

#include <array>
#include <new>

namespace rafter::program {

namespace {

constexpr std::size_t kClass = 64;     // bytes between two size classes
constexpr std::size_t kClasses = 128;  // frames up to 8 KiB are kept

/// Free frames of each size class, linked through their first word. Lives as long as its thread.
class FrameList {
public:
    ~FrameList() {
        for (Frame* first : free_) {
            while (first != nullptr) ::operator delete(std::exchange(first, first->next));
        }
    }
    void* take(std::size_t size) {
        const std::size_t index = index_of(size);
        if (index >= kClasses) return ::operator new(size);
        if (free_[index] == nullptr) return ::operator new((index + 1) * kClass);
        return std::exchange(free_[index], free_[index]->next);
    }
    void give(void* memory, std::size_t size) noexcept {
        const std::size_t index = index_of(size);
        if (index >= kClasses) return ::operator delete(memory);
        free_[index] = ::new (memory) Frame{free_[index]};
    }

private:
    struct Frame {
        Frame* next;
    };
    static std::size_t index_of(std::size_t size) { return (size - 1) / kClass; }
    std::array<Frame*, kClasses> free_{};
};

thread_local FrameList frames;

}  // namespace

void* allocate_frame(std::size_t size) { return frames.take(size); }

void release_frame(void* frame, std::size_t size) noexcept { frames.give(frame, size); }

}  // namespace rafter::program
