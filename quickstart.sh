#!/usr/bin/env bash
# Installs what is missing, builds, runs a transformer on an A100 and shows the report.
set -euo pipefail
cd "$(dirname "$0")"
source cmake/setup.sh
rafter_setup
rafter_configure release -DRAFTER_TESTS=OFF
cmake --build --preset release
build/release/rafter run --gpu a100-sxm4-80gb --workload transformer "$@"
