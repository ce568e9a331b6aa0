// Where the tests find the sources and the command. What is set already wins; RAFTER_TEST_* come from tests/CMakeLists.txt. (A
// list in the ENVIRONMENT property does not survive catch_discover_tests.)
#pragma once

#include <cstdlib>

namespace rafter::test {

inline void prepare_environment() {
    setenv("RAFTER_SOURCE", RAFTER_TEST_SOURCE, 0);
    setenv("RAFTER_DATA", RAFTER_TEST_SOURCE, 0);
    setenv("RAFTER_BINARY", RAFTER_TEST_BINARY, 0);
}

}  // namespace rafter::test
