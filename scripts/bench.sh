#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Sets up, builds, and measures the suite gemm-quick beside cuBLASLt; the table goes to the terminal, JSON and SVG to
# bench/results/<gpu>/. Where there is no GPU it lists every kernel instead. Arguments are those of `gristmill bench`.
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
    if ! has_cublaslt; then
        if (wheels "${cublas_wheels[@]}"); then
            GM_CUBLASLT=$(wheel_file cu13/lib/libcublasLt.so.13)
            export GM_CUBLASLT
        else
            say "measuring without the baseline"
        fi
    fi
    exec "$build/gristmill" bench --json "$results/{gpu}/{suite}.json" --svg "$results/{gpu}/{suite}.svg" "$@"
fi
[ $# -eq 0 ] || exec "$build/gristmill" bench "$@"
"$build/gristmill" info || die "gristmill info failed"
cat <<'EOT'

No GPU here, so nothing was measured; the table above is what the compiler and the model say. To measure, run the same
command on a machine with an NVIDIA GPU of compute capability 8.0 or newer and its driver:

    scripts/bench.sh
EOT
