# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# Sourced by bench.sh and test.sh: the tools, a CUDA toolkit, the build. Everything it fetches stays in build/,
# except what apt installs. Nothing is fetched twice.

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
build=${GM_BUILD_DIR:-$root/build}
venv=$build/venv
jobs=$(nproc)

# The toolkit, where none is installed.
toolkit_wheels=(nvidia-cuda-nvcc==13.0.88 nvidia-nvvm==13.0.88 nvidia-cuda-crt==13.0.88 nvidia-cuda-runtime==13.0.88)
# The disassembler, where the toolkit has none.
disassembler_wheels=(nvidia-cuda-cuobjdump==13.2.78 nvidia-cuda-nvdisasm==13.2.78)
# The baseline of the bench, fetched where there is a GPU and no cuBLASLt.
# shellcheck disable=SC2034 # for bench.sh
cublas_wheels=(nvidia-cublas==13.1.0.3)
# The oldest toolkit supported: PyPI has its compiler as a library, and its headers, but no nvcc.
# shellcheck disable=SC2034 # for test.sh
toolkit12_wheels=(nvidia-cuda-nvrtc-cu12==12.3.107 nvidia-cuda-runtime-cu12==12.3.101)
# What calls libgristmill-tensors in its test.
# shellcheck disable=SC2034 # for test.sh
tvm_ffi_wheels=(apache-tvm-ffi==0.1.15.post2 typing_extensions==4.16.0)
# What makes the site of the documentation: Sphinx, MyST, the theme furo, and what they need.
# shellcheck disable=SC2034 # for docs.sh
docs_wheels=(accessible-pygments==0.0.5 alabaster==1.0.0 babel==2.19.0 beautifulsoup4==4.15.0
    certifi==2026.10.19.post1 charset-normalizer==3.5.3 docutils==0.21.2 furo==2025.12.19 idna==3.20 imagesize==2.0.1
    Jinja2==3.1.6 markdown-it-py==3.0.0 MarkupSafe==3.0.4 mdit-py-plugins==0.7.0 mdurl==0.1.2 myst-parser==4.0.1
    packaging==26.4 Pygments==2.21.0 PyYAML==6.0.4 requests==2.34.2 snowballstemmer==3.1.1 soupsieve==4.1.3
    Sphinx==8.1.3 sphinx-basic-ng==1.0.0b2 sphinxcontrib-applehelp==2.0.0 sphinxcontrib-devhelp==2.0.0
    sphinxcontrib-htmlhelp==2.1.0 sphinxcontrib-jsmath==2.0.0 sphinxcontrib-qthelp==2.0.0
    sphinxcontrib-serializinghtml==2.0.0 typing_extensions==4.16.0 urllib3==2.8.0)

say() { printf '== %s\n' "$*"; }
die() {
    printf 'gristmill: %s\n' "$*" >&2
    exit 1
}

have() {
    case $1 in
        check | jansson | zlib | libpcre2-8 | libutf8proc) pkg-config --exists "$1" 2>/dev/null ;;
        venv) python3 -c 'import ensurepip, venv' 2>/dev/null ;;
        browser) python3 "$root/tests/play/browser.py" >/dev/null ;;
        *) command -v "$1" >/dev/null 2>&1 ;;
    esac
}

package_of() {
    case $1 in
        cc) echo gcc libc6-dev ;;
        c++) echo g++ ;;
        ninja) echo ninja-build ;;
        jansson) echo libjansson-dev ;;
        zlib) echo zlib1g-dev ;;
        libpcre2-8) echo libpcre2-dev ;;
        libutf8proc) echo libutf8proc-dev ;;
        venv) echo python3-venv ;;
        readelf) echo binutils ;;
        dpkg-shlibdeps) echo dpkg-dev ;;
        node) echo nodejs ;;
        browser) echo chromium-headless-shell ;;
        *) echo "$1" ;;
    esac
}

# need TOOL...: installs by apt what is missing.
need() {
    local missing=() packages=() words tool
    for tool in "$@"; do
        have "$tool" && continue
        missing+=("$tool")
        read -ra words < <(package_of "$tool")
        packages+=("${words[@]}")
    done
    [ ${#missing[@]} -eq 0 ] && return
    have apt-get || die "missing: ${missing[*]}. Install them with your package manager and run this again."
    local apt=(env DEBIAN_FRONTEND=noninteractive apt-get -y -qq)
    if [ "$(id -u)" -ne 0 ]; then
        have sudo || die "missing: ${missing[*]}. Run as root: apt-get install ${packages[*]}"
        apt=(sudo "${apt[@]}")
    fi
    say "apt-get install ${packages[*]}"
    "${apt[@]}" update >/dev/null || die "apt-get update failed; needed: ${packages[*]}"
    "${apt[@]}" install --no-install-recommends "${packages[@]}" >/dev/null ||
        die "apt-get install failed; needed: ${packages[*]}"
    for tool in "${missing[@]}"; do
        have "$tool" || die "$tool is still missing after apt-get install ${packages[*]}"
    done
}

# want TOOL...: the same, but tests are skipped that miss what cannot be had.
want() {
    local tool
    for tool in "$@"; do
        (need "$tool") || say "without $tool"
    done
}

# wheels NAME==VERSION...: installs them into the venv, once.
wheels() {
    local stamp
    stamp=$venv/$(printf '%s\n' "$@" | sha256sum | cut -c1-16).done
    [ -e "$stamp" ] && return
    need python3 venv
    [ -x "$venv/bin/pip" ] || python3 -m venv "$venv" || die "python3 -m venv $venv failed"
    say "pip install $*"
    "$venv/bin/pip" install --quiet --no-deps --disable-pip-version-check "$@" ||
        die "pip could not install: $*. Check the network, or set CUDA_HOME to a CUDA toolkit 12.3 or newer."
    touch "$stamp"
}

# wheel_file PATH: where the wheels put nvidia/PATH.
wheel_file() {
    local found=("$venv"/lib/python3*/site-packages/nvidia/"$1")
    [ -e "${found[0]}" ] || die "the wheels hold no nvidia/$1"
    printf '%s\n' "${found[0]}"
}

new_enough() { # an nvcc of 12.3 or newer
    local version
    [ -x "$1" ] && version=$("$1" --version 2>/dev/null | sed -n 's/.*release \([0-9.]*\),.*/\1/p') &&
        [ "$(printf '12.3\n%s\n' "$version" | sort -V | head -n 1)" = 12.3 ]
}

# Sets nvcc: from CUDA_HOME, CUDA_PATH, PATH, /usr/local/cuda, or the wheels.
find_toolkit() {
    local candidate
    for candidate in "${CUDA_HOME:-}/bin/nvcc" "${CUDA_PATH:-}/bin/nvcc" "$(command -v nvcc)" \
        /usr/local/cuda/bin/nvcc; do
        if new_enough "$candidate"; then
            nvcc=$candidate
            return
        fi
        [ ! -x "$candidate" ] || say "$candidate is older than CUDA 12.3: not used"
    done
    wheels "${toolkit_wheels[@]}"
    nvcc=$(wheel_file cu13/bin/nvcc)
}

# Sets cuobjdump: beside nvcc, from PATH, or the wheels.
find_disassembler() {
    cuobjdump=$(dirname "$nvcc")/cuobjdump
    [ -x "$cuobjdump" ] && [ -x "$(dirname "$nvcc")/nvdisasm" ] && return
    wheels "${disassembler_wheels[@]}"
    cuobjdump=$(wheel_file cu13/bin/cuobjdump)
}

# configure CMAKE_OPTION...
configure() {
    find_toolkit
    mkdir -p "$build"
    cmake -S "$root" -B "$build" -G Ninja -DGM_NVCC="$nvcc" "$@" >"$build/configure.log" 2>&1 ||
        { cat "$build/configure.log" >&2; die "CMake failed"; }
    grep '^-- CUDA toolkit' "$build/configure.log" || true
}

# compile TARGET...
compile() {
    say "building with $jobs jobs (the first build of the kernels takes minutes)"
    cmake --build "$build" --parallel "$jobs" --target "$@" || die "the build failed"
}
