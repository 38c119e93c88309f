/* SPDX-License-Identifier: Apache-2.0 */
/* Parameters of the GLU kernels, for host and device. */
#ifndef GM_GLU_PARAMS_H
#define GM_GLU_PARAMS_H

#include "common/divide.h"
#include "common/fixed_width.h"
#include "common/quantized_store.h"

/* Values of enum gm_glu_layout. */
enum { GLU_APART = 0, GLU_INTERLEAVED = 1, GLU_NO_UP = 2 };

struct gm_glu_params {
    uint64_t gate, up, out, row_count;       /* addresses */
    int64_t gate_pitch, up_pitch, out_pitch; /* bytes from one row to the next */
    int32_t rows, columns;                   /* of out */
    int32_t is_packed;                       /* nothing is between rows: they are one row, cut into slabs */
    int32_t slab_rows;                       /* rows whose chunks are numbered with 31 bits */
    struct gm_divisor row_chunks;            /* chunks of a row of out, or of a slab */
    int32_t layout, activation, rounds_early, has_limit;
    float limit, silu_exponent, up_offset;
};

/* Of variants with any out. A chunk is GLU_ANY_CHUNK elements of every type, no operands are packed, and row_chunks are tiles of
 * a row that CTAs take, 1 where a row shares a scale. */
struct gm_glu_any_params {
    struct gm_glu_params glu;
    struct gm_quantized_store store; /* out's type, and scales where it has 8 bits */
    int32_t vectors;                 /* chunks of a thread, of those that it has room for */
    int32_t row_tiles;               /* of a row: parts that a CTA takes at a time */
    int32_t is_wide;                 /* rows are loaded and stored by whole chunks; else element by element */
    int32_t rounds_out;              /* out is rounded to the type before it becomes its own */
    int32_t column_bytes; /* of gate and of up, for a column of out: of pairs, `up` is the second chunk of them */
    int32_t out_bytes;    /* of an element of out */
};
enum { GLU_ANY_CHUNK = 8 };
#define GM_GLU_ANY_SMEM_BYTES (2 * 32 * 4) /* a word of each warp, of two maxima by turns */

#define GM_GLU_SLAB_CHUNKS (1 << 30) /* of packed operands */

/* CTAs on an SM: 64 KB and more of gate and up are under way on it, as their registers allow. */
#define GM_GLU_CTAS(threads, vectors) (((vectors) > 1 ? 1024 : 2048) / (threads))

#ifndef __CUDACC__
_Static_assert(sizeof(struct gm_glu_params) == 112, "host and device agree");
_Static_assert(sizeof(struct gm_glu_any_params) == 192, "host and device agree");
#endif

#endif
