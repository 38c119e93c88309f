/* SPDX-License-Identifier: Apache-2.0 */
/* LayerNorm of any variant on the CPU, from the same parameter struct that the GPU kernel gets, and the planted bugs. */
#include <math.h>
#include <stdlib.h>

#include "columns.h"
#include "common/norm.h"
#include "common/makes_tokens.h"
#include "layer_norm/layer_norm_tests.h"

struct job {
    const struct gm_norm_any_params *any; /* NULL: the variant makes out of x's type */
    const struct gm_norm_params *p;
    enum gm_type type;
    int64_t bytes;
    float *v;
};

/* Whether the variant has more parameters than p. */
static bool makes_any(const struct gm_kernel *kernel) {
    return kernel->columns[GM_LAYER_NORM_MAKES] == GM_MAKES_any;
}

static float load(uint64_t address, enum gm_type type) {
    return (float)bits_to_double(type, load_bits((const uint8_t *)(uintptr_t)address, type));
}

static void store(uint64_t address, enum gm_type type, float value) {
    uint32_t bits = double_to_bits(type, value);
    if (planted_bug == LN_BUG_TRUNCATES && type == GM_BF16)
        bits = double_to_bits(GM_FP32, value) >> 16;
    store_bits((uint8_t *)(uintptr_t)address, type, bits);
}

static float load_sum(const struct job *job, int64_t row, int64_t column) {
    const struct gm_norm_params *p = job->p;
    float v = load(p->x + (uint64_t)(row * p->x_pitch + column * job->bytes), job->type);
    if (p->flags & GM_NORM_HAS_RESIDUAL)
        v += load(p->residual + (uint64_t)(row * p->residual_pitch + column * job->bytes), job->type);
    return p->flags & GM_NORM_ROUNDS_SUM ? (float)round_to(job->type, v) : v;
}

/* An element of weight or bias. */
static float vector_of(const struct job *job, uint64_t vector, int wide, int64_t column) {
    const enum gm_type type = job->p->flags & wide ? GM_FP32 : job->type;
    return vector ? load(vector + (uint64_t)(column * gm_type_bytes(type)), type) : 0;
}

static float result(const struct job *job, bool is_first, float y, int64_t column) {
    const struct gm_norm_params *p = job->p;
    const uint64_t weight = is_first ? job->any->x_weight : p->weight, biases = is_first ? job->any->x_bias : p->bias;
    const float told = is_first ? job->any->x_weight_offset : p->weight_offset;
    const float offset = planted_bug == LN_BUG_OFFSET || (planted_bug == LN_BUG_NO_WEIGHT && !weight) ? 0 : told;
    const float factor =
        vector_of(job, weight, is_first ? GM_NORM_WIDE_X_WEIGHT : GM_NORM_WIDE_WEIGHT, column) + offset;
    const float bias = planted_bug == LN_BUG_BIAS
                           ? 0
                           : vector_of(job, biases, is_first ? GM_NORM_WIDE_X_BIAS : GM_NORM_WIDE_BIAS, column);
    if (p->flags & GM_NORM_ROUNDS_NORMALIZED || planted_bug == LN_BUG_EARLY)
        y = (float)round_to(job->type, y);
    return planted_bug == LN_BUG_BIAS_FIRST ? (y + bias) * factor : fmaf(y, factor, bias);
}

/* One sum of fp32 would be further off than those of a kernel's threads. */
static float scale_of(const struct job *job, int64_t columns, float *mean) {
    const struct gm_norm_params *p = job->p;
    double sum = 0, squares = 0;
    for (int64_t column = 0; column < columns; column++)
        sum += (double)job->v[column];
    *mean = (float)sum * p->inverse_columns;
    const float from = planted_bug == LN_BUG_ONE_PASS ? 0 : *mean;
    for (int64_t column = 0; column < columns; column++)
        squares += (double)((job->v[column] - from) * (job->v[column] - from));
    float variance = (float)squares * p->inverse_columns;
    if (planted_bug == LN_BUG_ONE_PASS)
        variance -= *mean * *mean;
    if (planted_bug == LN_BUG_UNBIASED)
        variance = (float)squares / (float)(p->columns - 1);
    return planted_bug == LN_BUG_EPS_OUTSIDE ? 1 / (sqrtf(variance) + p->eps) : 1 / sqrtf(variance + p->eps);
}

static void store_residual(const struct job *job, int64_t row, int64_t column, float value) {
    const struct gm_norm_params *p = job->p;
    if (planted_bug != LN_BUG_RESIDUAL && column < p->columns)
        store(p->residual + (uint64_t)(row * p->residual_pitch + column * job->bytes), job->type, value);
}

/* The row becomes its norm; so many columns of it count. */
static void apply(const struct job *job, bool is_first, int64_t read, int64_t written) {
    float mean;
    const float scale = scale_of(job, read, &mean);
    for (int64_t column = 0; column < written; column++)
        job->v[column] = column < job->p->columns ? result(job, is_first, (job->v[column] - mean) * scale, column) : 1;
}

/* The residual is added to a norm. */
static void add_after(const struct job *job, int64_t row) {
    const struct gm_norm_params *p = job->p;
    for (int64_t column = 0; column < p->columns; column++) {
        float *v = &job->v[column];
        if (p->flags & GM_NORM_ROUNDS_NORM)
            *v = (float)round_to(job->type, *v);
        *v += load(p->residual + (uint64_t)(row * p->residual_pitch + column * job->bytes), job->type);
        if (p->flags & GM_NORM_ROUNDS_SUM)
            *v = (float)round_to(job->type, *v);
        if (p->flags & GM_NORM_RESIDUAL_BETWEEN)
            store_residual(job, row, column, *v);
    }
}

static void store_out(const struct job *job, int64_t row, int64_t written) {
    const struct gm_norm_params *p = job->p;
    const uint64_t out = p->out + (uint64_t)(row * p->out_pitch);
    const enum out_bug bug = planted_bug == LN_BUG_LOST_SCALE ? OUT_BUG_LOST_SCALE : OUT_BUG_NONE;
    for (int64_t column = 0; column < written && p->flags & GM_NORM_ROUNDS_OUT; column++)
        job->v[column] = (float)round_to(job->type, job->v[column]);
    if (job->any && job->any->store.out_type != (int32_t)job->type) {
        store_row(&job->any->store, out, job->any->store.scales, row, p->columns, job->v, bug);
        return;
    }
    for (int64_t column = 0; column < written; column++)
        store(out + (uint64_t)(column * job->bytes), job->type, job->v[column]);
}

static void normalize(const struct job *job, int64_t row) {
    const struct gm_norm_params *p = job->p;
    const int64_t read = p->columns - (planted_bug == LN_BUG_LOST_TAIL) + (planted_bug == LN_BUG_OVER_READ);
    const int64_t written = p->columns + (planted_bug == LN_BUG_COLUMN_AFTER);
    for (int64_t column = 0; column < written || column < read; column++) {
        job->v[column] = column < p->columns || column < read ? load_sum(job, row, column) : 0;
        if (p->flags & GM_NORM_HAS_RESIDUAL)
            store_residual(job, row, column, job->v[column]);
    }
    apply(job, p->flags & GM_NORM_RESIDUAL_BETWEEN, read, written);
    if (p->flags & (GM_NORM_RESIDUAL_AFTER | GM_NORM_RESIDUAL_BETWEEN))
        add_after(job, row);
    if (p->flags & GM_NORM_RESIDUAL_BETWEEN && planted_bug != LN_BUG_ONE_NORM)
        apply(job, false, read, written);
    store_out(job, row, written);
}

void compute_ln(const struct gm_kernel *kernel, const void *params) {
    const struct gm_norm_params *p = params;
    struct job job = {makes_any(kernel) ? params : NULL, p, kernel->type, gm_type_bytes(kernel->type),
                      malloc(((size_t)p->columns + 1) * sizeof(float))};
    int64_t rows = p->rows;
    if (p->row_count && planted_bug != LN_BUG_COUNT) {
        const int32_t count = (int32_t)load_bits((const uint8_t *)(uintptr_t)p->row_count, GM_INT32);
        rows = count < rows ? count : rows;
    }
    for (int64_t row = 0; row < rows - (planted_bug == LN_BUG_LOST_ROW) && job.v; row++)
        normalize(&job, row);
    free(job.v);
}
