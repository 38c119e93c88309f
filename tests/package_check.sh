#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Makes the packages by cpack and installs them where nothing else is: what each holds, which others it wants, that
# programs build and run from there, that removing them leaves nothing; and the same of the .tar.gz.
#
#   package_check.sh BUILD_DIR
set -u
build=$(cd "$1" && pwd)
for tool in cpack dpkg dpkg-deb dpkg-query dpkg-shlibdeps; do
    command -v $tool >/dev/null || { echo "$tool is missing: no packages"; exit 77; }
done
dpkg-query -s libc6 >/dev/null 2>&1 || { echo "this system is not made of packages"; exit 77; }
# shellcheck source=tests/install/checks.sh
source "$(dirname "${BASH_SOURCE[0]}")/install/checks.sh"
export LC_ALL=C.UTF-8 PATH=$PATH:/usr/sbin:/sbin

# Not compressed: xz takes 17 of 19 seconds.
packs() { cpack --config "$build/CPackConfig.cmake" -B "$work/packages" -D CPACK_DEBIAN_COMPRESSION_TYPE=none; }
check "cpack makes packages" packs
cd "$work/packages" || exit 1
[ "$failed" -eq 0 ] || { closing_line; exit 1; }
tar=$(ls ./*.tar.gz)
version=$(sed -n 's/^set(CPACK_PACKAGE_VERSION "\(.*\)")/\1/p' "$build/CPackConfig.cmake")
mkdir "$work/trees"
for file in *.deb; do
    dpkg-deb -R "$file" "$work/trees/${file%%_*}"
done
soname=$(readelf -d "$build/libgristmill.so" | sed -n 's/.*soname: \[libgristmill\.so\.\(.*\)\]/\1/p')
names=(libgristmill"$soname" libgristmill-dev libgristmill-sim0 libgristmill-tensors"$soname" gristmill-tools) # in an order that dpkg takes

# ---- what they hold ----

are_all() { diff <(printf '%s\n' "${names[@]}" | sort) <(ls "$work/trees"); }
files_of() { (cd "$work/trees/$1/usr" && find . -type f -o -type l) | grep -v '^\./share/doc/'; }
files_of_all() {
    local name
    for name in "${names[@]}"; do files_of "$name"; done | sort
}
share_no_file() { ! files_of_all | uniq -d | grep .; }
hold_what_is_installed() {
    DESTDIR=$work/installed cmake --install "$build" >/dev/null &&
        diff <(cd "$(dirname "$(find "$work/installed" -name include)")" && find . -type f -o -type l |
            grep -v '^\./share/doc/' | sort) <(files_of_all)
}
archive_holds_what_is_installed() {
    diff <(tar tf "$tar" | sed -n 's,^[^/]*/,./,p' | grep -v -e '/$' -e '^\./share/doc/' | sort) <(files_of_all)
}
modes_are_right() {
    local file
    for file in *.deb; do dpkg-deb -c "$file"; done >"$work/listed"
    ! grep -vE '^(drwxr-xr-x|-rw-r--r--|lrwxrwxrwx|-rwxr-xr-x) root/root ' "$work/listed" &&
        ! grep '^-rwx' "$work/listed" | grep -v ' \./usr/bin/'
}
have_their_documents() {
    local name
    for name in "${names[@]}"; do
        grep -q '^License: Apache-2.0$' "$work/trees/$name/usr/share/doc/$name/copyright" &&
            zcat "$work/trees/$name/usr/share/doc/$name/changelog.gz" | cmp - "$tests/../CHANGELOG.md" &&
            zcat "$work/trees/$name/usr/share/doc/$name/changelog.Debian.gz" | grep -q "^gristmill ($version-1) " || return 1
    done
    tar tf "$tar" | grep -E '/share/doc/gristmill/LICENSE$'
}
tell_of_every_symbol() {
    local symbols=$work/trees/${names[0]}/DEBIAN/symbols
    diff <(sed -n 's/^ \(gm_.*\)@GRISTMILL_'"$soname"' .*/\1/p' "$symbols" | LC_ALL=C sort) \
        <(exported "$build/libgristmill.so")
}
# A function that came with 0.2.1 is not in the list of 0.2.0.
know_no_later_version() {
    local last
    last=$(awk 'NR > 1 { print $2 }' "$work/trees/${names[0]}/DEBIAN/symbols" | sort -V | tail -n 1)
    dpkg --compare-versions "$last" le "$version" || { echo "$last in $version"; return 1; }
}
check "they are five, libraries named by their sonames" are_all
check "no file is in two of them" share_no_file
check "together they hold what cmake --install installs" hold_what_is_installed
check "the .tar.gz holds the same" archive_holds_what_is_installed
check "owners and modes are Debian's" modes_are_right
check "each has its copyright and its changes" have_their_documents
check "the symbols file has every function of the library" tell_of_every_symbol
check "no function came with a later version than this" know_no_later_version

# ---- installed by dpkg, where there is nothing but the C library and zlib, by name ----

root=$work/root
mkdir -p "$root/var/lib/dpkg"/{info,updates,triggers}
sed -n '/^Depends:/s/^Depends: //p' "$work"/trees/*/DEBIAN/control | tr ',' '\n' | sed 's/^ *//; s/ .*//' |
    sort -u | grep -v gristmill | xargs -r dpkg-query -s >"$root/var/lib/dpkg/status"
cp "$root/var/lib/dpkg/status" "$work/status"
in_root() { dpkg --root="$root" --force-not-root --log="$work/dpkg.log" "$@"; }
installs() { in_root -i "$1"_*.deb; }
wants() { # NAME OTHER: dpkg leaves NAME unconfigured, because of OTHER; it is gone again afterwards
    ! installs "$1" >"$work/refused" 2>&1
    grep -F "$1 depends on $2 (= $version-1)" "$work/refused" && in_root --purge "$1"
}
refuses_to_leave() { ! in_root -r "$1" >"$work/refused" 2>&1 && grep -F "depends on $1" "$work/refused"; }
is_what_was_packed() { ! in_root --verify "${names[@]}" 2>/dev/null | grep .; }
gets_a_dependency() { # by dpkg-shlibdeps, as a package of the consumer would
    mkdir -p "$work/debian" && touch "$work/debian/control" &&
        env -C "$work" -u LD_LIBRARY_PATH dpkg-shlibdeps "-S$work/trees/${names[0]}" -O "$work/consumer" | grep -E "libgristmill$soname \(>= [0-9.]+\)"
}
runs_simulated() { GM_DRIVER=sim "$work/consumer" | grep 'devices: asked'; }
leaves_nothing() {
    in_root --purge "${names[@]}" && diff -B "$work/status" "$root/var/lib/dpkg/status" &&
        ! find "$root" -mindepth 1 -path "$root/var" -prune -o -print | grep .
}
check "libgristmill-dev wants the library" wants libgristmill-dev "${names[0]}"
check "libgristmill-sim0 wants the library" wants libgristmill-sim0 "${names[0]}"
check "gristmill-tools wants the simulator" wants gristmill-tools libgristmill-sim0
for name in "${names[@]}"; do
    check "$name is installed" installs "$name"
done
check "the library stays while others need it" refuses_to_leave "${names[0]}"
check "what is installed is what was packed" is_what_was_packed
installation "$root"
check "a program links by find_package, shared and static, and runs" uses_cmake
check "a program links statically by pkg-config and runs" uses_pkg_config --static
check "a program links by pkg-config and runs" uses_pkg_config
check "the program runs on the simulated GPU" runs_simulated
check "a package of the program depends on the library's" gets_a_dependency
check "gristmill finds the simulated GPU" opens_from_the_program
check "removed, they leave nothing" leaves_nothing

# ---- the archive, wherever it is unpacked ----

mkdir "$work/anywhere" && tar xf "$tar" -C "$work/anywhere" && installation "$work/anywhere"
check "from the archive a program links by find_package and runs" uses_cmake
check "from the archive a program links by pkg-config and runs" uses_pkg_config
check "from the archive the program runs on the simulated GPU" runs_simulated
check "from the archive gristmill finds the simulated GPU" opens_from_the_program

closing_line
