#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Tests the crate gristmill-sys with a build of the library, without a network: linked to the shared library and to the
# static one, found by GRISTMILL_LIB_DIR and by pkg-config. Kernels run on the simulated GPU. 77: there is no cargo.
#
#   rust_check.sh BUILD_DIR
set -u
crate=$(cd "$(dirname "${BASH_SOURCE[0]}")/../bindings/rust/gristmill-sys" && pwd)
build=$(cd "$1" && pwd)
[ -n "$(command -v cargo)" ] || { echo "no cargo"; exit 77; }
minor=$(rustc --version | sed -nE 's/^rustc 1\.([0-9]+)\..*/\1/p')
[ "${minor:-0}" -ge 77 ] || { echo "rustc is older than 1.77"; exit 77; }
# shellcheck source=tests/install/checks.sh
source "$(dirname "${BASH_SOURCE[0]}")/install/checks.sh"
export CARGO_TARGET_DIR=$build/cargo CARGO_NET_OFFLINE=true LD_LIBRARY_PATH=$build GM_DRIVER=sim GM_SIM_DEVICE=h200
export RUSTFLAGS="-D warnings"
unset GRISTMILL_LIB_DIR GRISTMILL_STATIC

# cargo_test NAME ARGUMENT...: adds what the crate's test programs counted.
cargo_test() {
    local name=$1 p f
    shift
    echo "-- $name"
    cargo test --quiet --manifest-path "$crate/Cargo.toml" "$@" >"$work/out" 2>&1 || sed 's/^/     /' "$work/out"
    p=$(sed -nE 's/^test result: .* ([0-9]+) passed; .*/\1/p' "$work/out" | awk '{ all += $1 } END { print all + 0 }')
    f=$(sed -nE 's/^test result: .* ([0-9]+) failed; .*/\1/p' "$work/out" | awk '{ all += $1 } END { print all + 0 }')
    [ "$p" -gt 0 ] || [ "$f" -gt 0 ] || f=1
    passed=$((passed + p)) failed=$((failed + f))
}
# fails_with SENTENCE COMMAND...
fails_with() {
    local said
    ! said=$("${@:2}" 2>&1) || return 1
    echo "$said"
    grep -qF -- "$1" <<<"$said"
}

GRISTMILL_LIB_DIR=$build cargo_test "the shared library"
# pkg-config's answer, for a build that is not installed.
printf 'Name: gristmill\nDescription: a build\nVersion: 0\nLibs: -L%s -lgristmill\n' "$build" >"$work/gristmill.pc"
PKG_CONFIG_PATH=$work cargo_test "the static library, by pkg-config" --features static --test gemm
check "no library is a sentence" \
    fails_with "gristmill-sys finds no libgristmill: set GRISTMILL_LIB_DIR to its folder. pkg-config: " \
    env PKG_CONFIG="$work/none" cargo test --quiet --manifest-path "$crate/Cargo.toml"

closing_line
