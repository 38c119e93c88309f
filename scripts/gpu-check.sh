#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Runs everything that needs a GPU: gpu_tests in full, the laboratory, then a reduced set of the tests and the
# laboratory's ladders under the tools of compute-sanitizer. The build is taken as it lies in $BUILD (it may have been
# built elsewhere); where there is none, it is built here. The last lines are a table of the steps; the exit status is 0
# when none failed.
#
#   scripts/gpu-check.sh [--bench] [--no-sanitizer] [option of gpu_tests ...]
#   BUILD=<dir>   the build (build/)          OUT=<dir>   where the logs go ($BUILD/gpu-check)
#   CAP=<s>       limit of a sanitizer step (120); reaching it is no failure, the log says how far it came
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.." || exit 1
BUILD=${BUILD:-build}
OUT=${OUT:-$BUILD/gpu-check}
CAP=${CAP:-120}

bench=0 sanitizer=1 options=()
for argument in "$@"; do
    case $argument in
        --bench) bench=1 ;;
        --no-sanitizer) sanitizer=0 ;;
        --help) sed -n '3,9s/^# \{0,1\}//p' "$0"; exit 0 ;;
        *) options+=("$argument") ;;
    esac
done

build_here() {
    GM_BUILD_DIR=$(realpath -m "$BUILD")
    export GM_BUILD_DIR
    # shellcheck source=scripts/setup.sh
    (source scripts/setup.sh && need pkg-config check jansson python3 &&
        configure -DGM_TESTS=ON -DGM_PROGRAM=ON && compile gpu_tests gristmill)
}
if [ ! -x "$BUILD/gpu_tests" ] && ! build_here; then
    echo "gpu-check: there is no $BUILD/gpu_tests, and it could not be built here" >&2
    exit 1
fi
mkdir -p "$OUT" || exit 1

names=() results=() seconds=() failed=0

note() { # NAME RESULT SECONDS
    names+=("$1") results+=("$2") seconds+=("$3")
    case $2 in FAIL*) failed=1 ;; esac
}

result_of() { if grep -q '^no GPU:' "$1"; then echo SKIP; else echo PASS; fi; }

# step NAME LIMIT COMMAND...: runs it, its output into a log; the last lines of the log when it fails.
step() {
    local name=$1 limit=$2 log=$OUT/$1.log start=$SECONDS status
    shift 2
    printf '== %s: %s\n' "$name" "$*"
    timeout --kill-after=10 "$limit" "$@" </dev/null >"$log" 2>&1
    status=$?
    case $status in
        0) note "$name" "$(result_of "$log") ($(tail -n 1 "$log" | cut -c1-60))" $((SECONDS - start)) ;;
        124 | 137) note "$name" "TIME (stopped after $limit s, $(grep -c ' PASS ' "$log") passed by then)" $((SECONDS - start)) ;;
        *)
            note "$name" "FAIL (status $status, $log)" $((SECONDS - start))
            grep -B 6 -E ' FAIL |^========= [A-Z]' "$log" | head -n 80
            tail -n 5 "$log"
            ;;
    esac
}

find_sanitizer() {
    local candidate
    for candidate in "$(command -v compute-sanitizer)" "${CUDA_HOME:-/usr/local/cuda}/bin/compute-sanitizer" \
        /usr/local/cuda/bin/compute-sanitizer; do
        if [ -x "$candidate" ]; then
            echo "$candidate"
            return
        fi
    done
}

step gpu_tests 1500 "$BUILD/gpu_tests" "${options[@]}"
grep '^device:' "$OUT/gpu_tests.log"
if grep '^no GPU:' "$OUT/gpu_tests.log"; then
    sanitizer=0 bench=0
    note lab "SKIP (no GPU)" 0
else
    step lab 600 "$BUILD/gristmill" lab run all --verify --quick
    [ ! -e "$BUILD/libgristmill.so" ] || step python 120 env PYTHONPATH=bindings/python \
        GRISTMILL_LIBRARY="$(realpath "$BUILD")/libgristmill.so" python3 tests/python/run.py --gpu # torch's too, if there
    for model in tests/decoder/models/*; do
        # Scales of blocks have kernels on Hopper only.
        [[ "$model" != *_blocks || "$(nvidia-smi --query-gpu=compute_cap --format=csv,noheader -i 0)" == 9.0 ]] || continue
        [ ! -x "$BUILD/decoder" ] || step "decoder:${model##*/}" 60 "$BUILD/decoder" check "$model" --page 16 --batch 64
    done
    # gristmill.torch, where Python has PyTorch.
    if [ -e "$BUILD/libgristmill-tensors.so" ] && python3 -c 'import torch' 2>/dev/null; then
        step torch 400 env GRISTMILL_LIBRARY="$(realpath "$BUILD/libgristmill.so")" python3 tests/tensors/torch_test.py
    fi
fi

# racecheck knows shared memory that threads write themselves, not what TMA writes behind mbarriers, and an arrival at one counts for
# the lane that arrives, not for those that __syncwarp has put before it: sm80 rows only.
tool=$(find_sanitizer)
if [ $sanitizer -eq 1 ] && [ -n "$tool" ]; then
    quick=("$BUILD/gpu_tests" --quick --no-fork --seed=1)
    check=("$tool" --error-exitcode 9 --print-limit 20 --tool)
    # The bad images and the random tensor maps are errors of the driver on purpose: not under memcheck.
    step memcheck "$CAP" "${check[@]}" memcheck "${quick[@]}" --test=rows
    step synccheck "$CAP" "${check[@]}" synccheck "${quick[@]}" --test=rows
    step racecheck "$CAP" "${check[@]}" racecheck "${quick[@]}" --test=rows '--kernel=*_sm80_*'
    step initcheck "$CAP" "${check[@]}" initcheck "${quick[@]}" --test=rows
    step memcheck:stream_k "$CAP" "${check[@]}" memcheck "${quick[@]}" --test=stream_k
    step synccheck:stream_k "$CAP" "${check[@]}" synccheck "${quick[@]}" --test=stream_k
    # Not of rows whose warps share K: after a named barrier of some warps racecheck no longer knows what a barrier of all
    # orders, and reports hazards of code as plain as s[t] = x, __syncthreads(), read, __syncthreads(), bar.sync 1, 32.
    step racecheck:stream_k "$CAP" "${check[@]}" racecheck "${quick[@]}" --test=stream_k '--kernel=*_sm80_*_w[0-9]x[0-9]_*'
    # Every kernel of the laboratory's ladders, at the sizes that are counted. The laboratory asks the driver for a kernel's
    # parameters until it says that there are no more: no error.
    for ladder in transpose reduction warp-sum matrix-sums histogram fft stencil convolution-1d convolution-2d gemm-fp32 reuse \
        conflict-worth row-major-pads attention; do
        launch=("$BUILD/gristmill" lab launch "$ladder")
        step "memcheck:$ladder" "$CAP" "${check[@]}" memcheck --report-api-errors no "${launch[@]}"
        step "racecheck:$ladder" "$CAP" "${check[@]}" racecheck "${launch[@]}"
        step "synccheck:$ladder" "$CAP" "${check[@]}" synccheck "${launch[@]}"
    done
else
    for name in memcheck synccheck racecheck initcheck; do
        note $name "SKIP ($([ $sanitizer -eq 1 ] && echo "no compute-sanitizer" || echo "switched off, or no GPU"))" 0
    done
fi

if [ $bench -eq 1 ]; then
    step bench 600 "$BUILD/gristmill" bench gemm-quick --quick --json "$OUT/bench.json"
    cat "$OUT/bench.log"
fi

printf '\n%-20s %8s  %s\n' step seconds result
for i in "${!names[@]}"; do
    printf '%-20s %8s  %s\n' "${names[i]}" "${seconds[i]}" "${results[i]}"
done
exit $failed
