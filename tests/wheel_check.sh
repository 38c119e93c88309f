#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Makes a wheel of the build, installs it into a clean environment and runs the Python tests on it: without numpy, then
# with numpy and ml_dtypes where they can be had. Then what must not become a wheel.
#
#   wheel_check.sh BUILD_DIR
set -u
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
build=$(cd "$1" && pwd)
# shellcheck source=tests/install/checks.sh
source "$root/tests/install/checks.sh"
unset GM_DRIVER GM_SIM_DEVICE GRISTMILL_LIBRARY PYTHONPATH
export PYTHONDONTWRITEBYTECODE=1 PIP_DISABLE_PIP_VERSION_CHECK=1

# Those of tests/python, which count themselves.
python_tests() {
    local p f s
    (cd "$work" && "$work/venv/bin/python" "$root/tests/python/run.py") | tee "$work/out"
    read -r p f s < <(tail -n 1 "$work/out" | sed -nE 's/^([0-9]+) passed, ([0-9]+) failed, ([0-9]+) skipped$/\1 \2 \3/p')
    passed=$((passed + ${p:-0})) failed=$((failed + ${f:-1})) skipped=$((skipped + ${s:-0}))
}

# ---- the wheel ----

makes() { "$root/scripts/wheel.sh" --build "$build" --out "$work/dist"; }
# The name says 2.17, the oldest that installers know of.
is_named() { ls "$work"/dist/gristmill-*-py3-none-manylinux_2_17_"$(uname -m)".whl; }
is_the_same_again() {
    "$root/scripts/wheel.sh" --build "$build" --out "$work/again" && cmp "$work"/dist/*.whl "$work"/again/*.whl
}
installs() {
    python3 -m venv "$work/venv" && "$work/venv/bin/pip" install --quiet --no-index --no-deps "$work"/dist/*.whl &&
        "$work/venv/bin/pip" check
}
check "a wheel is made of the build" makes
check "its name says glibc 2.17" is_named
check "it is the same when made again" is_the_same_again
check "it installs without a network" installs
python_tests
# Fetched once for a build.
extras=$build/python-extras
[ -e "$extras/done" ] || "$work/venv/bin/pip" install --quiet --retries 0 --timeout 10 --target "$extras" numpy ml_dtypes &&
    touch "$extras/done"
if [ -e "$extras/done" ]; then
    skipped=0 # what wanted them runs now
    export PYTHONPATH=$extras
    python_tests
    unset PYTHONPATH
else
    echo "SKIP numpy and ml_dtypes: not installed, and not to be had"
    skipped=$((skipped + 1))
fi

# ---- other libraries ----

echo 'int gm_version(void) { return 0; }' >"$work/foreign.c"
takes_others_along() {
    # shellcheck disable=SC2016 # the loader's $ORIGIN
    mkdir "$work/more" && ln -s "$build"/libgristmill.so.*.*.* "$work/more" &&
        cc -shared -fPIC -Wl,-rpath,'$ORIGIN' -o "$work/more/libgristmill-more.so" "$work/foreign.c" &&
        "$root/scripts/wheel.sh" --build "$work/more" --out "$work/more" &&
        python3 -m zipfile -l "$work"/more/*.whl | grep -F gristmill/lib/libgristmill-more.so
}
check "whatever else of gristmill the build has goes along" takes_others_along

# ---- what must not become a wheel ----

# refuses SENTENCE LIBRARY FLAG...: the wheel of a build with this library is refused, with the sentence.
refuses() {
    local sentence=$1 library=$2 said
    shift 2
    rm -rf "$work/bad" && mkdir "$work/bad"
    [ -z "$library" ] || cc -shared -fPIC -o "$work/bad/$library" -Wl,-soname,"$library" "$@" || return 1
    ! said=$("$root/scripts/wheel.sh" --build "$work/bad" --out "$work/bad" 2>&1) || return 1
    echo "$said"
    # shellcheck disable=SC2053 # a pattern
    [[ $said == $sentence ]]
}
cc -shared -fPIC -o "$work/libforeign.so.7" -Wl,-soname,libforeign.so.7 "$work/foreign.c"
echo '#include <dlfcn.h>
void *gm_open(void) { return dlopen("x", RTLD_NOW); }' >"$work/new.c"
check "a build without a library is refused" \
    refuses "build_wheel: there is no libgristmill.so in $work/bad: build the target gristmill_shared" ''
check "a library that needs a strange one is refused" \
    refuses 'build_wheel: libgristmill.so.0.2 needs libforeign.so.7, which a system need not have' libgristmill.so.0.2 \
    "$work/foreign.c" -Wl,--no-as-needed "$work/libforeign.so.7"
check "a library that looks elsewhere is refused" \
    refuses 'build_wheel: libgristmill.so.0.2 looks for libraries in /opt/x' libgristmill.so.0.2 "$work/foreign.c" \
    -Wl,-rpath,/opt/x
if ldd --version | head -n 1 | grep -qE ' 2\.(3[4-9]|[4-9][0-9])$'; then
    check "a library that needs a new glibc is refused" \
        refuses 'build_wheel: libgristmill.so.0.2 needs glibc 2.34 for dlopen; a wheel may need 2.28.*' libgristmill.so.0.2 \
        "$work/new.c"
fi

closing_line
