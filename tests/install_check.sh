#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Installs the build into a scratch directory and checks what a user gets: what the library links and exports, the
# header in C99 and C++, linking by pkg-config and by CMake, the README's example.
#
#   install_check.sh BUILD_DIR
set -u
build=$(cd "$1" && pwd)
# shellcheck source=tests/install/checks.sh
source "$(dirname "${BASH_SOURCE[0]}")/install/checks.sh"

installs() { DESTDIR=$work/root cmake --install "$build"; }
check "install with DESTDIR" installs
installation "$work/root"

# ---- the library ----

links_only_the_c_library() {
    local needed
    needed=$(readelf -d "$library" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p')
    echo "needs: $needed"
    ! grep -vE '^(lib(c|dl|pthread|m)\.so\.[0-9]+|ld-linux.*)$' <<<"$needed" | grep .
}
has_soname() { readelf -d "$library" | grep -F 'soname: [libgristmill.so.'; }
exports_the_header() {
    local declared
    declared=$(sed -nE 's/^GM_API [a-z0-9_ *]*[ *](gm_[a-z0-9_]+)\(.*/\1/p' "$include"/gristmill/*.h | LC_ALL=C sort)
    diff <(echo "$declared") <(exported "$library")
}
exports_what_is_listed() {
    diff <(cut -d ' ' -f 1 "$tests"/abi/symbols/*.txt | LC_ALL=C sort) <(exported "$library")
}
# GRISTMILL_0.2 of libgristmill.so.0.2
exports_have_the_version_of_the_soname() {
    local soname
    soname=$(readelf -d "$library" | sed -n 's/.*soname: \[libgristmill\.so\.\(.*\)\]/\1/p')
    ! nm -D --defined-only "$library" | awk '$2 != "A" { print $3 }' | grep -vF "@@GRISTMILL_$soname"
}
static_symbols_are_prefixed() {
    ! nm -g --defined-only "$libdir/libgristmill.a" 2>/dev/null | awk 'NF == 3 { print $3 }' | grep -v '^gm_'
}
no_executable_stack() { ! readelf -lW "$library" | grep GNU_STACK | grep -w RWE; }
no_build_paths() { ! strings "$library" | grep -F "$(dirname "$build")"; }
check "the library links libc, libdl, libpthread, libm only" links_only_the_c_library
check "the library has a soname" has_soname
check "the library exports exactly what the headers declare" exports_the_header
check "the library exports exactly what tests/abi/symbols/ lists" exports_what_is_listed
check "what the library exports has the version of its soname" exports_have_the_version_of_the_soname
check "the static library's global symbols begin with gm_" static_symbols_are_prefixed
check "the library asks for no executable stack" no_executable_stack
check "the library holds no path of the build machine" no_build_paths

# ---- the simulated GPU ----

exports_the_driver_only() {
    exported "$simulator" >"$work/exported"
    grep -qx cuLaunchKernelEx "$work/exported" && grep -qx gm_sim_report_count "$work/exported" &&
        ! grep -vE '^(cu[A-Z]|gm_sim_)' "$work/exported"
}
holds_no_build_path() { ! strings "$simulator" | grep -F "$(dirname "$build")"; }
asks_no_executable_stack() { ! readelf -lW "$simulator" | grep GNU_STACK | grep -w RWE; }
# Opens it through gm_device_count(), from the place where it was installed.
opens_from_the_library() {
    GM_DRIVER=sim python3 - "$library" <<'EOT'
import ctypes, sys
library = ctypes.CDLL(sys.argv[1])
count = ctypes.c_int(0)
library.gm_last_error.restype = ctypes.c_char_p
sys.exit(library.gm_device_count(ctypes.byref(count)) != 0 and library.gm_last_error() or count.value != 1)
EOT
}
if [ -n "$simulator" ]; then
    check "the simulator exports the driver and its own functions only" exports_the_driver_only
    check "the simulator holds no path of the build machine" holds_no_build_path
    check "the simulator asks for no executable stack" asks_no_executable_stack
    check "the library finds the simulator where it was installed" opens_from_the_library
    [ ! -x "$prefix/bin/gristmill" ] ||
        check "the program finds the simulator where it was installed" opens_from_the_program
fi

# ---- the header ----

strict=(-Wall -Wextra -Werror -pedantic -fsyntax-only -I"$include")
for header in $(cd "$include" && printf '%s\n' gristmill/*.h); do
    check "$header is C99" cc -std=c99 "${strict[@]}" -x c -include $header /dev/null
    check "$header is C11" cc -std=c11 "${strict[@]}" -x c -include $header /dev/null
    check "$header is C++11" c++ -std=c++11 "${strict[@]}" -x c++ -include $header /dev/null
    check "$header is C++20" c++ -std=c++20 "${strict[@]}" -x c++ -include $header /dev/null
done

keeps_the_layout() {
    local layout
    for layout in "$tests"/abi/layout/*.c; do cc -std=c11 "${strict[@]}" "$layout" || return 1; done
}
check "every member lies where it lay, every enumerator is what it was" keeps_the_layout

# ---- users' builds ----

minor=$(sed -n 's/^#define GM_VERSION_MINOR //p' "$include/gristmill/core.h")
# The same in C++17: these plan, run on the simulated GPU and check.
cpp_uses_pkg_config() {
    local flags
    read -ra flags < <(pkg-config --cflags --libs gristmill)
    c++ -std=c++17 -Wall -Wextra -Werror -o "$work/consumer_cpp" "$tests/install/cpp/consumer.cpp" "${flags[@]}" -ldl &&
        GM_DRIVER=sim GM_SIM_DEVICE=h200 "$work/consumer_cpp"
}
cpp_uses_cmake() {
    cmake -S "$tests/install/cpp" -B "$work/cpp" -G Ninja -DCMAKE_PREFIX_PATH="$prefix" && cmake --build "$work/cpp" &&
        GM_DRIVER=sim GM_SIM_DEVICE=h200 "$work/cpp/consumer_shared" &&
        GM_DRIVER=sim GM_SIM_DEVICE=a100 "$work/cpp/consumer_static"
}
# While the version is 0.x the package answers for its own minor version only.
refuses_an_older_minor() {
    grep -q '^#define GM_VERSION_MAJOR 0$' "$include/gristmill/core.h" || return 0
    ! cmake -S "$tests/install" -B "$work/older" -G Ninja -DCMAKE_PREFIX_PATH="$prefix" -DWANTED="0.$((minor - 1))" &&
        cmake -S "$tests/install" -B "$work/own" -G Ninja -DCMAKE_PREFIX_PATH="$prefix" -DWANTED="0.$minor"
}
loads_alone() {
    python3 -c 'import ctypes, sys; print(ctypes.CDLL(sys.argv[1]).gm_version())' "$library"
}
# Opened, used and closed 50 times, without a driver and with the simulated one: the heap does not grow.
leaves_nothing_behind() {
    cc -std=gnu11 -I"$include" -o "$work/reload" "$tests/install/reload.c" -ldl &&
        GM_DRIVER=/nowhere/libcuda.so "$work/reload" "$library" 50 &&
        { [ -z "$simulator" ] || GM_DRIVER=sim "$work/reload" "$library" 50; }
}
readme_example() {
    # shellcheck disable=SC2016 # literal backquotes
    sed -n '/^```c$/,/^```$/p' "$tests/../README.md" | sed '/^```/d' >"$work/example.c"
    grep -q gm_gemm_execute "$work/example.c" &&
        cc -std=c11 -Wall -Wextra -Werror -fPIC -shared -Wl,--no-undefined -I"$include" -o "$work/example.so" \
            "$work/example.c" -L"$libdir" -lgristmill
}
check "a program links by pkg-config and runs" uses_pkg_config
check "a program links statically by pkg-config and runs" uses_pkg_config --static
check "a program links by find_package, shared and static, and runs" uses_cmake
if [ -n "$simulator" ]; then
    check "a C++ program links by pkg-config and multiplies" cpp_uses_pkg_config
    check "a C++ project links by find_package, shared and static, and multiplies" cpp_uses_cmake
fi
check "find_package refuses the package for an older minor version" refuses_an_older_minor
check "the library loads into a process that has no driver open" loads_alone
check "the library leaves nothing behind when it is closed" leaves_nothing_behind
check "the README's example compiles and links" readme_example

closing_line
