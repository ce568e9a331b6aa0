// What the two programs have in common: how they end.
#pragma once

#include <exception>

#include <fmt/format.h>

#include "sim/core/error.h"

namespace rafter::validate {

constexpr int kFailedExit = 1, kUsageExit = 2, kInternalExit = 3, kNoGpuExit = 4;

/// Runs `body` and turns what it throws into a sentence and an exit code.
template <class Body>
int guarded(const char* program, Body body) {
    try {
        return body();
    } catch (const Error& e) {
        fmt::print(stderr, "{}: {}\n", program, e.what());
        return kUsageExit;
    } catch (const std::exception& e) {
        fmt::print(stderr, "{}: {}\n", program, e.what());
        return kInternalExit;
    }
}

}  // namespace rafter::validate
