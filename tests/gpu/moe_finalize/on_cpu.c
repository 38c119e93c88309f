/* SPDX-License-Identifier: Apache-2.0 */
/* moe_finalize of any variant on the CPU, from the same parameter struct that the GPU kernel gets, and the planted bugs. */
#include <math.h>

#include "columns.h"
#include "common/moe_finalize/params.h"
#include "moe_finalize/moe_finalize_tests.h"

struct job {
    const struct gm_moe_finalize_params *p;
    enum gm_type type;
    int64_t bytes, columns;
};

static float load(enum gm_type type, uint64_t base, int64_t at) {
    return (float)bits_to_double(type, load_bits((const uint8_t *)(uintptr_t)(base + (uint64_t)at), type));
}

/* -1: none. */
static int64_t row_of(const struct gm_moe_finalize_params *p, int64_t slot) {
    const int32_t row = (int32_t)load_bits((const uint8_t *)(uintptr_t)p->inverse + slot * 4, GM_INT32);
    if (planted_bug == FINALIZE_BUG_NO_INVERSE)
        return slot % (int64_t)p->x_rows;
    return row >= 0 && (uint32_t)row < p->x_rows ? row : planted_bug == FINALIZE_BUG_BAD_IS_FIRST ? 0 : -1;
}

static float weight_of(const struct gm_moe_finalize_params *p, int64_t slot) {
    return p->weights && planted_bug != FINALIZE_BUG_NO_WEIGHT ? load(GM_FP32, p->weights, slot * 4) : 1;
}

static float compute(const struct job *job, int64_t token, int64_t column) {
    const struct gm_moe_finalize_params *p = job->p;
    const int64_t offset = column * job->bytes, first = token * p->k;
    float sum = 0;
    if (p->residual && planted_bug != FINALIZE_BUG_NO_RESIDUAL)
        sum = load(job->type, p->residual, token * p->residual_pitch + offset);
    for (int64_t slot = first; slot < first + p->k - (planted_bug == FINALIZE_BUG_LOST_SLOT); slot++) {
        const int64_t row = row_of(p, slot);
        if (row >= 0)
            sum = fmaf(weight_of(p, slot), load(job->type, p->x, row * p->x_pitch + offset), sum);
        else if (planted_bug == FINALIZE_BUG_BAD_WEIGHS)
            sum = fmaf(weight_of(p, slot), 0, sum);
        if (planted_bug == FINALIZE_BUG_EARLY)
            sum = (float)round_to(job->type, sum);
    }
    return sum;
}

static void compute_token(const struct job *job, int64_t token) {
    const int64_t columns = job->columns;
    const int64_t written =
        columns + (planted_bug == FINALIZE_BUG_COLUMN_AFTER) - (planted_bug == FINALIZE_BUG_LOST_TAIL);
    for (int64_t column = 0; column < written; column++) {
        const uint64_t at = job->p->out + (uint64_t)(token * job->p->out_pitch + column * job->bytes);
        const double value = column < columns ? (double)compute(job, token, column) : 1;
        store_bits((uint8_t *)(uintptr_t)at, job->type, double_to_bits(job->type, value));
    }
}

void compute_finalize(const struct gm_kernel *kernel, const void *params) {
    const struct gm_moe_finalize_params *p = params;
    const int64_t bytes = gm_type_bytes(kernel->type), chunk = kernel->columns[GM_MOE_FINALIZE_VECTOR_BYTES];
    const struct job job = {p, kernel->type, bytes, p->row_chunks.divisor * chunk / bytes};
    int64_t tokens = p->tokens;
    if (p->row_count && planted_bug != FINALIZE_BUG_COUNT) {
        const int32_t count = (int32_t)load_bits((const uint8_t *)(uintptr_t)p->row_count, GM_INT32);
        tokens = count < tokens ? count : tokens;
    }
    for (int64_t token = 0; token < tokens - (planted_bug == FINALIZE_BUG_LOST_ROW); token++)
        compute_token(&job, token);
}
