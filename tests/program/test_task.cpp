#include "sim/program/task.h"
#include "tests/catch.h"

using namespace rafter::program;

namespace {

TileProgram count_to(int n, int& at) {
    for (; at < n; ++at) co_await std::suspend_always{};
}

TileProgram fails() {
    co_await std::suspend_always{};
    throw 42;
}

}  // namespace

TEST_CASE("A tile program runs from suspension to suspension", "[program]") {
    int at = 0;
    TileProgram program = count_to(2, at);
    CHECK(program.resume());
    CHECK(program.resume());
    CHECK_FALSE(program.resume());
    CHECK(at == 2);
}

TEST_CASE("What a tile program throws comes out of resume", "[program]") {
    TileProgram program = fails();
    CHECK(program.resume());
    CHECK_THROWS_AS(program.resume(), int);
}

TEST_CASE("Frames are used again", "[program]") {
    void* first = allocate_frame(200);
    release_frame(first, 200);
    CHECK(allocate_frame(200) == first);
    release_frame(first, 200);
    void* large = allocate_frame(1 << 20);  // beyond the classes: plain allocation
    release_frame(large, 1 << 20);
}
