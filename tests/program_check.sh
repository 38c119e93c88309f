#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The program as people meet it: what its commands print and return on a machine with no GPU (or any).
#
#   program_check.sh PROGRAM BUILD_DIR
set -u
program=$1 build=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
passed=0 failed=0

# expect NAME STATUS COMMAND...: the exit status; the command's stdout is left in $work/out.
expect() {
    local name=$1 want=$2 status
    shift 2
    "$@" >"$work/out" 2>"$work/err" </dev/null
    status=$?
    if [ "$status" -eq "$want" ]; then
        echo "PASS $name"
        passed=$((passed + 1))
    else
        echo "FAIL $name: exit status $status instead of $want"
        sed 's/^/     /' "$work/out" "$work/err" | tail -n 20
        failed=$((failed + 1))
    fi
}

lists_every_kernel() {
    local log
    "$program" info >"$work/info" || return
    while read -r log; do
        log=$(basename "$log" .log)
        grep -qF "$log" "$work/info" || { echo "info does not list $log"; return 1; }
    done <"$build/kernels/logs.txt"
}
explains_every_kernel() {
    "$program" explain 4096 4096 4096 >"$work/explain" || return
    [ "$(grep -cE '\b[a-z]+_sm[0-9]+_[a-z0-9_]+' "$work/explain")" -ge "$(wc -l <"$build/kernels/logs.txt")" ]
}

# Every command without a GPU that README.md and docs/ show, as it stands there: `    gristmill ...`, and after two spaces
# what it is for. The one with --sbo is shown because it disagrees.
runs_what_the_pages_show() {
    local root line words shown=0 wanted
    root=$(cd "$(dirname "$0")/.." && pwd)
    while read -r line; do
        eval "words=(${line%%  *})"
        wanted=0
        [[ $line != *--sbo* ]] || wanted=1
        "$program" "${words[@]:1}" >"$work/shown" 2>&1
        [ $? -eq $wanted ] || { echo "$line"; tail -n 3 "$work/shown"; return 1; }
        shown=$((shown + 1))
    done < <(sed -nE 's/^    (gristmill (bank|swizzle|descriptor) .*)/\1/p' "$root"/README.md "$root"/docs/*.md "$root"/docs/*/*.md)
    [ $shown -ge 12 ] || { echo "only $shown commands found"; return 1; }
}

expect "--help" 0 "$program" --help
expect "--version" 0 "$program" --version
expect "info --help" 0 "$program" info --help
expect "explain --help" 0 "$program" explain --help
expect "bench --help" 0 "$program" bench --help
expect "lab --help" 0 "$program" lab --help
expect "lab list" 0 "$program" lab list
expect "lab report --help" 0 "$program" lab report --help
expect "lab run of no experiment" 2 "$program" lab run no-such-experiment
expect "bank --help" 0 "$program" bank --help
expect "swizzle --help" 0 "$program" swizzle --help
expect "descriptor --help" 0 "$program" descriptor --help
expect "bank of nothing" 2 "$program" bank
expect "what the pages show runs" 0 runs_what_the_pages_show
expect "no command" 2 "$program"
expect "an unknown command" 2 "$program" grind
expect "an unknown option" 2 "$program" info --frobnicate
expect "explain with a size that is no number" 2 "$program" explain 12 many 4
expect "info lists every kernel of the table" 0 lists_every_kernel
expect "explain judges every kernel of the table" 0 explains_every_kernel

echo "$passed passed, $failed failed, 0 skipped"
[ "$failed" -eq 0 ]
