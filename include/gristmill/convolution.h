/* SPDX-License-Identifier: Apache-2.0 */
/* gristmill/convolution.h: a filter over signals and images. gristmill/core.h has what all operations share. */
#ifndef GRISTMILL_CONVOLUTION_H
#define GRISTMILL_CONVOLUTION_H

#include "gristmill/core.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What x is beyond its first and last column, and row. */
enum gm_convolution_edge {
    GM_CONVOLUTION_ZERO = 0,
    GM_CONVOLUTION_CLAMP = 1, /* the nearest element */
    GM_CONVOLUTION_WRAP = 2   /* x again, as often as it takes */
};

/*  out[plane, y, x] = sum over i < filter_height, j < filter_width of
 *                     filter[i, j] * x[plane, y + i - anchor_y, x + j - anchor_x]
 *
 *  x, out    x[plane * x_plane_stride + y * x_row_stride + x]: one channel, or planes that are independent of each other
 *  filter    filter[i * filter_width + j], float: not turned around, as in torch's convolutions (a correlation)
 *  anchor_x  filter_width / 2 + shift_x, an element of the filter's row, and anchor_y alike: by default the middle one, of an
 *            even number the one right of it. The last one makes a causal filter
 *
 *  A filter_height of 1 leaves rows independent: signals. `separable` filters are filter_y[i] * filter[j], with filter_width
 *  elements of `filter` along x. They are not multiplied: a row is summed up along x, to a float that goes to no memory, and
 *  these are summed up along y.
 *
 *  A sum begins with +0, and each product and its sum are rounded as one (fmaf), in fp32: i = 0, 1, ... and for each i
 *  j = 0, 1, ...; of a separable filter the sum over j for each i, then that over i. The order is the same for all extents,
 *  edges and variants. Elements beyond the edge take part like others: an infinity of the filter times their 0 is NaN. out
 *  is rounded once.
 *
 *  Strides are in elements; 0 means packed. out may not overlap with anything that is read. Extents of 0 launch nothing. x
 *  and out may exceed 2^31 elements and 4 GiB. */
struct gm_convolution_problem {
    size_t size;
    int64_t width, height, planes;                                          /* of x and out, 0 to 2^30 */
    int64_t filter_width, filter_height;                                    /* 1 to 31 */
    int64_t shift_x, shift_y;                                               /* of the anchor from the middle */
    int64_t x_row_stride, x_plane_stride, out_row_stride, out_plane_stride; /* elements; 0: packed */
    enum gm_type type; /* of x and out: GM_BF16, GM_FP16, GM_FP32 */
    enum gm_convolution_edge edge;
    int32_t separable; /* 0 or 1 */
    /* Alignment in bytes that the caller promises of the pointers at execute: 16 (or 0), 8, 4, 2. What is aligned to less
     * than 16, and strides that are no multiple of 16 bytes, take longer. */
    int32_t x_align, out_align;
};

struct gm_convolution_args {
    size_t size;
    gm_device_ptr x, filter;
    gm_device_ptr filter_y; /* of separable filters; else not looked at */
    gm_device_ptr out;
};

/* Chooses a kernel and loads it if this context has not yet. `options` may be NULL; GM_PLAN_CONSTANT_B has no effect. */
GM_API enum gm_status gm_convolution_plan_create(gm_context *context, const struct gm_convolution_problem *problem,
                                                 const struct gm_plan_options *options, gm_plan **plan);
/* Launches on `stream` (of the context's device), as gm_gemm_execute() does. Any thread; no current context is needed. The
 * filter is read when the kernel runs. */
GM_API enum gm_status gm_convolution_execute(const gm_plan *plan, const struct gm_convolution_args *args, void *stream);
/* Plan, execute, destroy, in one call; for trying things out. Not for a hot loop. */
GM_API enum gm_status gm_convolution(gm_context *context, const struct gm_convolution_problem *problem,
                                     const struct gm_convolution_args *args, void *stream);
/* A candidate for every kernel of this operation, as gm_gemm_explain() of GEMM. Pure: no driver call. */
GM_API enum gm_status gm_convolution_explain(const struct gm_device *device,
                                             const struct gm_convolution_problem *problem,
                                             const struct gm_plan_options *options, struct gm_candidate *candidates,
                                             size_t capacity, size_t *count);

#ifdef __cplusplus
}
#endif
#endif
