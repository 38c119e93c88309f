#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Compares our declarations of the driver's ABI with one toolkit's cuda.h, as the unit test does with the toolkit that
# built it.
#
#   cuda_header_check.sh INCLUDE_DIR
set -eu
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

cat >"$work/main.c" <<'EOT'
#include "abi.h"
#include <stdio.h>
int main(void) {
    size_t bad = cuda_fact_count != our_fact_count || cuda_fact_count == 0;
    for (size_t i = 0; i < cuda_fact_count && i < our_fact_count; i++) {
        int same = our_facts[i].value == cuda_facts[i].value;
        bad += !same;
        if (!same)
            printf("%s: %lld here, %lld in cuda.h\n", our_facts[i].what, our_facts[i].value, cuda_facts[i].value);
    }
    printf("%zu facts compared\n", cuda_fact_count);
    return bad != 0;
}
EOT
echo '#include <cuda.h>
CUDA_VERSION' | cc -E -I"$1" - | tail -n 1 | sed 's/^/CUDA_VERSION /'
cc -std=c11 -D_GNU_SOURCE -Wall -Wextra -Werror -I"$root/include" -I"$root/src" \
    -I"$root/tests/unit" -isystem "$1" -o "$work/check" "$work/main.c" "$root"/tests/unit/abi_{ours,cuda}.c
"$work/check"
