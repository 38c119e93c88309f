/* SPDX-License-Identifier: Apache-2.0 */
/* LayerNorm of any variant on the CPU, from the same parameter struct that the GPU kernel gets, and the planted bugs. */
#include <math.h>
#include <stdlib.h>

#include "common/norm.h"
#include "layer_norm/layer_norm_tests.h"

struct job {
    const struct gm_norm_params *p;
    enum gm_type type;
    int64_t bytes;
    float *v;
};

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

static float result(const struct job *job, float y, int64_t column) {
    const struct gm_norm_params *p = job->p;
    const float offset =
        planted_bug == LN_BUG_OFFSET || (planted_bug == LN_BUG_NO_WEIGHT && !p->weight) ? 0 : p->weight_offset;
    const float factor = vector_of(job, p->weight, GM_NORM_WIDE_WEIGHT, column) + offset;
    const float bias = planted_bug == LN_BUG_BIAS ? 0 : vector_of(job, p->bias, GM_NORM_WIDE_BIAS, column);
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

static void normalize(const struct job *job, int64_t row) {
    const struct gm_norm_params *p = job->p;
    const int64_t read = p->columns - (planted_bug == LN_BUG_LOST_TAIL) + (planted_bug == LN_BUG_OVER_READ);
    const int64_t written = p->columns + (planted_bug == LN_BUG_COLUMN_AFTER);
    float mean;
    for (int64_t column = 0; column < written || column < read; column++)
        job->v[column] = column < p->columns || column < read ? load_sum(job, row, column) : 0;
    const float scale = scale_of(job, read, &mean);
    for (int64_t column = 0; column < written; column++) {
        const float y = (job->v[column] - mean) * scale;
        if (p->flags & GM_NORM_HAS_RESIDUAL && planted_bug != LN_BUG_RESIDUAL && column < p->columns)
            store(p->residual + (uint64_t)(row * p->residual_pitch + column * job->bytes), job->type, job->v[column]);
        store(p->out + (uint64_t)(row * p->out_pitch + column * job->bytes), job->type,
              column < p->columns ? result(job, y, column) : 1);
    }
}

void compute_ln(const struct gm_kernel *kernel, const void *params) {
    const struct gm_norm_params *p = params;
    struct job job = {p, kernel->type, gm_type_bytes(kernel->type), malloc(((size_t)p->columns + 1) * sizeof(float))};
    int64_t rows = p->rows;
    if (p->row_count && planted_bug != LN_BUG_COUNT) {
        const int32_t count = (int32_t)load_bits((const uint8_t *)(uintptr_t)p->row_count, GM_INT32);
        rows = count < rows ? count : rows;
    }
    for (int64_t row = 0; row < rows - (planted_bug == LN_BUG_LOST_ROW) && job.v; row++)
        normalize(&job, row);
    free(job.v);
}
