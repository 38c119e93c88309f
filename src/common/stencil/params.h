/* SPDX-License-Identifier: Apache-2.0 */
/* Parameters of the kernels of stencil, and a CTA's shared memory, for host and device. */
#ifndef GM_STENCIL_PARAMS_H
#define GM_STENCIL_PARAMS_H

#include "common/divide.h"
#include "common/fixed_width.h"
#include "common/tensor_map.h"

#define GM_STENCIL_MOST 27 /* points */

/* A dimension of the grid, and the indices that what lies right before and behind it is read from. */
struct gm_stencil_side {
    int32_t extent, before, behind;
};
#define GM_STENCIL_NOWHERE (-1) /* index of what is 0 */

struct gm_stencil_params {
    struct gm_tensor_map map;                                         /* of x; where boxes are loaded */
    uint64_t x, out;                                                  /* addresses */
    int64_t x_pitch, x_plane, x_grid, out_pitch, out_plane, out_grid; /* bytes from row to row, plane, grid */
    struct gm_stencil_side columns, rows, planes;
    int32_t points;  /* 5, 9, 7, 27 */
    int32_t boxes;   /* 0: x is loaded by elements */
    int32_t vectors; /* 0: out is stored by elements */
    int32_t layer;   /* planes of out that a march makes */
    int32_t steps;   /* of a march, a plane of x each: layer + 2, of 5 and 9 points 1 */
    int32_t marches;
    struct gm_divisor column_tiles, row_tiles, layers; /* of marches */
    float coefficients[GM_STENCIL_MOST];
};

/* A tile is 128 columns, 4 neighbours for each lane, times `rows` for each warp. In shared memory a plane of it has a row and
 * whole 16 bytes more on each side: boxes begin on 16 bytes of a row. */
#define GM_STENCIL_COLUMNS                    4 /* of a thread */
#define GM_STENCIL_TILE_WIDTH                 (32 * GM_STENCIL_COLUMNS)
#define GM_STENCIL_TILE_HEIGHT(threads, rows) ((threads) / 32 * (rows))
#define GM_STENCIL_PITCH(bytes)               (GM_STENCIL_TILE_WIDTH + 2 * (16 / (bytes)))
#define GM_STENCIL_ROWS(threads, rows)        (GM_STENCIL_TILE_HEIGHT(threads, rows) + 2)
#define GM_STENCIL_STAGE_BYTES(bytes, threads, rows)                                                                   \
    (GM_CEIL_DIV((bytes) * GM_STENCIL_PITCH(bytes) * GM_STENCIL_ROWS(threads, rows), 128) * 128)

/* Planes in shared memory. Of boxes all but one are under way while that one is computed: 55 KB of a CTA in fp32, 49 in 16
 * bits. Two where planes come through registers: one is written while others read the one before it. */
#define GM_STENCIL_STAGES(is_sm90, bytes) ((is_sm90) ? (bytes) == 4 ? 4 : 6 : 2)
#define GM_STENCIL_FIRST_STAGE            128 /* behind the barriers */
#define GM_STENCIL_SMEM(is_sm90, bytes, threads, rows)                                                                 \
    (GM_STENCIL_FIRST_STAGE + GM_STENCIL_STAGES(is_sm90, bytes) * GM_STENCIL_STAGE_BYTES(bytes, threads, rows))

/* CTAs on an SM that registers leave room for. */
#define GM_STENCIL_CTAS 2

#ifndef __CUDACC__
_Static_assert(sizeof(struct gm_stencil_params) == 512, "host and device agree");
#endif

#endif
