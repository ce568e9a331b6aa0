#!/usr/bin/env bash
# Installs what is missing on Debian and Ubuntu, and nothing when all is there. Sourced by quickstart.sh, test.sh and .ci/run.
packages=(g++ cmake ninja-build ccache pkg-config libsystemc-dev libyaml-cpp-dev libeigen3-dev catch2 libcli11-dev
          nlohmann-json3-dev libfmt-dev libbenchmark-dev)

rafter_setup() {
    local missing=() package
    if ! command -v dpkg-query >/dev/null 2>&1; then
        echo "rafter: no dpkg here; this script sets up Debian and Ubuntu. Needed elsewhere: ${packages[*]}" >&2
        return 0
    fi
    for package in "${packages[@]}"; do
        dpkg-query -W -f='${Status}' "$package" 2>/dev/null | grep -q 'ok installed' || missing+=("$package")
    done
    # Coroutines want g++ 11 or later; Ubuntu 22.04 has it.
    if [ ${#missing[@]} -gt 0 ]; then
        local sudo=()
        if [ "$(id -u)" -ne 0 ]; then
            command -v sudo >/dev/null 2>&1 || { echo "rafter: missing ${missing[*]}; install them as root, or install sudo" >&2; return 1; }
            sudo=(sudo)
        fi
        echo "rafter: installing ${missing[*]}"
        "${sudo[@]}" apt-get update -qq || return 1
        DEBIAN_FRONTEND=noninteractive "${sudo[@]}" apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null || return 1
    fi
}

# rafter_configure PRESET [cmake options...]
rafter_configure() {
    local preset=$1 launcher=()
    shift
    command -v ccache >/dev/null 2>&1 && launcher=(-DCMAKE_CXX_COMPILER_LAUNCHER=ccache)
    cmake --preset "$preset" "${launcher[@]}" "$@" >"build-$preset.log" 2>&1 || { cat "build-$preset.log" >&2; rm -f "build-$preset.log"; return 1; }
    rm -f "build-$preset.log"
}
