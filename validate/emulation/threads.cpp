#include "validate/emulation/threads.h"

#include <ucontext.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <exception>
#include <memory>
#include <numeric>
#include <string>
#include <vector>

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/common_interface_defs.h>
#endif

namespace rafter::validate::emulation {

Index threadIdx, blockIdx, blockDim, gridDim;

namespace {

constexpr std::size_t kStackBytes = 256 * 1024;
constexpr int kWarp = 32;
constexpr std::size_t kCopyBytes = 16;
constexpr std::size_t kSharedAlignment = 128;

struct Barrier {
    int expected{0}, arrived{0};
    long generation{0};
};

struct Warp {
    Barrier barrier;
    unsigned mailbox[kWarp][8]{};
    const void* rows[kWarp]{};
};

struct Free {
    void operator()(char* p) const { std::free(p); }
};

struct Block {
    Index index;
    Barrier barrier;
    std::vector<Warp> warps;
    std::unique_ptr<char, Free> shared;
};

struct Copy {
    void* to;
    const void* from;
};

struct Thread {
    ucontext_t context{};
    std::unique_ptr<char[]> stack;
    Block* block{nullptr};
    int index{0};
    bool done{false};
    std::vector<Copy> open;
    std::deque<std::vector<Copy>> groups;
};

struct Machine {
    const std::function<void()>* kernel{nullptr};
    ucontext_t scheduler{};
    std::vector<Thread> threads;
    Thread* current{nullptr};
    Barrier grid;
    long progress{0};  ///< barriers passed and threads ended
    std::exception_ptr error;
    void* fake_stack{nullptr};
    const void* scheduler_stack{nullptr};
    std::size_t scheduler_bytes{0};
};

Machine machine;

// AddressSanitizer follows stack changes only when it is told of them.
void tell_start([[maybe_unused]] void** save, [[maybe_unused]] const void* bottom, [[maybe_unused]] std::size_t size) {
#if defined(__SANITIZE_ADDRESS__)
    __sanitizer_start_switch_fiber(save, bottom, size);
#endif
}

void tell_finish([[maybe_unused]] void* saved, [[maybe_unused]] const void** bottom, [[maybe_unused]] std::size_t* size) {
#if defined(__SANITIZE_ADDRESS__)
    __sanitizer_finish_switch_fiber(saved, bottom, size);
#endif
}

void yield() {
    void* saved = nullptr;
    tell_start(&saved, machine.scheduler_stack, machine.scheduler_bytes);
    swapcontext(&machine.current->context, &machine.scheduler);
    tell_finish(saved, &machine.scheduler_stack, &machine.scheduler_bytes);
    if (machine.error) throw std::runtime_error("another thread failed");
}

void meet(Barrier& barrier) {
    if (++barrier.arrived == barrier.expected) {
        barrier.arrived = 0;
        ++barrier.generation;
        ++machine.progress;
        return;
    }
    for (const long before = barrier.generation; barrier.generation == before;) yield();
}

void entry() {
    tell_finish(nullptr, &machine.scheduler_stack, &machine.scheduler_bytes);
    try {
        (*machine.kernel)();
    } catch (...) {
        if (!machine.error) machine.error = std::current_exception();
    }
    machine.current->done = true;
    ++machine.progress;
    tell_start(nullptr, machine.scheduler_stack, machine.scheduler_bytes);
    swapcontext(&machine.current->context, &machine.scheduler);
}

void start(Thread& thread) {
    thread.stack = std::make_unique<char[]>(kStackBytes);
    getcontext(&thread.context);
    thread.context.uc_stack.ss_sp = thread.stack.get();
    thread.context.uc_stack.ss_size = kStackBytes;
    thread.context.uc_link = nullptr;
    makecontext(&thread.context, entry, 0);
}

void resume(Thread& thread) {
    machine.current = &thread;
    threadIdx = {thread.index, 0, 0};
    blockIdx = thread.block->index;
    tell_start(&machine.fake_stack, thread.stack.get(), kStackBytes);
    swapcontext(&machine.scheduler, &thread.context);
    tell_finish(machine.fake_stack, nullptr, nullptr);
}

Block make_block(const Launch& launch, int index) {
    Block block{{index, 0, 0}, {launch.threads, 0, 0}, std::vector<Warp>(static_cast<std::size_t>(launch.threads / kWarp)), {}};
    for (Warp& warp : block.warps) warp.barrier.expected = kWarp;
    const auto bytes = (static_cast<std::size_t>(launch.shared_bytes) + kSharedAlignment) / kSharedAlignment * kSharedAlignment;
    block.shared.reset(static_cast<char*>(std::aligned_alloc(kSharedAlignment, bytes)));
    std::fill_n(block.shared.get(), bytes, static_cast<char>(0xFF));  // NaN in every format
    return block;
}

std::vector<std::size_t> sequence(std::size_t count, Order order) {
    std::vector<std::size_t> list(count);
    std::iota(list.begin(), list.end(), std::size_t{0});
    if (order == Order::descending) std::reverse(list.begin(), list.end());
    return list;
}

/// Lets every thread of list[first, last) run to its next wait; true when one of them passed a barrier or ended.
bool advance(const std::vector<std::size_t>& list, std::size_t first, std::size_t last) {
    const long before = machine.progress;
    for (std::size_t i = first; i < last; ++i) {
        if (!machine.threads[list[i]].done) resume(machine.threads[list[i]]);
    }
    return machine.progress != before;
}

void run_blocks(const Launch& launch, std::vector<Block>& blocks) {
    machine.threads = std::vector<Thread>(blocks.size() * static_cast<std::size_t>(launch.threads));
    machine.grid = {static_cast<int>(machine.threads.size()), 0, 0};
    for (std::size_t i = 0; i < machine.threads.size(); ++i) {
        machine.threads[i].block = &blocks[i / static_cast<std::size_t>(launch.threads)];
        machine.threads[i].index = static_cast<int>(i) % launch.threads;
        start(machine.threads[i]);
    }
    const auto order = sequence(machine.threads.size(), launch.order);
    const std::size_t group = launch.order == Order::lockstep ? order.size() : static_cast<std::size_t>(kWarp);
    const auto alive = [] {
        return std::any_of(machine.threads.begin(), machine.threads.end(), [](const Thread& t) { return !t.done; });
    };
    while (alive()) {
        bool moved = false;
        for (std::size_t first = 0; first < order.size(); first += group) {
            while (advance(order, first, first + group)) moved = true;
        }
        if (!moved && !machine.error) {
            machine.error = std::make_exception_ptr(std::runtime_error("a barrier that not all threads reach"));
        }
    }
}

Thread& me() { return *machine.current; }
Warp& my_warp() { return me().block->warps[static_cast<std::size_t>(me().index / kWarp)]; }
int lane() { return me().index % kWarp; }

void require_aligned(const void* pointer, const char* what) {
    if (reinterpret_cast<std::uintptr_t>(pointer) % kCopyBytes != 0) {
        throw std::runtime_error(std::string(what) + ": not aligned to 16 bytes");
    }
}

}  // namespace

void run(const Launch& launch, const std::function<void()>& kernel) {
    if (launch.threads % kWarp != 0) throw std::runtime_error("a CTA of whole warps, please");
    machine = Machine{};
    machine.kernel = &kernel;
    blockDim = {launch.threads, 1, 1};
    gridDim = {launch.grid, 1, 1};
    const int together = launch.cooperative ? launch.grid : 1;
    for (int first = 0; first < launch.grid && !machine.error; first += together) {
        std::vector<Block> blocks;
        for (int i = 0; i < together; ++i) blocks.push_back(make_block(launch, first + i));
        run_blocks(launch, blocks);
    }
    if (machine.error) std::rethrow_exception(machine.error);
}

void block_barrier() { meet(me().block->barrier); }
void grid_barrier() { meet(machine.grid); }
char* shared_memory() { return me().block->shared.get(); }

float shuffle_xor(float value, int mask) {
    Warp& warp = my_warp();
    std::memcpy(&warp.mailbox[lane()][0], &value, sizeof value);
    meet(warp.barrier);
    float other = 0;
    std::memcpy(&other, &warp.mailbox[lane() ^ mask][0], sizeof other);
    meet(warp.barrier);
    return other;
}

void ldmatrix_x4(unsigned (&r)[4], const void* row, bool transposed) {
    require_aligned(row, "ldmatrix");
    Warp& warp = my_warp();
    warp.rows[lane()] = row;
    meet(warp.barrier);
    for (int matrix = 0; matrix < 4; ++matrix) {
        std::uint16_t pair[2];
        for (int e = 0; e < 2; ++e) {
            const int line = transposed ? lane() % 4 * 2 + e : lane() / 4, column = transposed ? lane() / 4 : lane() % 4 * 2 + e;
            std::memcpy(&pair[e], static_cast<const char*>(warp.rows[matrix * 8 + line]) + column * 2, 2);
        }
        std::memcpy(&r[matrix], pair, sizeof pair);
    }
    meet(warp.barrier);
}

// PTX ISA, "Matrix fragments for mma.m16n8k16": a0/a1 rows g and g + 8 of k 0-7, a2/a3 of k 8-15; b0, b1 the same depths.
void mma_16x8x16(float (&d)[4], const unsigned (&a)[4], unsigned b0, unsigned b1, float (*decode)(unsigned, int)) {
    Warp& warp = my_warp();
    unsigned* mine = warp.mailbox[lane()];
    std::copy_n(a, 4, mine);
    mine[4] = b0, mine[5] = b1;
    meet(warp.barrier);
    for (int i = 0; i < 4; ++i) {
        const int row = lane() / 4 + i / 2 * 8, column = lane() % 4 * 2 + i % 2;
        for (int k = 0; k < 16; ++k) {
            const unsigned left = warp.mailbox[row % 8 * 4 + k % 8 / 2][row / 8 + k / 8 * 2];
            const unsigned right = warp.mailbox[column * 4 + k % 8 / 2][4 + k / 8];
            d[i] += decode(left, k % 2) * decode(right, k % 2);
        }
    }
    meet(warp.barrier);
}

void copy_async(void* to, const void* from) {
    require_aligned(to, "cp.async target");
    require_aligned(from, "cp.async source");
    std::memset(to, from == nullptr ? 0 : 0xFF, kCopyBytes);
    if (from != nullptr) me().open.push_back({to, from});
}

void commit_copies() {
    me().groups.push_back(std::move(me().open));
    me().open.clear();
}

void wait_copies(int pending) {
    auto& groups = me().groups;
    for (; groups.size() > static_cast<std::size_t>(pending); groups.pop_front()) {
        for (const Copy& copy : groups.front()) std::memcpy(copy.to, copy.from, kCopyBytes);
    }
}

}  // namespace rafter::validate::emulation
