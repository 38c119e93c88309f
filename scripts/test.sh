#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Sets up, builds and runs every test that this machine can run. Tests that need a GPU are counted as skipped, by
# name, where there is none. The last line is "N passed, N failed, N skipped"; the exit status is 0 when none failed.
#
#   scripts/test.sh            GM_BUILD_DIR=<dir> builds there instead of build/, GM_TEST_SEED=<n> draws other cases
set -uo pipefail
# shellcheck source=scripts/setup.sh
source "$(dirname "${BASH_SOURCE[0]}")/setup.sh"
cd "$root" || exit 1

need cmake ninja cc c++ pkg-config check jansson zlib libpcre2-8 libutf8proc python3 venv valgrind
! have apt-get || need dpkg-shlibdeps
want node browser
configure -DGM_WERROR=ON -DGM_TESTS=ON -DGM_PROGRAM=ON -DGM_EXAMPLES=ON -DCMAKE_INSTALL_PREFIX=/usr
find_disassembler
wheels "${toolkit12_wheels[@]}"
compile all

# The seconds that a step may take on two cores, all steps together 2400; the end says which took more. Steps that are
# not named have 30.
declare -A budget=([toolkit12_kernels]=240 [sass_check]=180 [docs_check]=60 [install_check]=90 [package_check]=90 [wheel_check]=60 [program_check]=90
    [chooser_on_ledger]=60 [valgrind_unit_tests]=300 [valgrind_lab_tests]=120 [sim_tests]=90
    [sim_h100_sm90_bf16]=240 [sim_h100_sm90_bf16_gemm]=180 [sim_h100_sm90_fp16]=200 [sim_h100_sm90_fp32]=60
    [sim_h100_sm90_e4m3]=60 [sim_h100_sm90_gemm_int8]=60 [sim_h100_sm90_gemm_tf32]=60 [sim_a100_sm80_gemm]=120 [sim_a100_gemm_fp32]=60 [sim_h100_clusters_of_8]=90 [sim_h100_library]=270 [sim_a100_sm80]=180 [sim_a100_library]=120
    [sim_rtx4090_sm80]=60 [sim_counters]=120 [sim_laboratory]=120 [sim_mutants]=240 [sanitized_build]=240
    [decoder_tests]=60 [decoder_program]=60 [sanitized_decoder_tests]=90
    [sanitized_unit_tests]=120 [sanitized_bench_tests]=120 [self_test]=120 [sanitized_sim_h100]=180)
over=()

counts='^[0-9]+ passed, [0-9]+ failed, [0-9]+ skipped(, [0-9]+ illegal)?$'
passed=0 failed=0 skipped=0 broken=()
logs=$build/test-logs
mkdir -p "$logs"

# step NAME COMMAND...: runs it and adds what it counted: its own "N passed, N failed, N skipped" line, or Check's
# summaries, or else itself as one test. Exit status 77 is a skip.
step() {
    local name=$1 log=$logs/$1.log start=$SECONDS status seconds p f s
    shift
    say "$name"
    "$@" </dev/null 2>&1 | tee "$log" | sed -u 's/^/   /' # so that only the last line looks like the last line
    status=${PIPESTATUS[0]}
    if grep -qE "$counts" "$log"; then
        read -r p f s _ < <(grep -E "$counts" "$log" | tail -n 1 | tr -dc '0-9 ' | xargs)
    elif grep -qE '^[0-9]+%: Checks: [0-9]+, Failures: [0-9]+, Errors: [0-9]+$' "$log"; then
        read -r p f s < <(
            sed -nE 's/^[0-9]+%: Checks: ([0-9]+), Failures: ([0-9]+), Errors: ([0-9]+)$/\1 \2 \3/p' "$log" |
                awk '{ all += $1; bad += $2 + $3 } END { print all - bad, bad, 0 }'
        )
    elif [ "$status" -eq 77 ]; then
        p=0 f=0 s=1
    else
        p=$((status == 0)) f=$((status != 0)) s=0
    fi
    [ "$status" -eq 0 ] || [ "$status" -eq 77 ] || [ "$f" -gt 0 ] || f=1
    passed=$((passed + p)) failed=$((failed + f)) skipped=$((skipped + s))
    [ "$f" -eq 0 ] || broken+=("$name")
    seconds=$(cat "$logs/$name.seconds" 2>/dev/null || echo $((SECONDS - start)))
    printf -- '-- %s: %s passed, %s failed, %s skipped in %s s\n' "$name" "$p" "$f" "$s" "$seconds"
    [ "$seconds" -le "${budget[$name]:-30}" ] || over+=("$name: $seconds s instead of ${budget[$name]:-30}")
}

# What keeps one core busy runs beside the other steps: `later NAME COMMAND...` lines it up, start_later has two workers
# take one after the other, in this order, and `step NAME finish NAME` waits for it and says what it said.
lined_up=()
later() {
    lined_up+=("$1")
    printf -v "later_$1" '%q ' "${@:2}"
}
run_later() { # NAME
    local command=later_$1 start=$SECONDS
    (eval "${!command}") </dev/null >"$logs/$1.output" 2>&1
    echo "$?" >"$logs/$1.status"
    echo "$((SECONDS - start))" >"$logs/$1.seconds"
}
# The workers read from one descriptor, so that each name is taken once; the lock is for a name to be read whole.
work_off() {
    local name
    exec 4>"$logs/queue.lock"
    while flock 4 && read -r name <&3; do
        flock -u 4
        run_later "$name" 3<&- 4>&-
    done
    flock -u 4
}
start_later() {
    rm -f "$logs"/*.status "$logs"/*.seconds
    printf '%s\n' "${lined_up[@]}" >"$logs/queue"
    exec 3<"$logs/queue"
    work_off &
    local first=$!
    work_off &
    exec 3<&-
    # shellcheck disable=SC2064 # these processes, now
    trap "kill $first $! 2>/dev/null" EXIT
}
wait_for() { # NAME
    until [ -s "$logs/$1.seconds" ]; do sleep 0.5; done
}
finish() {
    wait_for "$1"
    cat "$logs/$1.output"
    return "$(cat "$logs/$1.status")"
}

# A launch on the simulated GPU allocates some megabytes and frees them: they stay with the process instead of going back to
# the kernel, whose clearing of pages took a fifth of the time.
export GLIBC_TUNABLES=glibc.malloc.mmap_threshold=1073741824:glibc.malloc.trim_threshold=4294967296:glibc.malloc.top_pad=16777216

# Random cases are the same in every run, so that a change makes the difference: gpu_tests alone draws a seed.
seed=${GM_TEST_SEED:-31}

# Steps that write files have a folder each.
in_folder() {
    mkdir -p "$logs/$1.d" && env -C "$logs/$1.d" "${@:2}"
}
# The host code once more, with AddressSanitizer and UndefinedBehaviorSanitizer: the images are those of the build.
sanitized=$build/sanitized
sanitize() {
    (
        source=$build build=$sanitized
        configure -DGM_WERROR=ON -DGM_TESTS=ON -DGM_PROGRAM=ON -DGM_SANITIZE=address,undefined \
            -DCMAKE_C_FLAGS_RELEASE=-O1 "-DGM_IMAGES_FROM=$source" &&
            compile unit_tests bench_tests gpu_tests gristmill_sim decoder decoder_tests tensors_tests
    )
}
sanitizing() { # as soon as it is built
    wait_for sanitized_build
    in_folder "$1" env ASAN_OPTIONS=detect_leaks=1 UBSAN_OPTIONS=halt_on_error=1:print_stacktrace=1 "${@:2}"
}
later sanitized_build sanitize
# Beside that build. What goes through the whole table, or computes for long, runs with AddressSanitizer only, which is
# faster.
later valgrind_unit_tests in_folder valgrind_unit_tests env CK_FORK=no CK_EXCLUDE_TAGS=long \
    valgrind --quiet --error-exitcode=1 --leak-check=full --errors-for-leak-kinds=definite "$build/unit_tests"
# In one process each, so that leaks are looked for once.
later sanitized_unit_tests sanitizing unit_tests env CK_FORK=no "$sanitized/unit_tests"
later sanitized_bench_tests sanitizing bench_tests env CK_FORK=no "$sanitized/bench_tests"
# It is of the tests themselves: no sanitizer.
later self_test in_folder self_test "$build/gpu_tests" --self-test "--seed=$seed"
later sanitized_sim_h100 sanitizing sim_h100 env GM_DRIVER="$sanitized/libgristmill-sim.so.0" GM_SIM_DEVICE=h100 \
    "$sanitized/gpu_tests" "--seed=$seed" --timeout=90 --quick --no-fork '--test=[abt]*'
# Orders of sums run without a sanitizer, below.

# Every kernel runs on the simulated GPU, whatever GPU this machine has. fp16's twins of bf16 differ in the names of their
# instructions only, and run fewer cases on sm90; so do the many rows of GEMM, of which a change runs all (CONTRIBUTING.md).
# Four processes share two cores, and a case of large heads takes six seconds alone: it hangs after ninety.
simulated() {
    in_folder "sim_$1_$2" env GM_DRIVER=sim GM_SIM_DEVICE="$1" "$build/gpu_tests" "--seed=$seed" --timeout=90 "${@:3}"
}
# The longest first, so that the workers end together. Groups whose names begin with a, b or t run with sanitizers, above.
later sim_h100_library simulated h100 library --quick '--test=[!abirt]*'
later sim_a100_library simulated a100 library --quick '--test=[!r]*'
later sim_h100_orders simulated h100 orders --quick --test=invariance
# Every fourth mutant: all of them take four times as long, and belong to a change of a kernel (CONTRIBUTING.md).
later sim_mutants python3 tests/mutants/mutants.py --every 4 "$build"
later sim_counters python3 tests/sim_lab_check.py "$build/gristmill" --budget 5
later sim_laboratory in_folder sim_laboratory env GM_DRIVER=sim GM_SIM_DEVICE=h200 "$build/gristmill" lab run all --verify
later sim_h100_sm90_bf16 simulated h100 bf16 --test=rows '--kernel=[!g]*_sm90_bf16_*' --seeds=2
later sim_h100_sm90_bf16_glu simulated h100 bf16_glu --test=rows '--kernel=gl*_sm90_bf16_*' --seeds=2
later sim_h100_sm90_bf16_gemm simulated h100 bf16_gemm --test=rows '--kernel=gem*_sm90_bf16_*' --quick
later sim_h100_sm90_fp16 simulated h100 fp16 --test=rows '--kernel=*_sm90_fp16_*' --quick
later sim_h100_sm90_e4m3 simulated h100 e4m3 --test=rows '--kernel=*_sm90_e4m3*' --quick
later sim_h100_sm90_fp32 simulated h100 fp32 --test=rows '--kernel=*_sm90_fp32_*' --seeds=2
later sim_h100_sm90_int simulated h100 int --test=rows '--kernel=[!g]*_sm90_*int*_*' --seeds=2
later sim_h100_sm90_gemm_int8 simulated h100 gemm_int8 --test=rows '--kernel=gemm_sm90_int8_*' --seeds=2 --quick
later sim_h100_sm90_gemm_tf32 simulated h100 gemm_tf32 --test=rows '--kernel=gemm_sm90_tf32*' --seeds=2 --quick
# Kernels of any type have none in their names.
later sim_h100_sm90_any simulated h100 any --test=rows '--kernel=[!g]*_sm90_[t0-9]*' --seeds=2
# Where CTAs exchange sums, a warp that is late must find everything as if it were not: GM_SIM_SEED makes one late.
later sim_h100_early_shuffled simulated h100 early_shuffled --quick --test=early '--kernel=gemm_sm90_*k[234]*' \
    --schedule=seed=12
# Clusters of 8 want more SMs than the simulator has if nothing is said.
later sim_h100_clusters_of_8 in_folder sim_h100_clusters_of_8 env GM_DRIVER=sim GM_SIM_DEVICE=h100 GM_SIM_SMS=8 \
    "$build/gpu_tests" "--seed=$seed" --timeout=90 '--kernel=*_c8_*' --seeds=2
later sim_a100_sm80 simulated a100 sm80 --test=rows '--kernel=[!g]*_sm80_*' --seeds=2
later sim_a100_sm80_gemm simulated a100 sm80_gemm --test=rows '--kernel=g*_sm80_*' --seeds=2 --quick
later sim_a100_gemm_fp32 simulated a100 gemm_fp32 --test=rows '--kernel=gemm_fp32_*' --quick
start_later

step unit_tests env -C "$logs" "$build/unit_tests"
step bench_tests env -C "$logs" "$build/bench_tests"
step sass_check python3 tests/sass_check.py "$build" --cuobjdump "$cuobjdump"
step sass_listings_up_to_date python3 tools/sass.py "$build" --cuobjdump "$cuobjdump" --check
step sass_listing_tests python3 tests/sass_listing_test.py
step toolkit12_kernels python3 tests/toolkit12_check.py "$root" "$build" "$(wheel_file cuda_nvrtc/lib/libnvrtc.so.12)" \
    --ptx "$build/toolkit12"
step toolkit12_header tests/cuda_header_check.sh "$(wheel_file cuda_runtime/include)"
step wgmma_shapes_up_to_date python3 tools/gen_wgmma.py --check
step format scripts/format.sh --check
step layers python3 tools/layers.py "$build"
step layers_tests python3 tests/layers_test.py
step bindings_up_to_date python3 tools/gen_bindings.py --check
step bindings_reader python3 tests/gen_bindings_test.py
step api_reference python3 tests/api_reference_test.py
step docs_check tests/docs_check.sh "$build"
step report_up_to_date python3 tools/report.py --check
step report_tests python3 tests/report_test.py
step install_check tests/install_check.sh "$build"
step rust_check tests/rust_check.sh "$build"
step wheel_check tests/wheel_check.sh "$build"
step package_check tests/package_check.sh "$build"
step pictures_up_to_date python3 tools/pictures.py "$build/gristmill" --check
step program_check tests/program_check.sh "$build/gristmill" "$build"
step launch_check python3 tests/launch_check.py "$build/gristmill" --nvcc "$nvcc" \
    --nvrtc "$(dirname "$(wheel_file cuda_nvrtc/lib/libnvrtc.so.12)")"
step gallery_check python3 tests/gallery_check.py "$build/gristmill" --nvcc "$nvcc"
step course_check python3 tests/course_check.py "$build"
step play_model tests/play/model_check.sh "$build/gristmill" "$build/play_patterns" 1000000 "$seed"
step play_browser python3 tests/play/browser_test.py "$build/gristmill"
# The model's picks on the problems that the ledger has times of: how many are within 3 % of the fastest, in per cent, up to
# 64 tokens by time in turns, above by time alone.
step chooser_on_ledger python3 tools/chooser.py "$build/gristmill" src/ledgers/h200.ledger --at-least 92,90,99
step fit_cost_runs python3 tools/fit_cost.py "$build" src/ledgers/h200.ledger --seconds 1 --folds 2
step valgrind_lab_tests env -C "$logs" CK_FORK=no CK_INCLUDE_TAGS=lab valgrind --quiet --error-exitcode=1 \
    --leak-check=full --errors-for-leak-kinds=definite "$build/bench_tests"
step sim_tests env -C "$logs" "$build/sim_tests"
for suite in 'driver launches' 'driver libraries' 'driver captures' 'out of memory' ptx_module paths; do
    step "valgrind_sim_${suite// /_}" env -C "$logs" CK_FORK=no CK_RUN_SUITE="$suite" valgrind --quiet \
        --error-exitcode=1 --leak-check=full --errors-for-leak-kinds=definite "$build/sim_tests"
done
step sim_reads_ptx_of_toolkit12 env -C "$logs" CK_RUN_SUITE=ptx_rows GM_SIM_PTX_DIR="$build/toolkit12" "$build/sim_tests"
step decoder_tests env -C "$logs" "$build/decoder_tests"
step tensors_tests env -C "$logs" GM_DRIVER=sim GM_SIM_DEVICE=h200 "$build/tensors_tests"
wheels "${tvm_ffi_wheels[@]}"
step tvm_ffi env GM_DRIVER=sim GM_SIM_DEVICE=h200 GRISTMILL_LIBRARY="$(realpath "$build/libgristmill.so")" \
    "$venv/bin/python" tests/tensors/tvm_ffi_test.py
# Small models of transformers, every way through the decoder; and the program as its user has it.
for model in "$root"/tests/decoder/models/*; do
    step "decoder_${model##*/}" env GM_DRIVER=sim GM_SIM_DEVICE=h200 "$build/decoder" check "$model" --page 16
done
step decoder_llama_a100 env GM_DRIVER=sim GM_SIM_DEVICE=a100 "$build/decoder" check tests/decoder/models/llama --page 16
step decoder_llama_fp8_a100 env GM_DRIVER=sim GM_SIM_DEVICE=a100 "$build/decoder" check tests/decoder/models/llama_fp8 --page 16
step decoder_program env GM_DRIVER=sim GM_SIM_DEVICE=h200 python3 tests/decoder/program_test.py "$build/decoder"
# Without fp16's twins.
step sim_rtx4090_sm80 simulated rtx4090 sm80 --test=rows '--kernel=*_sm80_[!f]*' --quick
step sim_rtx4090_sm80_fp32 simulated rtx4090 sm80_fp32 --test=rows '--kernel=*_sm80_fp32*' --quick

# A library for one architecture and type.
small_library() {
    (
        source=$build build=$build/small
        configure -DGM_TESTS=OFF -DGM_PROGRAM=OFF -DGM_EXAMPLES=OFF -DGM_SIM=OFF -DGM_OPERATIONS=gemm -DGM_ARCHS=90a \
            -DGM_TYPES=bf16 "-DGM_IMAGES_FROM=$source" && compile gristmill_shared &&
            bytes=$(stat -L -c %s "$build/libgristmill.so") && echo "bf16 GEMM for 9.0: $bytes bytes (limit 4000000)" &&
            [ "$bytes" -le 4000000 ]
    )
}
step small_library small_library
step gpu_tests env -C "$logs" "$build/gpu_tests"

# Beside the workers, which take longer from here on.
step sanitized_decoder_tests sanitizing decoder_tests env ASAN_OPTIONS=detect_leaks=0 \
    CK_EXCLUDE_TAGS=long "$sanitized/decoder_tests" # refusals exit with what they have
step sanitized_tensors_tests sanitizing tensors_tests env CK_FORK=no GM_SIM_DEVICE=h200 \
    GM_DRIVER="$sanitized/libgristmill-sim.so.0" "$sanitized/tensors_tests"
step sanitized_decoder_check sanitizing decoder_check env GM_DRIVER="$sanitized/libgristmill-sim.so.0" \
    GM_SIM_DEVICE=h200 "$sanitized/decoder" check "$root/tests/decoder/models/gemma3" --page 16

for name in "${lined_up[@]}"; do
    step "$name" finish "$name"
done

[ ${#over[@]} -eq 0 ] || { say "longer than their budget:"; printf '   %s\n' "${over[@]}"; }
[ ${#broken[@]} -eq 0 ] || say "failed in: ${broken[*]}"
for name in "${broken[@]}"; do
    say "$name: the lines around its first failures"
    { grep -E -m 8 -B 3 -A 3 ' FAIL|^FAIL|MISSED|:[FE]:|ERROR: |runtime error' "$logs/$name.log" || tail -n 8 "$logs/$name.log"; } |
        cut -c 1-300 | sed 's/^/   /'
done
[ "$passed" -gt 0 ] || say "no test ran"
printf '%s passed, %s failed, %s skipped\n' "$passed" "$failed" "$skipped"
[ "$failed" -eq 0 ] && [ "$passed" -gt 0 ]
