#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Sets up, builds, and measures the suite gemm-quick beside cuBLASLt; the table goes to the terminal, JSON and SVG to
# bench/results/<gpu>/. Where there is no GPU it says what it looked for and what can be run there. Arguments are those
# of `gristmill bench`.
#
#   scripts/bench.sh [--suite gemm-bf16] [--kernel <name>] ...       GM_BUILD_DIR=<dir> builds there, not in build/
set -uo pipefail
# shellcheck source=scripts/setup.sh
source "$(dirname "${BASH_SOURCE[0]}")/setup.sh"
cd "$root" || exit 1

need cmake ninja cc c++ pkg-config jansson zlib
tests=OFF # they need Check, a measurement does not
! have check || tests=ON
configure -DGM_PROGRAM=ON -DGM_TESTS=$tests
compile gristmill

has_gpu() { nvidia-smi -L 2>/dev/null | grep -q '^GPU' || [ -e /dev/nvidia0 ] || [ -e /dev/dxg ]; }

# Whether `gristmill bench` will find the baseline by itself.
has_cublaslt() {
    local folder
    [ -z "${GM_CUBLASLT:-}" ] || return 0
    ! ldconfig -p 2>/dev/null | grep -q libcublasLt || return 0
    for folder in "${CUDA_HOME:-/usr/local/cuda}" "${CUDA_PATH:-/usr/local/cuda}" /usr/local/cuda; do
        ! compgen -G "$folder/lib*/libcublasLt.so*" >/dev/null || return 0
    done
    python3 - 2>/dev/null <<'EOT'
import glob, nvidia, sys
sys.exit(not any(glob.glob(path + "/*/lib/libcublasLt.so*") for path in nvidia.__path__))
EOT
}

# Results to publish are whole suites by the full method, perhaps in parts; anything else is written beside the build.
results=$root/bench/results
for argument in "$@"; do
    case $argument in
        --suite | --suite=* | --quiet | --append) ;;
        --m | --m=*) [[ " $* " == *" --append "* ]] || results=$build/results ;;
        --*) results=$build/results ;;
    esac
done

if has_gpu; then
    outputs=(--json "$results/{gpu}/{suite}.json" --svg "$results/{gpu}/{suite}.svg")
    if [[ " $* " == *" --no-baseline "* ]]; then
        outputs=("${outputs[@]:0:2}") # the plot shows ratios to the baseline
    elif ! has_cublaslt; then
        if (wheels "${cublas_wheels[@]}"); then
            GM_CUBLASLT=$(wheel_file cu13/lib/libcublasLt.so.13)
            export GM_CUBLASLT
        else
            say "measuring without the baseline"
            outputs=("${outputs[@]:0:2}" --no-baseline)
        fi
    fi
    exec "$build/gristmill" bench "${outputs[@]}" "$@"
fi
[ $# -eq 0 ] || exec "$build/gristmill" bench "$@"
smi="not installed"
! have nvidia-smi || smi="lists none"
program=${build#"$root/"}/gristmill
cat <<EOT

Nothing was measured: there is no NVIDIA GPU here, as far as nvidia-smi ($smi), /dev/nvidia0 and /dev/dxg
(not there) say. To measure, run scripts/bench.sh where there is one of compute capability 8.0 or newer, with its
driver. What was built runs here as well:

    $program sim run gemm_sm80_bf16_tn_64x64x64_s4_c1x1_w2x2_xor    a kernel on the simulated GPU
    $program lab run strided-reads      an experiment, on the simulated GPU
    $program bench --device h200        the planner's predictions for a suite
    $program explain 64 4096 4096       the kernel that it takes for a problem, and why not the others
    $program info                       the table of all kernels
EOT
