#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The sources as .clang-format has them, by one version of clang-format for everybody (from PyPI, into build/).
#
#   scripts/format.sh            rewrites what differs
#   scripts/format.sh --check    names the lines that differ; the last line is "N passed, N failed, N skipped", of files
set -u
cd "$(dirname "$0")/.." || exit 1
source scripts/setup.sh
clang_format_wheels=(clang-format==19.1.7)
generated=':!src/sm90/wgmma_shapes.cuh' # by tools/gen_wgmma.py

[ $# -eq 0 ] || [ "$*" = --check ] || die "usage: scripts/format.sh [--check]"
wheels "${clang_format_wheels[@]}"
mapfile -t files < <(git ls-files -- '*.c' '*.h' '*.cu' '*.cuh' "$generated")
[ ${#files[@]} -gt 0 ] || { echo "no git checkout: no list of files"; exit 77; }
if [ $# -eq 0 ]; then
    exec "$venv/bin/clang-format" -i "${files[@]}"
fi
failed=0
for file in "${files[@]}"; do
    "$venv/bin/clang-format" "$file" | diff -u --label "$file" --label "$file, formatted" "$file" - || failed=$((failed + 1))
done
echo "$((${#files[@]} - failed)) passed, $failed failed, 0 skipped"
[ $failed -eq 0 ]
