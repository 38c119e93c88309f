#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Makes a site of the documentation: the course, the guides, the C interface from the headers, with a search that needs no
# server. Broken links and pages that nothing leads to are errors. Its first page is the last line.
#
#   scripts/docs.sh            into build/docs/html; GM_BUILD_DIR=<dir>: into <dir>/docs/html
set -uo pipefail
# shellcheck source=scripts/setup.sh
source "$(dirname "${BASH_SOURCE[0]}")/setup.sh"
cd "$root" || exit 1

need python3 venv
python3 -c 'import sys; sys.exit(sys.version_info < (3, 10))' || die "the site is made with Python 3.10 or newer"
wheels "${docs_wheels[@]}"

source=$build/docs/source html=$build/docs/html
rm -rf "$source" "$html"
mkdir -p "$source"
# Pages where they are in the repository, so that links between them hold; and what they show or lead to.
mapfile -t linked < <(git ls-files -co --exclude-standard -- '*.md' '*.svg' docs include 2>/dev/null ||
    find docs include -type f -o -name build -prune -o -name '*.md' -o -name '*.svg')
cp --parents "${linked[@]}" "$source"
mv "$source/docs/site/conf.py" "$source/docs/site/index.md" "$source" || die "docs/site is incomplete"
python3 tools/api_reference.py "$source/api" || die "the headers could not be read"
"$venv/bin/python" -m sphinx -q -W --keep-going -j auto -b html "$source" "$html" || die "the site could not be made"
printf '%s\n' "$html/index.html"
