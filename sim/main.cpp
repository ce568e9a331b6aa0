#include <cstdlib>

#include <systemc>

#include "sim/cli/cli.h"

namespace {

// libsystemc prints a banner from its main, before sc_main is called.
__attribute__((constructor)) void silence_banner() { setenv("SYSTEMC_DISABLE_COPYRIGHT_MESSAGE", "1", 0); }

}  // namespace

int sc_main(int argc, char** argv) { return rafter::cli::main(argc, argv); }
