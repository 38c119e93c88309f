/* SPDX-License-Identifier: Apache-2.0 */
/* convolution of any variant on the CPU, from the same parameter struct that the GPU kernel gets, and the planted bugs. */
#include <math.h>

#include "common/convolution/params.h"
#include "convolution/convolution_tests.h"

struct job {
    const struct gm_convolution_params *p;
    enum gm_type type;
    int64_t bytes;
};

static float load(enum gm_type type, uint64_t base, int64_t at) {
    return (float)bits_to_double(type, load_bits((const uint8_t *)(uintptr_t)(base + (uint64_t)at), type));
}

/* -1: nowhere. */
static int from(int i, int extent, int edge) {
    if (i >= 0 && i < extent)
        return i;
    if (planted_bug == CONVOLUTION_BUG_CLAMP || edge == GM_CONVOLUTION_CLAMP)
        return i < 0 ? 0 : extent - 1;
    if (edge == GM_CONVOLUTION_ZERO)
        return -1;
    if (planted_bug == CONVOLUTION_BUG_ONE_PERIOD)
        return from(i < 0 ? i + extent : i - extent, extent, GM_CONVOLUTION_CLAMP);
    return (i % extent + extent) % extent;
}

static float element(const struct job *job, int plane, int y, int x) {
    const struct gm_convolution_params *p = job->p;
    const int row = from(y, p->height, p->edge), column = from(x, p->width, p->edge);
    if (row < 0 || column < 0)
        return 0;
    const int64_t from_plane = planted_bug == CONVOLUTION_BUG_PLANE ? 0 : plane;
    return load(job->type, p->x, from_plane * p->x_plane + row * p->x_pitch + column * job->bytes);
}

static float tap(const struct job *job, int i, int j) {
    const struct gm_convolution_params *p = job->p;
    const int is_turned = planted_bug == CONVOLUTION_BUG_TURNED, rows = p->separable ? 1 : p->filter_height;
    const int row = is_turned ? rows - 1 - i : i, column = is_turned ? p->filter_width - 1 - j : j;
    return load(GM_FP32, p->filter, 4 * ((int64_t)row * p->filter_width + column));
}

static float add(float factor, float value, float sum) {
    const volatile float product = factor * value;
    return planted_bug == CONVOLUTION_BUG_PRODUCT ? product + sum : fmaf(factor, value, sum);
}

/* The sum of a row of the filter on top of `sum`; `x`, `y`: of its first tap. */
static float add_row(const struct job *job, int i, int plane, int y, int x, float sum) {
    const int taps = job->p->filter_width - (planted_bug == CONVOLUTION_BUG_LOST_TAP);
    for (int j = 0; j < taps; j++)
        sum = add(tap(job, job->p->separable ? 0 : i, j), element(job, plane, y, x + j), sum);
    return sum;
}

static float compute(const struct job *job, int plane, int y, int x) {
    const struct gm_convolution_params *p = job->p;
    const int shift = planted_bug == CONVOLUTION_BUG_ANCHOR && p->filter_width % 2 == 0;
    const int first_x = x - p->origin_x + p->lead + shift, first_y = y - p->origin_y;
    float sum = 0;
    for (int n = 0; n < p->filter_height; n++) {
        const int i = planted_bug == CONVOLUTION_BUG_ORDER ? p->filter_height - 1 - n : n;
        if (!p->separable) {
            sum = add_row(job, i, plane, first_y + i, first_x, sum);
            continue;
        }
        float along_x = add_row(job, i, plane, first_y + i, first_x, 0);
        if (planted_bug == CONVOLUTION_BUG_EARLY)
            along_x = (float)round_to(job->type, (double)along_x);
        sum = add(load(GM_FP32, p->filter_y, 4 * i), along_x, sum);
    }
    return sum;
}

static void compute_row(const struct job *job, int plane, int y) {
    const struct gm_convolution_params *p = job->p;
    const int written =
        p->width + (planted_bug == CONVOLUTION_BUG_COLUMN_AFTER) - (planted_bug == CONVOLUTION_BUG_LOST_TAIL);
    for (int x = 0; x < written; x++) {
        const uint64_t at = p->out + (uint64_t)(plane * p->out_plane + y * p->out_pitch + x * job->bytes);
        const double value = x < p->width ? (double)compute(job, plane, y, x) : 1;
        store_bits((uint8_t *)(uintptr_t)at, job->type, double_to_bits(job->type, value));
    }
}

void compute_convolution(const struct gm_kernel *kernel, const void *params) {
    const struct gm_convolution_params *p = params;
    const struct job job = {p, kernel->type, gm_type_bytes(kernel->type)};
    const int planes = p->tiles / (int)(p->column_tiles.divisor * p->row_tiles.divisor);
    for (int plane = 0; plane < planes; plane++)
        for (int y = 0; y < p->height - (planted_bug == CONVOLUTION_BUG_LOST_ROW && plane == planes - 1); y++)
            compute_row(&job, plane, y);
}
