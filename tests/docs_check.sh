#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Makes the site of the documentation and looks into it: pages, links between them, pictures, the search; and that a broken link
# is an error.
#
#   docs_check.sh BUILD_DIR
set -u
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
build=$(cd "$1" && pwd)
# shellcheck source=tests/install/checks.sh
source "$root/tests/install/checks.sh"
if python3 -c 'import sys; sys.exit(sys.version_info >= (3, 10))'; then
    echo "skipped: the site is made with Python 3.10 or newer"
    exit 77
fi
html=$build/docs/html

is_made() { GM_BUILD_DIR=$build "$root/scripts/docs.sh" && [ -s "$html/index.html" ]; }
has() { grep -qF -- "$2" "$html/$1"; } # FILE TEXT
has_every_page() {
    local page
    for page in "$root"/docs/*.md "$root"/docs/course/*.md; do
        page=${page#"$root/"}
        [ -s "$html/${page%.md}.html" ] || { echo "$page is missing"; return 1; }
    done
}
needs_no_network() { ! grep -rhoE '<(script|link|img)[^>]+(src|href)="(https?:)?//[^"]*"' "$html" --include='*.html'; }

check "the site is made" is_made
check "it has every page of docs" has_every_page
check "the interface has its functions" has api/gemm.html 'id="gm-gemm-pack"'
check "a page that prose names is a link" has docs/STRIDES.html 'href="PERMUTE.html"'
check "a page of the course leads on to the next" has docs/course/banks.html 'next-page'
check "plots are in it" has docs/TUNING.html '_images/gemm-bf16.svg'
check "the search knows words of the pages" has searchindex.js '"swizzl'
check "nothing is loaded from elsewhere" needs_no_network

# A few of the repository's pages, one with a link to nowhere.
breaks() {
    mkdir -p "$work/root" "$work/build" && cd "$root" && cp -r --parents docs/site include tools scripts "$work/root" &&
        echo '# A page with [a link](NOWHERE.md)' >"$work/root/docs/STRIDES.md" &&
        ln -s "$build/venv" "$work/build/venv" || return 1
    GM_BUILD_DIR=$work/build "$work/root/scripts/docs.sh" >"$work/said" 2>&1 && return 1
    grep -F "cross-reference target not found: 'NOWHERE.md'" "$work/said"
}
check "a link to nowhere is an error" breaks
closing_line
