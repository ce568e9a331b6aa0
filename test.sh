#!/usr/bin/env bash
# Installs what is missing, builds, and runs every test. RAFTER_WERROR=ON makes warnings errors, as CI does.
set -euo pipefail
cd "$(dirname "$0")"
source cmake/setup.sh
rafter_setup
rafter_configure release -DRAFTER_TESTS=ON -DRAFTER_WERROR="${RAFTER_WERROR:-OFF}"
cmake --build --preset release
ctest --test-dir build/release --output-on-failure -j "$(nproc)" "$@"

# The CUDA programs, where nvcc is: for one architecture, since nothing runs on a GPU here.
if command -v nvcc >/dev/null 2>&1 || [ -x /usr/local/cuda/bin/nvcc ]; then
    cached=()
    command -v ccache >/dev/null 2>&1 && cached=(-DCMAKE_CUDA_COMPILER_LAUNCHER=ccache)
    rafter_configure cuda "${cached[@]}" -DRAFTER_TESTS=ON -DRAFTER_WERROR="${RAFTER_WERROR:-OFF}" -DCMAKE_CUDA_ARCHITECTURES=80
    cmake --build --preset cuda --target rafter-measure rafter-probe
    ctest --test-dir build/cuda --output-on-failure -R '^cuda:'
fi
