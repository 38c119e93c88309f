/* SPDX-License-Identifier: Apache-2.0 */
/* gristmill/stencil.h: a step of a linear stencil over grids of two and three dimensions. gristmill/core.h has what all
 * operations share. */
#ifndef GRISTMILL_STENCIL_H
#define GRISTMILL_STENCIL_H

#include "gristmill/convolution.h" /* what x is beyond its edges */

#ifdef __cplusplus
extern "C" {
#endif

/* The taps of a point: itself, and its neighbours along the axes, or all around it. */
enum gm_stencil_shape {
    GM_STENCIL_STAR_5 = 0, /* two dimensions: planes are independent of each other */
    GM_STENCIL_BOX_9 = 1,
    GM_STENCIL_STAR_7 = 2, /* three */
    GM_STENCIL_BOX_27 = 3
};

/*  out[grid, z, y, x] = sum over the taps (dz, dy, dx) of the shape of
 *                       coefficients[tap] * x[grid, z + dz, y + dy, x + dx]
 *
 *  x, out        x[grid * x_grid_stride + z * x_plane_stride + y * x_row_stride + x]
 *  coefficients  one for each tap, in the order of the sum; they are copied when the call is planned. Finite. Those behind
 *                the last tap are not looked at
 *
 *  The order of taps: dz = -1, 0, 1, for each of them dy = -1, 0, 1, and for each of these dx = -1, 0, 1, as far as the
 *  shape has them. Of 7: the points at z - 1, y - 1, x - 1, the point itself, x + 1, y + 1, z + 1. Of 5 the same without z.
 *
 *  A sum begins with +0, and each product and its sum are rounded as one (fmaf), in fp32. The order is the same for all
 *  extents, edges and variants. Points beyond the edge take part like others: a coefficient of 0 makes NaN of an infinity.
 *  out is rounded once.
 *
 *  Strides are in elements; 0 means packed. out may not overlap with x. Extents of 0 launch nothing. x and out may exceed
 *  2^31 elements and 4 GiB. */
struct gm_stencil_problem {
    size_t size;
    int64_t width, height, depth; /* of a grid in x, y, z, 0 to 2^30; depth is 1 of a single plane */
    int64_t grids;                /* 0 to 2^30 */
    int64_t x_row_stride, x_plane_stride, x_grid_stride;       /* elements; 0: packed */
    int64_t out_row_stride, out_plane_stride, out_grid_stride; /* elements; 0: packed */
    enum gm_type type;                                         /* of x and out: GM_BF16, GM_FP16, GM_FP32 */
    enum gm_stencil_shape shape;
    enum gm_convolution_edge edge; /* of x, y and z */
    /* Alignment in bytes that the caller promises of the pointers at execute: 16 (or 0), 8, 4, 2. What is aligned to less
     * than 16, and strides that are no multiple of 16 bytes, take longer. */
    int32_t x_align, out_align;
    float coefficients[27];
};

struct gm_stencil_args {
    size_t size;
    gm_device_ptr x;
    gm_device_ptr out;
};

/* Chooses a kernel and loads it if this context has not yet. `options` may be NULL; GM_PLAN_CONSTANT_B has no effect. */
GM_API enum gm_status gm_stencil_plan_create(gm_context *context, const struct gm_stencil_problem *problem,
                                             const struct gm_plan_options *options, gm_plan **plan);
/* Launches on `stream` (of the context's device), as gm_gemm_execute() does. Any thread; no current context is needed. */
GM_API enum gm_status gm_stencil_execute(const gm_plan *plan, const struct gm_stencil_args *args, void *stream);
/* Plan, execute, destroy, in one call; for trying things out. Not for a hot loop. */
GM_API enum gm_status gm_stencil(gm_context *context, const struct gm_stencil_problem *problem,
                                 const struct gm_stencil_args *args, void *stream);
/* A candidate for every kernel of this operation, as gm_gemm_explain() of GEMM. Pure: no driver call. */
GM_API enum gm_status gm_stencil_explain(const struct gm_device *device, const struct gm_stencil_problem *problem,
                                         const struct gm_plan_options *options, struct gm_candidate *candidates,
                                         size_t capacity, size_t *count);

#ifdef __cplusplus
}
#endif
#endif
