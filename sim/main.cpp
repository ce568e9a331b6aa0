#include <systemc>

#include "sim/cli/cli.h"

// libsystemc brings main and calls this.
int sc_main(int argc, char** argv) { return rafter::cli::main(argc, argv); }
