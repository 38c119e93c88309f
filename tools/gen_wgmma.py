#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes src/sm90/wgmma_shapes.cuh, wgmma_s8_shapes.cuh, wgmma_rs_shapes.cuh, wgmma_tf32_rs_shapes.cuh and wgmma_fp8_shapes.cuh: one wgmma wrapper per N. `--check` compares instead of writing."""
import pathlib
import sys

HEAD = """/* SPDX-License-Identifier: Apache-2.0 */
/* wgmma.mma_async.m64nN for every N, 32 bytes of K, both operands in shared memory. Written by tools/gen_wgmma.py: edit
 * that. GM_PTX_TYPE comes from the registry, GM_M_SIDE_MN and GM_N_SIDE_MN (0 or 1) from the kernel's parameter block; only
 * operands of 16 bits may be MN-major. Beside an M side of e5m2 the N side is e4m3. [PTX ISA, wgmma.mma_async] */
#ifndef GM_WGMMA_SHAPES_CUH
#define GM_WGMMA_SHAPES_CUH

#include "common/types.h"

/* Elements of 32 bytes, as the instruction's name has them, and its operands that say which is MN-major. */
#define GM_WGMMA_K_bf16            "k16"
#define GM_WGMMA_K_f16             "k16"
#define GM_WGMMA_K_tf32            "k8"
#define GM_WGMMA_K_e4m3            "k32"
#define GM_WGMMA_K_e5m2            "k32"
#define GM_WGMMA_K_s8              "k32" /* for wgmma_s8_shapes.cuh to stand beside this */
#define GM_WGMMA_MAJORS_bf16(m, n) ", " m ", " n
#define GM_WGMMA_MAJORS_f16(m, n)  ", " m ", " n
#define GM_WGMMA_MAJORS_tf32(m, n) ""
#define GM_WGMMA_MAJORS_e4m3(m, n) ""
#define GM_WGMMA_MAJORS_e5m2(m, n) ""
#define GM_WGMMA_MAJORS_s8(m, n)   ""
#define GM_WGMMA_SIDES_bf16        "bf16.bf16" /* types of the M and N side */
#define GM_WGMMA_SIDES_f16         "f16.f16"
#define GM_WGMMA_SIDES_tf32        "tf32.tf32"
#define GM_WGMMA_SIDES_e4m3        "e4m3.e4m3"
#define GM_WGMMA_SIDES_e5m2        "e5m2.e4m3"
#define GM_WGMMA_SIDES_s8          "s8.s8"
#define GM_WGMMA_K                 GM_PASTE(GM_WGMMA_K_, GM_PTX_TYPE)
#define GM_WGMMA_MAJORS            GM_PASTE(GM_WGMMA_MAJORS_, GM_PTX_TYPE)
#define GM_WGMMA_SIDES             GM_PASTE(GM_WGMMA_SIDES_, GM_PTX_TYPE)

/* d (+)= A B for 64 rows; d is overwritten when accumulate is 0. */
template <int N>
static __device__ __forceinline__ void wgmma_m64(float (&d)[N / 2], uint64_t a, uint64_t b, int accumulate);
"""

S8_HEAD = """/* SPDX-License-Identifier: Apache-2.0 */
/* wgmma.mma_async.m64nNk32 of int8, both operands K-major in shared memory, for every N that it has. Written by
 * tools/gen_wgmma.py: edit that. [PTX ISA, wgmma.mma_async] */
#ifndef GM_WGMMA_S8_SHAPES_CUH
#define GM_WGMMA_S8_SHAPES_CUH

#include <stdint.h>

/* d (+)= A B for 64 rows; d is overwritten when accumulate is 0. */
template <int N>
static __device__ __forceinline__ void wgmma_m64(int32_t (&d)[N / 2], uint64_t a, uint64_t b, int accumulate);
"""

RS_HEAD = """/* SPDX-License-Identifier: Apache-2.0 */
/* wgmma.mma_async.m64nNk16 with A in registers and an MN-major B in shared memory, for the N of attention's heads. Written
 * by tools/gen_wgmma.py: edit that. GM_PTX_TYPE comes from the registry. [PTX ISA, wgmma.mma_async] */
#ifndef GM_WGMMA_RS_SHAPES_CUH
#define GM_WGMMA_RS_SHAPES_CUH

#include "common/types.h"

/* d += A B for 64 rows; a: words of two elements, rows r and r + 8 of columns 0..7, then of 8..15. */
template <int N>
static __device__ __forceinline__ void wgmma_m64k16_rs(float (&d)[N / 2], uint32_t a0, uint32_t a1, uint32_t a2,
                                                       uint32_t a3, uint64_t b);
"""

TF32_RS_HEAD = """/* SPDX-License-Identifier: Apache-2.0 */
/* wgmma.mma_async.m64nNk8 of tf32 with A in registers and a K-major B in shared memory, for the N of GEMM's
 * tiles. Written by tools/gen_wgmma.py: edit that. [PTX ISA, wgmma.mma_async] */
#ifndef GM_WGMMA_TF32_RS_SHAPES_CUH
#define GM_WGMMA_TF32_RS_SHAPES_CUH

#include <stdint.h>

/* d (+)= A B for 64 rows; d is overwritten when accumulate is 0. a: one element each, rows r and r + 8 of column c, then of
 * column c + 4, where r is lane / 4 and c is lane % 4. */
template <int N>
static __device__ __forceinline__ void wgmma_m64k8_rs(float (&d)[N / 2], const uint32_t (&a)[4], uint64_t b,
                                                      int accumulate);
"""

FP8_HEAD = """/* SPDX-License-Identifier: Apache-2.0 */
/* wgmma.mma_async.m64nNk32 of 8-bit floats, for the N of attention's heads and blocks. Both operands are K-major: there is no
 * other way. Written by tools/gen_wgmma.py: edit that. GM_PTX_TYPE comes from the registry. [PTX ISA, wgmma.mma_async] */
#ifndef GM_WGMMA_FP8_SHAPES_CUH
#define GM_WGMMA_FP8_SHAPES_CUH

#include "common/types.h"

/* d (+)= A B for 64 rows; d is overwritten when accumulate is 0. */
template <int N>
static __device__ __forceinline__ void wgmma_m64k32(float (&d)[N / 2], uint64_t a, uint64_t b, int accumulate);

/* The same with A in registers; a: words of four elements, rows r and r + 8 of columns 0..15, then of 16..31. */
template <int N>
static __device__ __forceinline__ void wgmma_m64k32_rs(float (&d)[N / 2], uint32_t a0, uint32_t a1, uint32_t a2,
                                                       uint32_t a3, uint64_t b, int accumulate);
"""


def wrapped(items, per_line, indent):
    lines = [", ".join(items[i:i + per_line]) for i in range(0, len(items), per_line)]
    return (",\n" + " " * indent).join(lines)


def accumulators(n, kind="f"):
    """How many a thread has, their places in the instruction, and the operands."""
    regs = n // 2
    names = [f"%{i}" for i in range(regs)]
    lines = [", ".join(names[i:i + 16]) for i in range(0, regs, 16)]
    text = ', "\n        "'.join(lines)
    return regs, text, wrapped([f'"+{kind}"(d[{i}])' for i in range(regs)], 8, 10)


def shape(n):
    regs, text, outs = accumulators(n)
    return f"""
template <>
__device__ __forceinline__ void wgmma_m64<{n}>(float (&d)[{regs}], uint64_t a, uint64_t b, int accumulate) {{
    asm volatile(
        "{{.reg .pred p; setp.ne.b32 p, %{regs + 2}, 0; "
        "wgmma.mma_async.sync.aligned.m64n{n}" GM_WGMMA_K ".f32." GM_WGMMA_SIDES " {{"
        "{text}"
        "}}, %{regs}, %{regs + 1}, p, 1, 1" GM_WGMMA_MAJORS("%{regs + 3}", "%{regs + 4}") ";}}"
        : {outs}
        : "l"(a), "l"(b), "r"(accumulate), "n"(GM_M_SIDE_MN), "n"(GM_N_SIDE_MN));
}}
"""


def s8_shape(n):
    regs, text, outs = accumulators(n, "r")
    return f"""
template <>
__device__ __forceinline__ void wgmma_m64<{n}>(int32_t (&d)[{regs}], uint64_t a, uint64_t b, int accumulate) {{
    asm volatile(
        "{{.reg .pred p; setp.ne.b32 p, %{regs + 2}, 0; "
        "wgmma.mma_async.sync.aligned.m64n{n}k32.s32.s8.s8 {{"
        "{text}"
        "}}, %{regs}, %{regs + 1}, p;}}"
        : {outs}
        : "l"(a), "l"(b), "r"(accumulate));
}}
"""


def rs_shape(n):
    regs, text, outs = accumulators(n)
    return f"""
template <>
__device__ __forceinline__ void wgmma_m64k16_rs<{n}>(float (&d)[{regs}], uint32_t a0, uint32_t a1, uint32_t a2,
                                                    uint32_t a3, uint64_t b) {{
    asm volatile(
        "wgmma.mma_async.sync.aligned.m64n{n}k16.f32." GM_QUOTE(GM_PTX_TYPE) "." GM_QUOTE(GM_PTX_TYPE) " {{"
        "{text}"
        "}}, {{%{regs}, %{regs + 1}, %{regs + 2}, %{regs + 3}}}, %{regs + 4}, 1, 1, 1, 1;"
        : {outs}
        : "r"(a0), "r"(a1), "r"(a2), "r"(a3), "l"(b));
}}
"""


def tf32_rs_shape(n):
    regs, text, outs = accumulators(n)
    return f"""
template <>
__device__ __forceinline__ void wgmma_m64k8_rs<{n}>(float (&d)[{regs}], const uint32_t (&a)[4], uint64_t b,
                                                   int accumulate) {{
    asm volatile(
        "{{.reg .pred p; setp.ne.b32 p, %{regs + 5}, 0; "
        "wgmma.mma_async.sync.aligned.m64n{n}k8.f32.tf32.tf32 {{"
        "{text}"
        "}}, {{%{regs}, %{regs + 1}, %{regs + 2}, %{regs + 3}}}, %{regs + 4}, p, 1, 1;}}"
        : {outs}
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b), "r"(accumulate));
}}
"""


def fp8_shape(n):
    regs, text, outs = accumulators(n)
    name = f'"wgmma.mma_async.sync.aligned.m64n{n}k32.f32." GM_QUOTE(GM_PTX_TYPE) "." GM_QUOTE(GM_PTX_TYPE) " {{"'
    return f"""
template <>
__device__ __forceinline__ void wgmma_m64k32<{n}>(float (&d)[{regs}], uint64_t a, uint64_t b, int accumulate) {{
    asm volatile(
        "{{.reg .pred p; setp.ne.b32 p, %{regs + 2}, 0; "
        {name}
        "{text}"
        "}}, %{regs}, %{regs + 1}, p, 1, 1;}}"
        : {outs}
        : "l"(a), "l"(b), "r"(accumulate));
}}

template <>
__device__ __forceinline__ void wgmma_m64k32_rs<{n}>(float (&d)[{regs}], uint32_t a0, uint32_t a1, uint32_t a2,
                                                     uint32_t a3, uint64_t b, int accumulate) {{
    asm volatile(
        "{{.reg .pred p; setp.ne.b32 p, %{regs + 5}, 0; "
        {name}
        "{text}"
        "}}, {{%{regs}, %{regs + 1}, %{regs + 2}, %{regs + 3}}}, %{regs + 4}, p, 1, 1;}}"
        : {outs}
        : "r"(a0), "r"(a1), "r"(a2), "r"(a3), "l"(b), "r"(accumulate));
}}
"""


def main():
    folder = pathlib.Path(__file__).resolve().parent.parent / "src/sm90"
    texts = {
        folder / "wgmma_shapes.cuh": HEAD + "".join(shape(n) for n in range(8, 257, 8)) + "\n#endif\n",
        folder / "wgmma_s8_shapes.cuh": S8_HEAD + "".join(s8_shape(n) for n in sorted([8, 24, *range(16, 257, 16)])) + "\n#endif\n",
        folder / "wgmma_rs_shapes.cuh": RS_HEAD + "".join(rs_shape(n) for n in (64, 128, 256)) + "\n#endif\n",
        folder / "wgmma_tf32_rs_shapes.cuh": TF32_RS_HEAD + "".join(tf32_rs_shape(n) for n in (16, 32, 64, 128)) + "\n#endif\n",
        folder / "wgmma_fp8_shapes.cuh": FP8_HEAD + "".join(fp8_shape(n) for n in (64, 96, 128)) + "\n#endif\n",
    }
    for path, text in texts.items():
        if "--check" not in sys.argv[1:]:
            path.write_text(text)
        elif path.read_text() != text:
            sys.exit(f"{path.name} is not what tools/gen_wgmma.py writes: run it")


main()
