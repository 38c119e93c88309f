#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Makes the Python wheel: the package, the shared libraries and the results, for every Linux that its name says.
#
#   scripts/wheel.sh [--build DIR] [--out DIR]
#
# Without --build it builds the libraries in build/; with it, it takes those of that build, and needs no CUDA toolkit.
# The wheel goes to dist/, or to --out. Its path is the last line.
set -uo pipefail
# shellcheck source=scripts/setup.sh
source "$(dirname "${BASH_SOURCE[0]}")/setup.sh"

usage="usage: scripts/wheel.sh [--build DIR] [--out DIR]"
given='' out=$root/dist
while [ $# -gt 0 ]; do
    [ $# -ge 2 ] || die "$usage"
    case $1 in
        --build) given=$2 ;;
        --out) out=$2 ;;
        *) die "$usage" ;;
    esac
    shift 2
done

need python3 readelf
if [ -z "$given" ]; then
    need cmake ninja cc zlib
    [ -e "$build/build.ninja" ] || configure -DGM_TESTS=OFF -DGM_PROGRAM=OFF -DGM_EXAMPLES=OFF
    compile gristmill_shared gristmill_sim
fi
python3 "$root/tools/build_wheel.py" "${given:-$build}" "$out"
