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

/* What is asked, with the members that it points to. */
struct asked {
    struct gm_norm norm;
    struct gm_out out;
    struct gm_matrix matrices[GM_RMS_NORM_MATRICES];
};

static void ask(const struct gm_rms_norm_problem *p, struct asked *asked) {
    *asked = (struct asked){.out = GM_OUT_OF(p)};
    gm_rms_norm_matrices(p, asked->matrices);
    asked->norm = (struct gm_norm){
        .rows = p->rows,
        .columns = p->columns,
        .type = p->type,
        .residual = (enum gm_residual)p->residual,
        .fp32_weight = p->fp32_weight,
        .sum_rounding = p->sum_rounding,
        .normalized_rounding = p->normalized_rounding,
        .norm_rounding = p->norm_rounding,
        .out = &asked->out,
        .eps = p->eps,
        .weight_offset = p->weight_offset,
        .x_stride = p->x_stride,
        .residual_stride = p->residual_stride,
        .out_stride = p->out_stride,
        .heads = p->heads > 1 ? p->heads : 1,
        .x_head_stride = p->x_head_stride,
        .out_head_stride = p->out_head_stride,
        .reductions = 1,
        .matrices = asked->matrices,
        .matrix_count = GM_RMS_NORM_JUDGED,
    };
}

static struct gm_verdict judge(const struct gm_kernel *kernel, const struct gm_question *question,
                               const struct gm_sentence *why) {
    struct asked asked;
    ask(question->problem, &asked);
    return gm_norm_judge(kernel, question, &asked.norm, why);
}

static enum gm_status prepare(struct gm_plan *plan, const struct gm_verdict *verdict) {
    struct asked asked;
    ask(plan->problem, &asked);
    gm_norm_prepare(plan, verdict, &asked.norm);
    return GM_OK;
}

static CUresult bind(const struct gm_plan *plan, const void *arguments, void *into) {
    const struct gm_rms_norm_args *args = arguments;
    struct gm_norm_any_params *any = into;
    struct gm_norm_params *params = &any->norm;
    (void)plan;
    params->x = args->x;
    params->residual = args->residual;
    params->weight = args->weight;
    params->out = args->out;
    params->row_count = args->row_count;
    any->x_weight = args->x_weight;
    any->store.scales = args->scales;
    return CUDA_SUCCESS;
}

const struct gm_family gm_family_rms_norm = {
    .name = "rms_norm",
    .operation = &gm_operation_rms_norm,
    .params_bytes = sizeof(struct gm_norm_any_params),
    .judge = judge,
    .prepare = prepare,
    .bind = bind,
    .divisions = 1,
};
