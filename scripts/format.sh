#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The sources as .clang-format has them, but for those in .clang-format-ignore, by one version of clang-format for
# everybody (from PyPI, into build/).
#
#   scripts/format.sh            rewrites what differs
#   scripts/format.sh --check    says where lines differ; the last line is "N passed, N failed, N skipped", of files
set -u
cd "$(dirname "$0")/.." || exit 1
# shellcheck source=scripts/setup.sh
source scripts/setup.sh

[ $# -eq 0 ] || [ "$*" = --check ] || die "usage: scripts/format.sh [--check]"
mapfile -t files < <(git ls-files -- '*.c' '*.h' '*.cpp' '*.cu' '*.cuh' 2>/dev/null)
[ ${#files[@]} -gt 0 ] || { echo "no git checkout: no list of files"; exit 77; }
wheels clang-format==19.1.7
if [ $# -eq 0 ]; then
    exec "$venv/bin/clang-format" -i "${files[@]}"
fi
failed=$(printf '%s\0' "${files[@]}" |
    xargs -0 -n 20 -P "$jobs" "$venv/bin/clang-format" --dry-run 2>&1 | tee /dev/stderr |
    sed -nE 's/^([^:]+):[0-9]+:[0-9]+: warning: .*/\1/p' | sort -u | wc -l)
echo "$((${#files[@]} - failed)) passed, $failed failed, 0 skipped"
[ "$failed" -eq 0 ]
