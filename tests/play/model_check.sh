#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The arithmetic of the page of `gristmill lab play`, in JavaScript, beside the C model's, over a million patterns of a
# seed and what belongs to them. Exit status 77 where there is no Node.js.
#
#   model_check.sh PROGRAM PLAY_PATTERNS [COUNT [SEED]]
set -uo pipefail
program=$1 patterns=$2 count=${3:-1000000} seed=${4:-31}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
node=$(command -v node || command -v nodejs) || { echo "no node in PATH"; exit 77; }
"$program" lab play "$work/page.html" 2>"$work/said" || { cat "$work/said"; exit 1; }
"$patterns" "$count" "$seed" | "$node" "$(dirname "$0")/model.js" "$work/page.html"
