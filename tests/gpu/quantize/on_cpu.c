/* SPDX-License-Identifier: Apache-2.0 */
/* A quantiser of any variant on the CPU, from the same parameter struct that the GPU kernel gets, and the planted bugs. */
#include <math.h>

#include "columns.h"
#include "common/quantize/params.h"
#include "quantize/quantize_tests.h"

/* Who shares a scale: rows and columns from the first to before the last. */
struct part {
    int64_t row, rows, column, columns;
};

struct job {
    const struct gm_quantize_params *p;
    enum gm_type type;
    int64_t rows;
};

static uint8_t *at(uint64_t base, int64_t offset) {
    return (uint8_t *)(uintptr_t)(base + (uint64_t)offset);
}

static float load(const struct job *job, int64_t row, int64_t column) {
    const uint8_t *x = at(job->p->x, row * job->p->x_pitch + column * gm_type_bytes(job->type));
    return (float)bits_to_double(job->type, load_bits(x, job->type));
}

static float amax_of(const struct job *job, const struct part *part) {
    float amax = 0;
    for (int64_t row = part->row; row < part->rows; row++)
        for (int64_t column = part->column; column < part->columns; column++) {
            const float size = fabsf(load(job, row, column));
            const bool is_nan = isnan(size) || isnan(amax);
            amax = is_nan && planted_bug != QUANTIZE_BUG_DROPS_NAN ? NAN : fmaxf(amax, size);
        }
    return amax;
}

static float power_of_2(float scale) {
    int exponent;
    const float fraction = frexpf(scale, &exponent);
    return ldexpf(1, fraction == 0.5f || planted_bug == QUANTIZE_BUG_ROUNDS_DOWN ? exponent - 1 : exponent);
}

static float scale_of(const struct job *job, const struct part *part) {
    const struct gm_quantize_params *p = job->p;
    const float amax = amax_of(job, part);
    if (isnan(amax))
        return amax;
    const float finite = planted_bug == QUANTIZE_BUG_INFINITE_SCALE ? amax : fminf(amax, 0x1.fffffep127f);
    const float scale =
        planted_bug == QUANTIZE_BUG_NO_FLOOR ? finite / p->limit : fmaxf(finite / p->limit, p->scale_floor);
    return p->scale_format == SCALE_FP32 || scale == 0 ? scale : power_of_2(scale);
}

static void store_scale(const struct gm_quantize_params *p, int64_t down, int64_t across, float scale) {
    int64_t offset = down * p->scale_down + across * p->scale_across;
    if (planted_bug == QUANTIZE_BUG_ORDER && p->scaling == SCALE_GROUP)
        offset = down * p->scale_across + across * p->scale_down;
    uint8_t *to = at(p->scales, offset);
    if (p->scale_format == SCALE_E8M0)
        *to = isnan(scale) ? 255 : (uint8_t)(ilogbf(scale) + 127);
    else
        memcpy(to, &scale, sizeof scale);
}

static uint32_t round_one(const struct gm_quantize_params *p, float x, float scale) {
    const enum gm_type type = (enum gm_type)p->out_type;
    const double limit = (double)p->limit;
    const bool is_scale = scale > 0 && isfinite(scale);
    const bool by_reciprocal = p->by_reciprocal || planted_bug == QUANTIZE_BUG_RECIPROCAL;
    int exponent;
    const float fraction = frexpf(scale, &exponent);
    const double product = ldexp((double)x * (double)(1 / fraction), -exponent);
    double q = !is_scale ? NAN : (double)(by_reciprocal ? (float)product : x / scale);
    if (isnan(q))
        return type == GM_INT8 ? 0 : 0x7f;
    if (fabs(q) > limit)
        q = planted_bug == QUANTIZE_BUG_OVERFLOWS && type != GM_INT8 ? NAN : copysign(limit, q);
    if (q == 0 && planted_bug == QUANTIZE_BUG_LOST_SIGN)
        q = 0;
    return double_to_bits(type, q);
}

static void quantize(const struct job *job, const struct part *part, float scale) {
    const struct gm_quantize_params *p = job->p;
    const bool is_last = part->columns == p->columns;
    const int64_t written = part->columns + (is_last && planted_bug == QUANTIZE_BUG_COLUMN_AFTER) -
                            (is_last && planted_bug == QUANTIZE_BUG_LOST_TAIL);
    for (int64_t row = part->row; row < part->rows; row++)
        for (int64_t column = part->column; column < written; column++)
            *at(p->out, row * p->out_pitch + column) =
                column < part->columns ? (uint8_t)round_one(p, load(job, row, column), scale) : 1;
}

static void whole(const struct job *job) {
    const struct gm_quantize_params *p = job->p;
    const struct part all = {0, job->rows, 0, p->columns};
    float scale;
    memcpy(&scale, at(p->scales, 0), sizeof scale);
    if (p->scaling == SCALE_STATIC) {
        quantize(job, &all, scale);
    } else if (job->rows > 0) {
        const float other = scale_of(job, &all);
        store_scale(p, 0, 0, planted_bug == QUANTIZE_BUG_OVERWRITES || !(other <= scale) ? other : scale);
    }
}

void compute_quantize(const struct gm_kernel *kernel, const void *params) {
    const struct gm_quantize_params *p = params;
    struct job job = {p, kernel->type, p->rows};
    if (p->row_count && planted_bug != QUANTIZE_BUG_COUNT) {
        const int32_t count = (int32_t)load_bits(at(p->row_count, 0), GM_INT32);
        job.rows = count < job.rows ? count : job.rows;
    }
    job.rows -= planted_bug == QUANTIZE_BUG_LOST_ROW;
    if (p->scaling <= SCALE_AMAX_ONLY) {
        whole(&job);
        return;
    }
    const int64_t high = p->scaling == SCALE_BLOCK ? QUANTIZE_BLOCK : 1;
    const int64_t wide = p->scaling == SCALE_BLOCK ? QUANTIZE_BLOCK
                         : p->scaling == SCALE_ROW ? p->columns
                                                   : (int64_t)QUANTIZE_CHUNK << p->span_shift;
    for (int64_t row = 0; row < job.rows; row += high)
        for (int64_t column = 0; column < p->columns; column += wide) {
            const struct part part = {row, row + high < job.rows ? row + high : job.rows, column,
                                      column + wide < p->columns ? column + wide : p->columns};
            const float scale = scale_of(&job, &part);
            if (part.columns < p->columns || planted_bug != QUANTIZE_BUG_LOST_SCALE)
                store_scale(p, row / high, column / wide, scale);
            quantize(&job, &part, scale);
        }
}
