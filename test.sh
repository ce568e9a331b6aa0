#!/usr/bin/env bash
# Installs what is missing, builds, and runs every test. RAFTER_WERROR=ON makes warnings errors, as CI does.
set -euo pipefail
cd "$(dirname "$0")"
source cmake/setup.sh
rafter_setup
rafter_configure release -DRAFTER_TESTS=ON -DRAFTER_WERROR="${RAFTER_WERROR:-OFF}"
cmake --build --preset release
ctest --test-dir build/release --output-on-failure -j "$(nproc)" "$@"
