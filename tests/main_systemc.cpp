#if __has_include(<catch2/catch_all.hpp>)
#include <catch2/catch_session.hpp>
#else
#define CATCH_CONFIG_RUNNER
#include <catch2/catch.hpp>
#endif
#include <cstdlib>

#include <systemc>

#include "tests/environment.h"

namespace {
__attribute__((constructor)) void silence_banner() { setenv("SYSTEMC_DISABLE_COPYRIGHT_MESSAGE", "1", 0); }
}  // namespace

int sc_main(int argc, char** argv) {
    rafter::test::prepare_environment();
    return Catch::Session().run(argc, argv);
}
