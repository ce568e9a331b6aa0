#!/usr/bin/env bash
# Installs what is missing on Debian 12/13 and Ubuntu 22.04/24.04, and nothing when all is there. Sourced by quickstart.sh and
# test.sh (which .ci/run calls).
packages=(g++ cmake ninja-build ccache pkg-config libsystemc-dev libyaml-cpp-dev libeigen3-dev catch2 libcli11-dev
          nlohmann-json3-dev libfmt-dev)
optional=(libbenchmark-dev)  # only tests/bench
oldest_gcc=12                # the oldest version tried (Debian 12); Ubuntu 22.04 comes with 11 and has 12 beside it

rafter_installed() { dpkg-query -W -f='${Status}' "$1" 2>/dev/null | grep -q 'ok installed'; }

rafter_missing() {
    local package
    for package in "$@"; do rafter_installed "$package" || echo "$package"; done
}

rafter_gcc_major() { command -v "$1" >/dev/null 2>&1 && "$1" -dumpversion | cut -d. -f1 || echo 0; }

# rafter_install PACKAGE... as root, or by sudo, or says what to do.
rafter_install() {
    local sudo=() unknown=() package
    if [ "$(id -u)" -ne 0 ]; then
        if ! command -v sudo >/dev/null 2>&1; then
            echo "rafter: missing packages and neither root nor sudo; as root run: apt-get install $*" >&2
            return 1
        fi
        sudo=(sudo)
    fi
    if ! command -v apt-get >/dev/null 2>&1; then
        echo "rafter: no apt-get here; install the equivalents of: $*" >&2
        return 1
    fi
    echo "rafter: installing $*" >&2
    "${sudo[@]}" apt-get update -qq || return 1
    for package in "$@"; do
        apt-cache show "$package" >/dev/null 2>&1 || unknown+=("$package")
    done
    if [ ${#unknown[@]} -gt 0 ]; then
        echo "rafter: this system's package lists do not have: ${unknown[*]} (on Ubuntu they are in 'universe')" >&2
        return 1
    fi
    "${sudo[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "$@" >/dev/null
}

rafter_setup() {
    if ! command -v dpkg-query >/dev/null 2>&1; then
        echo "rafter: this script sets up Debian and Ubuntu. Needed elsewhere: ${packages[*]}" >&2
        return 0
    fi
    local missing
    mapfile -t missing < <(rafter_missing "${packages[@]}")
    if [ ${#missing[@]} -gt 0 ]; then
        mapfile -t missing < <(rafter_missing "${packages[@]}" "${optional[@]}")
        rafter_install "${missing[@]}" || return 1
    fi
    if [ -z "${CXX:-}" ] && [ "$(rafter_gcc_major g++)" -lt "$oldest_gcc" ]; then
        rafter_installed "g++-$oldest_gcc" || rafter_install "g++-$oldest_gcc" || return 1
        export CXX="g++-$oldest_gcc"
    fi
}

# rafter_configure PRESET [cmake options...]; silent unless it fails.
rafter_configure() {
    local preset=$1 launcher=() log
    shift
    command -v ccache >/dev/null 2>&1 && launcher=(-DCMAKE_CXX_COMPILER_LAUNCHER=ccache)
    log=$(cmake --preset "$preset" "${launcher[@]}" "$@" 2>&1) || { echo "$log" >&2; return 1; }
}
