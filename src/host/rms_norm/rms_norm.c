/* SPDX-License-Identifier: Apache-2.0 */
/* The family rms_norm: what it asks of a problem, and the addresses of a call. */
#include "host/rms_norm/rms_norm.h"

#include "columns.h"
#include "common/norm.h"
#include "host/norm.h"

_Static_assert((int)GM_RMS_NORM_THREADS == (int)GM_NORM_THREADS &&
                   (int)GM_RMS_NORM_COLUMN_COUNT == (int)GM_NORM_COLUMNS &&
                   (int)GM_RMS_NORM_ROW_THREADS == (int)GM_NORM_ROW_THREADS &&
                   (int)GM_RMS_NORM_VECTORS == (int)GM_NORM_VECTORS &&
                   (int)GM_RMS_NORM_VECTOR_BYTES == (int)GM_NORM_VECTOR_BYTES,
               "the columns of host/norm.h");

static struct gm_norm norm_of(const struct gm_rms_norm_problem *p, struct gm_matrix matrices[GM_RMS_NORM_MATRICES]) {
    gm_rms_norm_matrices(p, matrices);
    return (struct gm_norm){
        .rows = p->rows,
        .columns = p->columns,
        .type = p->type,
        .residual = p->residual,
        .fp32_weight = p->fp32_weight,
        .sum_rounding = p->sum_rounding,
        .normalized_rounding = p->normalized_rounding,
        .eps = p->eps,
        .weight_offset = p->weight_offset,
        .x_stride = p->x_stride,
        .residual_stride = p->residual_stride,
        .out_stride = p->out_stride,
        .heads = p->heads > 1 ? p->heads : 1,
        .x_head_stride = p->x_head_stride,
        .out_head_stride = p->out_head_stride,
        .reductions = 1,
        .matrices = matrices,
        .matrix_count = GM_RMS_NORM_MATRICES,
    };
}

static struct gm_verdict judge(const struct gm_kernel *kernel, const struct gm_question *question,
                               const struct gm_sentence *why) {
    struct gm_matrix matrices[GM_RMS_NORM_MATRICES];
    const struct gm_norm norm = norm_of(question->problem, matrices);
    return gm_norm_judge(kernel, question, &norm, why);
}

static enum gm_status prepare(struct gm_plan *plan, const struct gm_verdict *verdict) {
    struct gm_matrix matrices[GM_RMS_NORM_MATRICES];
    const struct gm_norm norm = norm_of(plan->problem, matrices);
    (void)verdict;
    gm_norm_prepare(plan, &norm);
    return GM_OK;
}

static CUresult bind(const struct gm_plan *plan, const void *arguments, void *into) {
    const struct gm_rms_norm_args *args = arguments;
    struct gm_norm_params *params = into;
    (void)plan;
    params->x = args->x;
    params->residual = args->residual;
    params->weight = args->weight;
    params->out = args->out;
    params->row_count = args->row_count;
    return CUDA_SUCCESS;
}

const struct gm_family gm_family_rms_norm = {
    .name = "rms_norm",
    .operation = &gm_operation_rms_norm,
    .params_bytes = sizeof(struct gm_norm_params),
    .judge = judge,
    .prepare = prepare,
    .bind = bind,
    .divisions = 1,
};
