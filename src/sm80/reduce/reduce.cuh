/* SPDX-License-Identifier: Apache-2.0 */
/* Reductions of x [rows, columns]: along columns, along rows, and of all elements. One registry row per compilation;
 * reduce.cu of each architecture is the entry.
 *
 *   a chunk is VECTOR_BYTES of neighbouring elements, one load
 *   along columns, and of all    a line is what one result, or one part of all elements, is made of; p.group threads share
 *                                it, thread t of them has its chunks t, t + p.group, ...                      (lines.cuh)
 *   along rows                   p.group threads are side by side on one row, each with the columns of a chunk; others of
 *                                the CTA have other rows                                                     (strips.cuh)
 *   VECTORS loads of a thread are under way before the first is waited for
 *
 * Along rows, and of all, the elements are cut into p.parts parts, of a CTA each. A CTA leaves what it has found in its slot
 * of the workspace, and sets its flag; that of the last part puts them together, in their order (parts.cuh). Every order of
 * additions follows from the parameters, never from which CTA comes first. */
#ifndef GM_SM80_REDUCE_CUH
#define GM_SM80_REDUCE_CUH

#include "sm80/reduce/lines.cuh"
#include "sm80/reduce/strips.cuh"

static __device__ __forceinline__ void reduce(const struct gm_reduce_params &p) {
    const int rows = p.row_count ? max(0, min(p.rows, (int)ld_global_b32(p.row_count))) : p.rows;
    if (p.along == REDUCE_ROWS && p.keeps == REDUCE_PLACE)
        reduce_strips<true>(p, rows);
    else if (p.along == REDUCE_ROWS)
        reduce_strips<false>(p, rows);
    else if (p.keeps == REDUCE_PLACE)
        reduce_lines<true>(p, rows);
    else
        reduce_lines<false>(p, rows);
}

#endif
