/* SPDX-License-Identifier: Apache-2.0 */
/* Parameters of the kernels of convolution, and a CTA's shared memory, for host and device. */
#ifndef GM_CONVOLUTION_PARAMS_H
#define GM_CONVOLUTION_PARAMS_H

#include "common/divide.h"
#include "common/fixed_width.h"
#include "common/tensor_map.h"

struct gm_convolution_params {
    struct gm_tensor_map map;                       /* of x as columns, rows, planes; where boxes are loaded */
    uint64_t x, filter, filter_y, out;              /* addresses */
    int64_t x_pitch, x_plane, out_pitch, out_plane; /* bytes from row to row, and from plane to plane */
    int32_t width, height, filter_width, filter_height;
    int32_t origin_x, origin_y; /* columns and rows of a tile of x ahead of that of out, */
    int32_t lead; /* of which so many columns are ahead of the first tap: boxes begin on 16 bytes of a row */
    int32_t edge, separable;
    int32_t pitch;       /* elements from row to row of a tile in shared memory */
    int32_t stage_bytes; /* of a tile in shared memory */
    int32_t boxes;       /* 0: every tile is loaded by elements */
    int32_t vectors;     /* 0: out is stored by elements */
    int32_t tiles;
    struct gm_divisor column_tiles, row_tiles;
};

/* enum gm_convolution_edge */
#define GM_CONVOLUTION_EDGE_zero  0
#define GM_CONVOLUTION_EDGE_clamp 1
#define GM_CONVOLUTION_EDGE_wrap  2

/* A tile of out is 128 columns, 4 neighbours for each lane, times `rows` for each warp. */
#define GM_CONVOLUTION_MOST                       31 /* elements of a filter's row, and of its column */
#define GM_CONVOLUTION_COLUMNS                    4  /* of a thread */
#define GM_CONVOLUTION_TILE_WIDTH                 (32 * GM_CONVOLUTION_COLUMNS)
#define GM_CONVOLUTION_TILE_HEIGHT(threads, rows) ((threads) / 32 * (rows))

/* Shared memory: the filter's rows, 32 floats each; a barrier of each stage; the stages, each a tile of x with its halo. A
 * row of it begins with the lead and goes on to the last whole 8 taps, which are read together, 4 elements at a time. */
#define GM_CONVOLUTION_FILTER_PITCH 32 /* floats */
#define GM_CONVOLUTION_BARRIERS     (GM_CONVOLUTION_FILTER_PITCH * 4 * GM_CONVOLUTION_MOST)
#define GM_CONVOLUTION_FIRST_STAGE  (GM_CONVOLUTION_BARRIERS + 128)
#define GM_CONVOLUTION_PITCH(bytes, filter_width)                                                                      \
    (GM_CONVOLUTION_TILE_WIDTH + GM_CEIL_DIV(filter_width, 8) * 8 + 16 / (bytes))
#define GM_CONVOLUTION_STAGE_BYTES(bytes, threads, rows, filter_width, filter_height)                                  \
    (GM_CEIL_DIV((bytes) * GM_CONVOLUTION_PITCH(bytes, filter_width) *                                                 \
                     (GM_CONVOLUTION_TILE_HEIGHT(threads, rows) + (filter_height) - 1),                                \
                 128) *                                                                                                \
     128)

/* CTAs on an SM that registers leave room for. */
#define GM_CONVOLUTION_CTAS(rows) ((rows) > 4 ? 5 : 8)

#ifndef __CUDACC__
_Static_assert(sizeof(struct gm_convolution_params) == 384, "host and device agree");
#endif

#endif
