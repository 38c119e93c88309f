# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# Sourced by install_check.sh, package_check.sh, wheel_check.sh and rust_check.sh: how they count, and what an installation must
# be able to do.

tests=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
passed=0 failed=0 skipped=0

# check NAME COMMAND...: the command's output is shown when it fails.
check() {
    local name=$1
    shift
    if "$@" >"$work/out" 2>&1; then
        echo "PASS $name"
        passed=$((passed + 1))
    else
        echo "FAIL $name"
        sed 's/^/     /' "$work/out"
        failed=$((failed + 1))
    fi
}
closing_line() {
    echo "$passed passed, $failed failed, $skipped skipped"
    [ "$failed" -eq 0 ]
}

# installation ROOT: the one below ROOT is what the functions below use.
# shellcheck disable=SC2034 # for those who source this
installation() {
    local config
    config=$(find "$1" -name gristmill-config.cmake)
    library=$(find "$1" -name libgristmill.so)
    simulator=$(find "$1" -name 'libgristmill-sim.so.?')
    prefix=${config%/lib*/cmake/*}
    include=$prefix/include
    libdir=$(dirname "$library")
    export PKG_CONFIG_PATH=$libdir/pkgconfig LD_LIBRARY_PATH=$libdir
}

# The functions that a library shows, without the version that they have.
exported() {
    nm -D --defined-only --without-symbol-versions "$1" | awk '$2 != "A" { print $3 }' | LC_ALL=C sort
}

uses_pkg_config() { # [--static]
    local flags
    read -ra flags < <(pkg-config --cflags --libs "$@" gristmill)
    [ "${1-}" != --static ] || flags=(-static-libgcc "${flags[@]/-lgristmill/-l:libgristmill.a}")
    cc -std=c99 -o "$work/consumer" "$tests/install/consumer.c" "${flags[@]}" && "$work/consumer"
}
uses_cmake() {
    local folder
    folder=$(mktemp -d -p "$work")
    cmake -S "$tests/install" -B "$folder" -G Ninja -DCMAKE_PREFIX_PATH="$prefix" -DWANTED= && cmake --build "$folder" &&
        "$folder/consumer_shared" && "$folder/consumer_static"
}
opens_from_the_program() { "$prefix/bin/gristmill" --sim rtx4090 info | grep -F 'RTX 4090 (simulated)'; }
