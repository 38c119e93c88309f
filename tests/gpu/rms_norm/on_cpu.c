/* SPDX-License-Identifier: Apache-2.0 */
/* RMSNorm of any variant on the CPU, from the same parameter struct that the GPU kernel gets, and the planted bugs. */
#include <math.h>
#include <stdlib.h>

#include "common/norm.h"
#include "rms_norm/rms_norm_tests.h"

struct job {
    const struct gm_norm_params *p;
    enum gm_type type;
    int64_t bytes, head;
    float *v;
};

static float load(uint64_t address, enum gm_type type) {
    return (float)bits_to_double(type, load_bits((const uint8_t *)(uintptr_t)address, type));
}

static void store(uint64_t address, enum gm_type type, float value) {
    uint32_t bits = double_to_bits(type, value);
    if (planted_bug == NORM_BUG_TRUNCATES && type == GM_BF16)
        bits = double_to_bits(GM_FP32, value) >> 16;
    store_bits((uint8_t *)(uintptr_t)address, type, bits);
}

static float load_sum(const struct job *job, int64_t row, int64_t column) {
    const struct gm_norm_params *p = job->p;
    float v = load(p->x + (uint64_t)(row * p->x_pitch + job->head * p->x_head_pitch + column * job->bytes), job->type);
    if (p->flags & GM_NORM_HAS_RESIDUAL)
        v += load(p->residual + (uint64_t)(row * p->residual_pitch + column * job->bytes), job->type);
    return p->flags & GM_NORM_ROUNDS_SUM ? (float)round_to(job->type, v) : v;
}

static float weight_of(const struct job *job, int64_t column) {
    const struct gm_norm_params *p = job->p;
    const enum gm_type type = p->flags & GM_NORM_WIDE_WEIGHT ? GM_FP32 : job->type;
    const float weight = load(p->weight + (uint64_t)(column * gm_type_bytes(type)), type);
    return planted_bug == NORM_BUG_OFFSET ? weight : weight + p->weight_offset;
}

static void normalize(const struct job *job, int64_t row) {
    const struct gm_norm_params *p = job->p;
    const int64_t read = p->columns - (planted_bug == NORM_BUG_LOST_TAIL) + (planted_bug == NORM_BUG_OVER_READ);
    const int64_t written = p->columns + (planted_bug == NORM_BUG_COLUMN_AFTER);
    const bool early = p->flags & GM_NORM_ROUNDS_NORMALIZED || planted_bug == NORM_BUG_EARLY;
    double squares = 0; /* one sum of fp32 would be further off than those of a kernel's threads */
    for (int64_t column = 0; column < written || column < read; column++) {
        job->v[column] = column < p->columns || column < read ? load_sum(job, row, column) : 0;
        squares += column < read ? (double)(job->v[column] * job->v[column]) : 0;
    }
    const float mean = (float)squares * p->inverse_columns;
    const float scale = planted_bug == NORM_BUG_EPS_OUTSIDE ? 1 / (sqrtf(mean) + p->eps) : 1 / sqrtf(mean + p->eps);
    for (int64_t column = 0; column < written; column++) {
        const float y = job->v[column] * scale;
        if (p->flags & GM_NORM_HAS_RESIDUAL && planted_bug != NORM_BUG_RESIDUAL && column < p->columns)
            store(p->residual + (uint64_t)(row * p->residual_pitch + column * job->bytes), job->type, job->v[column]);
        store(p->out + (uint64_t)(row * p->out_pitch + job->head * p->out_head_pitch + column * job->bytes), job->type,
              (early ? (float)round_to(job->type, y) : y) * (column < p->columns ? weight_of(job, column) : 1));
    }
}

void compute_norm(const struct gm_kernel *kernel, const void *params) {
    const struct gm_norm_params *p = params;
    struct job job = {p, kernel->type, gm_type_bytes(kernel->type), 0,
                      malloc(((size_t)p->columns + 1) * sizeof(float))};
    int64_t rows = p->rows;
    if (p->row_count && planted_bug != NORM_BUG_COUNT) {
        const int32_t count = (int32_t)load_bits((const uint8_t *)(uintptr_t)p->row_count, GM_INT32);
        rows = count < rows ? count : rows;
    }
    for (int64_t row = 0; row < rows - (planted_bug == NORM_BUG_LOST_ROW) && job.v; row++)
        for (job.head = 0; job.head < p->heads - (planted_bug == NORM_BUG_LOST_HEAD && p->heads > 1); job.head++)
            normalize(&job, row);
    free(job.v);
}
