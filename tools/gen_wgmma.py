#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes src/sm90/wgmma_shapes.cuh: one wgmma wrapper per N. `--check` compares instead of writing."""
import pathlib
import sys

HEAD = """/* SPDX-License-Identifier: Apache-2.0 */
/* wgmma.mma_async.m64nNk16 for every N, both operands in shared memory. Written by tools/gen_wgmma.py: edit that.
 * GM_PTX_TYPE comes from the registry, GM_M_SIDE_MN and GM_N_SIDE_MN (0 or 1) from the kernel's parameter block. [PTX
 * ISA, wgmma.mma_async] */
#ifndef GM_WGMMA_SHAPES_CUH
#define GM_WGMMA_SHAPES_CUH

#include "common/types.h"

/* d (+)= A B for 64 rows; d is overwritten when accumulate is 0. */
template <int N>
static __device__ __forceinline__ void wgmma_m64k16(float (&d)[N / 2], uint64_t a, uint64_t b, int accumulate);
"""


def wrapped(items, per_line, indent):
    lines = [", ".join(items[i:i + per_line]) for i in range(0, len(items), per_line)]
    return (",\n" + " " * indent).join(lines)


def shape(n):
    regs = n // 2
    names = [f"%{i}" for i in range(regs)]
    lines = [", ".join(names[i:i + 16]) for i in range(0, regs, 16)]
    text = ', "\n        "'.join(lines)
    outs = wrapped([f'"+f"(d[{i}])' for i in range(regs)], 8, 10)
    return f"""
template <>
__device__ __forceinline__ void wgmma_m64k16<{n}>(float (&d)[{regs}], uint64_t a, uint64_t b, int accumulate) {{
    asm volatile(
        "{{.reg .pred p; setp.ne.b32 p, %{regs + 2}, 0; "
        "wgmma.mma_async.sync.aligned.m64n{n}k16.f32." GM_QUOTE(GM_PTX_TYPE) "." GM_QUOTE(GM_PTX_TYPE) " {{"
        "{text}"
        "}}, %{regs}, %{regs + 1}, p, 1, 1, %{regs + 3}, %{regs + 4};}}"
        : {outs}
        : "l"(a), "l"(b), "r"(accumulate), "n"(GM_M_SIDE_MN), "n"(GM_N_SIDE_MN));
}}
"""


def main():
    path = pathlib.Path(__file__).resolve().parent.parent / "src/sm90/wgmma_shapes.cuh"
    text = HEAD + "".join(shape(n) for n in range(8, 257, 8)) + "\n#endif\n"
    if "--check" in sys.argv[1:]:
        if path.read_text() != text:
            sys.exit(f"{path.name} is not what tools/gen_wgmma.py writes: run it")
        return
    path.write_text(text)


main()
