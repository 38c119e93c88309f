#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The program as people meet it: what its commands print and return on a machine with no GPU (or any).
#
#   program_check.sh PROGRAM BUILD_DIR
set -u
export LC_ALL=C.UTF-8
program=$(realpath "$1") build=$2 ledgers=$(realpath "$(dirname "$0")/../src/ledgers")
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
explains_every_kernel() { # of each operation, which takes as many sizes as its help names
    local operation sizes
    for operation in $("$program" info | awk '/_sm[0-9]/ { print $1 }' | sort -u); do
        sizes=$("$program" explain "$operation" --help | sed -n '1s/^usage: gristmill explain [^ ]* \(.*\) \[options\]$/\1/p' |
            sed "s/[^ ][^ ]*/8/g")
        # shellcheck disable=SC2086 # a word for each size
        "$program" explain "$operation" $sizes >"$work/explain" || return
        [ "$(grep -cE '_sm[0-9]+_[a-z0-9_]+' "$work/explain")" -ge "$("$program" info | grep -cE "^$operation .*_sm[0-9]")" ] ||
            return
    done
}

# Every command without a GPU that README.md and docs/ show, as it stands there: `    gristmill ...`, and after two spaces
# what it is for; but those that launch a reader's file, which launch_check.py does. The one with --sbo is shown because it disagrees.
runs_what_the_pages_show() {
    local root line words shown=0 wanted
    root=$(cd "$(dirname "$0")/.." && pwd)
    while read -r line; do
        eval "words=(${line%%  *})"
        wanted=0
        [[ $line != *--sbo* ]] || wanted=1
        env -C "$work" "$program" "${words[@]:1}" >"$work/shown" 2>&1 </dev/null
        [ $? -eq $wanted ] || { echo "$line"; tail -n 3 "$work/shown"; return 1; }
        shown=$((shown + 1))
    done < <(sed -nE 's/^    (gristmill (bank|swizzle|descriptor|sim) .*)/\1/p' "$root"/README.md "$root"/docs/*.md "$root"/docs/*/*.md |
        grep -v -e KERNEL -e 'sim launch')
    [ $shown -ge 12 ] || { echo "only $shown commands found"; return 1; }
}

# Where the output cannot be written: on a full device, on a closed descriptor, which no file must get.
tells_of_lost_output() {
    "$program" "$@" >/dev/full 2>"$work/lost"
    [ $? -eq 1 ] && grep -qx 'gristmill: cannot write the standard output: No space left on device' "$work/lost" ||
        return
    "$program" "$@" >&- 2>"$work/lost"
    [ $? -eq 1 ] && grep -qx 'gristmill: cannot write the standard output: Bad file descriptor' "$work/lost"
}
tells_of_lost_output_everywhere() {
    local line
    while read -r line; do
        eval "tells_of_lost_output $line" || { echo "$line"; cat "$work/lost"; return 1; }
    done <<EOT
--help
--version
info --device h200
info --device h200 --json
explain 64 64 64 --device h200
bank --stride 2
bank --stride 2 --svg "$work/closed.svg"
swizzle --mode 64B
swizzle --help
descriptor matrix 0x4000004000010040
descriptor --help
lab list
lab exercise
lab exercise 1 26
lab play --help
bench --device h200 --shape 64x64x64
bench --compare "$results/gemm-quick.json" "$results/gemm-quick.json"
bench --report "$work/lost.html" "$results/gemm-quick.json"
chain --help
tune --check "$ledgers/h200.ledger" --device h200
$([ ! -e "$build/libgristmill-sim.so" ] || printf '%s\n' "sim run $row80" "sim trace $row80" "sim step $row80" \
    "lab run --no-counters strided-reads")
EOT
    tail -c 7 "$work/closed.svg" | grep -qx '</svg>'
}

# The simulated GPU, as far as this build has it.
row90=gemm_sm90_bf16_tn_64x64x64_s12_c1x1_w1_sw128 row80=gemm_sm80_bf16_tn_64x64x64_s4_c1x1_w2x2_xor

counts_lines() {
    "$program" sim run "$row80" --m 70 --n 70 --k 100 --count >"$work/count" && grep -qE '^ *[0-9]+ .* ldmatrix' "$work/count" &&
        grep -qE '^warp-instructions +[0-9]+$' "$work/count"
}
# A picture of copies, wgmmas and phases, the same on the terminal and in the file.
traces() {
    "$program" sim trace "$row90" --m 64 --n 64 --k 256 --events 5 --svg "$work/trace.svg" --html "$work/trace.html" \
        >"$work/trace" && grep -qE '^CTA 0 copies +=' "$work/trace" && grep -q M "$work/trace" &&
        grep -q '</svg>' "$work/trace.svg" && grep -q '</html>' "$work/trace.html"
}
# Stops before the first ldmatrix of warp 1, looks at everything, steps, and ends the launch.
steps() {
    local line
    line=$(grep -n ldmatrix "$build/kernels/$row80.ptx" | head -n 1 | cut -d: -f1)
    printf '%s\n' p 's 2' 'l 2' a 'm 0x400 256' 'x 128 0x400' 'r %tid.x %nothing' 'm 0xffffffff' 'x 7 0' frobnicate '' c q |
        "$program" sim step "$row80" --line "$line" --warp 1 >"$work/step"
    [ $? -eq 0 ] && grep -qx "ended at the prompt: D was not compared" "$work/step" &&
        grep -q "warp 1, lanes ffffffff" "$work/step" && grep -q ldmatrix "$work/step" &&
        grep -q "no register %nothing" "$work/step" && grep -q "outside this CTA" "$work/step" &&
        grep -q "32, 64 or 128" "$work/step" && grep -q "chunk" "$work/step"
}
# Places that there are not: said at the prompt, and a failure where the command line asks for them.
steps_nowhere() {
    printf '%s\n' 'b 99999999' 'b 0' 'b here' 'w 99' 'w x' 's many' 's 0' 'l around' 'm 0x400 all' 'w *' 'w 3' s q |
        "$program" sim step "$row80" --warp 2 >"$work/nowhere" || return
    for line in 'no instruction of this kernel stands at PTX line 99999999 or behind it' \
        'no instruction of this kernel stands at PTX line 0 or behind it' 'here is no number' 'many is no number' \
        'a CTA of this kernel has warps 0 to 3, and no 99' 'say which warp, or \*' 'around is no number' \
        'all is no number'; do
        grep -qx "$line" "$work/nowhere" || { echo "not said: $line"; return 1; }
    done
    [ "$(grep -c 'CTA 0,0,0 warp 2' "$work/nowhere")" -eq 2 ]
}
stops_nowhere() { # OPTION...: with status 1 and this sentence
    local want=$1
    shift
    "$program" sim step "$row80" "$@" </dev/null >"$work/nowhere" 2>&1
    [ $? -eq 1 ] && grep -q "$want" "$work/nowhere" && ! grep -q "refused to launch" "$work/nowhere"
}
runs_to_the_end_without_commands() {
    local line
    line=$(grep -n ldmatrix "$build/kernels/$row80.ptx" | head -n 1 | cut -d: -f1)
    "$program" sim step "$row80" --line "$line" </dev/null >"$work/end" && grep -q ldmatrix "$work/end" &&
        grep -q "bit for bit" "$work/end"
}

# One launch of the planner's choice, named.
profiles_once() {
    GM_DRIVER=sim "$program" bench --profile --no-baseline --shape 64x64x64 >"$work/profile" &&
        grep -qE '^ +1  64 x 64 x 64 bf16 tn +gemm_sm90_' "$work/profile" && [ "$(wc -l <"$work/profile")" -eq 2 ]
}

if [ -e "$build/libgristmill-sim.so" ]; then
    expect "sim run, sm90, eight schedules" 0 "$program" sim run "$row90" --seeds 8
    expect "sim run, sm80, with bias, in fp32" 0 "$program" sim run "$row80" --bias --fp32 --schedule seed=5
    expect "sim run, sm80 on every device" 0 eval 'for device in a100 h100 h200 rtx4090; do
        "$program" sim run "$row80" --device $device --m 65 --n 72 --k 64 || exit 1; done'
    expect "sim run --count" 0 counts_lines
    expect "sim trace" 0 traces
    expect "sim step" 0 steps
    expect "sim step, places that there are not" 0 steps_nowhere
    expect "sim step --line behind the last" 0 stops_nowhere "stands at PTX line 999999 or behind it" --line 999999
    expect "sim step --cta that there is not" 0 stops_nowhere "it never stopped" --cta 100000
    expect "sim step --line where nobody comes" 0 stops_nowhere "it never stopped: no warp" --line 1 --cta 100000
    expect "sim step --warp that there is not" 2 "$program" sim step "$row80" --warp 4
    expect "sim step, nobody at the prompt" 0 runs_to_the_end_without_commands
    expect "sim run of an sm90 row on an A100" 1 "$program" sim run "$row90" --device a100
    expect "sim run on an unknown device" 1 "$program" sim run "$row90" --device v100
    expect "info on a simulated GPU" 0 env GM_DRIVER=sim "$program" info
    expect "bench --profile on the simulated GPU" 0 profiles_once
    expect "bench --profile of what is too large for it" 1 env GM_DRIVER=sim timeout 20 "$program" bench \
        --profile gemm-quick
    expect "bench --profile of one that is and one that is not" 1 env GM_DRIVER=sim timeout 20 "$program" bench \
        --profile --shape 64x64x64 --shape 2048x2049x2048 --no-baseline
    expect "bench refuses the simulated GPU" 1 env GM_DRIVER=sim "$program" bench --quick
    expect "chain refuses the simulated GPU" 1 env GM_DRIVER=sim "$program" chain
    expect "tune refuses the simulated GPU" 1 env GM_DRIVER=sim "$program" tune --shape 64x64x64 -o "$work/ledger"
fi
expect "sim --help" 0 "$program" sim --help
expect "sim run --help" 0 "$program" sim run --help
expect "sim trace --help" 0 "$program" sim trace --help
expect "sim step --help" 0 "$program" sim step --help
expect "sim launch --help" 0 "$program" sim launch --help
expect "sim of nothing" 2 "$program" sim
expect "sim of an unknown part" 2 "$program" sim grind
expect "sim run of no kernel" 2 "$program" sim run
expect "sim run of two kernels" 2 "$program" sim run 'gemm_*'
expect "sim run of a kernel and --kernel" 2 "$program" sim run "$row90" --kernel "$row90"
expect "sim run with a schedule that is none" 2 "$program" sim run "$row90" --schedule often
# Zero that is given is zero, not "not given".
refuses_zeros() {
    local line
    while read -r line; do
        eval "\"\$program\" $line" >"$work/zero" 2>&1
        [ $? -eq 2 ] && grep -q "from 1 to 2147483647, not .0." "$work/zero" && continue
        echo "$line"
        cat "$work/zero"
        return 1
    done <<EOT
sim run $row90 -m 0
sim run $row90 --n 0
sim run $row90 -k 0
sim run $row90 --sms 0
sim run $row90 --seeds 0
sim launch x.ptx --seeds 0
sim step $row90 --line 0
bench --rounds 0
bench --sm-budget 0
explain 64 64 64 --lda 0
lab run all --rounds 0
EOT
}
expect "zeros where there must be something" 0 refuses_zeros
expect "explain with an alignment of 0" 2 "$program" explain 64 64 64 --b-align 0
expect "explain with more than 64 bits of M" 2 "$program" explain 99999999999999999999 64 64
expect "bench with 1e300 rounds" 2 "$program" bench --rounds 1e300
expect "info on device 2^32" 1 "$program" info --device 4294967296
expect "bench --fail-below 0 without --compare" 2 "$program" bench --fail-below 0
expect "sim step with a warp that is none" 2 "$program" sim step "$row90" --warp many

expect "--help" 0 "$program" --help
expect "--version" 0 "$program" --version
expect "info --help" 0 "$program" info --help
expect "explain --help" 0 "$program" explain --help
expect "bench --help" 0 "$program" bench --help
expect "chain --help" 0 "$program" chain --help
results=$(cd "$(dirname "$0")/.." && pwd)/bench/results/h200
expect "output that cannot be written" 0 tells_of_lost_output_everywhere
# In a locale of ASCII every byte that is printed is; so is the progress bar's.
prints_ascii() {
    local line
    while read -r line; do
        eval "LC_ALL=C \"\$program\" $line" >"$work/ascii" 2>&1 || return
        ! LC_ALL=C grep -qP '[^\x00-\x7f]' "$work/ascii" || { echo "$line"; return 1; }
    done <<EOT
explain 64 64 64 --device h200
info --device h200
lab list
bench --device h200 --shape 64x64x64
bench --compare "$results/gemm-quick.json" "$results/gemm-quick.json"
bank --stride 2
swizzle --mode 64B
tune --check "$ledgers/h200.ledger" --device h200
EOT
}
expect "LC_ALL=C" 0 prints_ascii
# The committed plots are those of the committed results.
draws_the_plots() {
    "$program" bench --svg "$work/quick.svg" "$results/gemm-quick.json" >/dev/null &&
        cmp "$work/quick.svg" "$results/gemm-quick.svg" &&
        "$program" bench --report "$work/page.html" --svg "$work/{chart}.svg" "$results/gemm-bf16.json" >/dev/null &&
        cmp "$work/ratio.svg" "$results/gemm-bf16.svg"
}
reports() {
    "$program" bench --report "$work/page.html" --svg "$work/{chart}.svg" "$results/gemm-quick.json" >/dev/null &&
        grep -q '</html>' "$work/page.html" && grep -q '</svg>' "$work/ratio.svg" && grep -q '</svg>' "$work/roofline.svg"
}
predicts_a_part() {
    "$program" bench gemm-quick --device h200 --m :64 >"$work/part" && grep -qE '^ *64 +6144' "$work/part" &&
        ! grep -qE '^ *128 +7168' "$work/part"
}
# A build of some of the rows only may lack one that is named, or the model's pick of what was measured.
has_every_row() {
    [ "$(cat "$build/kernels/left_out.txt")" -eq 0 ]
}
imports() {
    sed 's/^device .*/device NVIDIA H100 80GB HBM3/' "$ledgers/h200.ledger" >"$work/other"
    "$program" tune --import "$results/gemm-fit.json" -o "$work/imported" >"$work/import" &&
        grep -qE '^[0-9]+ imported, 0 already there' "$work/import" &&
        "$program" tune --check "$work/imported" --device h200
}
modelled() { # the tables of docs/MODELLED.md are those of today's model
    local device page
    page=$(cd "$(dirname "$0")/.." && pwd)/docs/MODELLED.md
    for device in a100 a10 rtx4090; do
        diff <(sed -n "/^\`\`\`text $device\$/,/^\`\`\`\$/p" "$page" | sed '1d;$d') \
            <("$program" bench gemm-quick --device "$device" | sed -n '/^ *M /,$p') || return 1
    done
}
expect "the modelled tables" 0 modelled
expect "bench --report" 0 reports
expect "the plots are of the results" 0 draws_the_plots
expect "bench --compare with itself" 0 "$program" bench --compare "$results/gemm-quick.json" "$results/gemm-quick.json" \
    --fail-below 1
expect "bench --compare, faster is asked for" 1 "$program" bench --compare "$results/gemm-quick.json" \
    "$results/gemm-quick.json" --fail-below 1.01
expect "bench --compare with a file of the laboratory" 1 "$program" bench --compare "$results/lab/stencil.json" \
    "$results/gemm-quick.json"
# A guard of somebody's CI does not pass where its driver is broken.
guards_without_a_gpu() {
    GM_DRIVER=/no/such/driver "$program" bench gemm-quick --json "$work/none.json" --fail-below 0.95 \
        --compare "$results/gemm-quick.json" >"$work/guard" 2>&1
    [ $? -eq 1 ] && grep -q 'so there is no .*/none.json: there is no GPU here' "$work/guard" &&
        grep -q 'so there is no comparison with .*/gemm-quick.json: there is no GPU here' "$work/guard" &&
        [ "$(wc -l <"$work/guard")" -eq 2 ] && [ ! -e "$work/none.json" ]
}
expect "bench --json --compare without a GPU" 0 guards_without_a_gpu
expect "bench --m" 0 predicts_a_part
expect "bench --m of nothing" 2 "$program" bench --m 3:1
expect "bench --l2 of neither kind" 2 "$program" bench --l2 hot
expect "bench of a results file" 2 "$program" bench x.json
expect "bench --append to no file" 2 "$program" bench --append
expect "tune --help" 0 "$program" tune --help
expect "tune of nothing" 2 "$program" tune -o "$work/ledger"
expect "tune of a model" 1 "$program" tune --device h200 --shape 64x64x64 -o "$work/ledger"
if has_every_row; then
    expect "tune --import" 0 imports
    expect "tune --import, extended" 0 "$program" tune --import "$results/gemm-fit.json" -o "$work/imported" --again \
        --quiet
fi
expect "tune --import into a ledger of another device" 1 "$program" tune --import "$results/gemm-fit.json" \
    -o "$work/other"
expect "tune --import of results of the laboratory" 1 "$program" tune --import "$results/lab/stencil.json" -o "$work/x"
expect "tune --import of nothing" 2 "$program" tune --import -o "$work/x"
expect "lab --help" 0 "$program" lab --help
expect "lab list" 0 "$program" lab list
expect "lab report --help" 0 "$program" lab report --help
expect "lab exercise with the right answer" 0 "$program" lab exercise 18 '(lane * 32 + (5 ^ lane)) * 4'
expect "lab exercise with another" 1 "$program" lab exercise 1 25
reports_the_laboratory() {
    local root
    root=$(cd "$(dirname "$0")/.." && pwd)
    env -C "$root" python3 tests/lab_report_check.py "$program" h200 "$work/lab.html"
}
expect "lab report" 0 reports_the_laboratory
expect "lab figure" 0 "$program" lab figure transpose --results "$results/.." --gpu h200 --svg "$work/transpose.svg"
expect "lab figure of no results" 1 "$program" lab figure nothing --results "$results/.." --gpu h200 --svg "$work/x.svg"
expect "lab figure that there is not" 1 "$program" lab figure transpose --results "$results/.." --gpu h200 --figure 9 --svg "$work/transpose.svg"
expect "and the file stays" 0 test -s "$work/transpose.svg"
expect "lab figure into no folder" 1 "$program" lab figure transpose --results "$results/.." --gpu h200 --svg "$work/no/x.svg"
expect "lab figure pairs" 0 "$program" lab figure pairs --results "$results/.." --gpu h200 --svg "$work/pairs.svg"
expect "lab figure pairs of no results" 1 "$program" lab figure pairs --results "$work" --gpu h200 --svg "$work/x.svg"
expect "lab figure pairs into no folder" 1 "$program" lab figure pairs --results "$results/.." --gpu h200 --svg "$work/no/x.svg"
expect "lab report into no folder" 1 "$program" lab report --results "$results/.." --gpu h200 --out "$work/no/such.html"
expect "lab play --help" 0 "$program" lab play --help
expect "lab play without a file" 0 eval 'env -C "$work" "$program" lab play && tail -n 1 "$work/bank-conflicts.html" | grep -qx "</html>"'
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
expect "explain with a ledger" 0 "$program" explain 64 64 64 --device h200 --ledger "$ledgers/h200.ledger"
expect "explain with a ledger of another device" 1 "$program" explain 64 64 64 --device h100 --ledger "$ledgers/h200.ledger"
expect "explain with a ledger that is none" 1 "$program" explain 64 64 64 --device h200 --ledger "$0"
expect "explain with a ledger and without" 1 "$program" explain 64 64 64 --device h200 --model-only --ledger "$ledgers/h200.ledger"
expect "explain without a ledger" 0 "$program" explain 64 64 64 --device h200 --model-only
if has_every_row; then
    expect "the built-in ledgers are not stale" 0 eval 'for ledger in "$ledgers"/*.ledger; do
        "$program" tune --check "$ledger" --device "$(basename "$ledger" .ledger)" || exit 1; done'
fi
expect "info lists every kernel of the table" 0 lists_every_kernel
expect "explain judges every kernel of the table" 0 explains_every_kernel

echo "$passed passed, $failed failed, 0 skipped"
[ "$failed" -eq 0 ]
