/* SPDX-License-Identifier: Apache-2.0 */
/* The family layer_norm: what it asks of a problem, and the addresses of a call. */
#include "host/layer_norm/layer_norm.h"

#include "columns.h"
#include "common/norm.h"
#include "host/norm.h"

_Static_assert((int)GM_LAYER_NORM_THREADS == (int)GM_NORM_THREADS &&
                   (int)GM_LAYER_NORM_COLUMN_COUNT == (int)GM_NORM_COLUMNS &&
                   (int)GM_LAYER_NORM_ROW_THREADS == (int)GM_NORM_ROW_THREADS &&
                   (int)GM_LAYER_NORM_VECTORS == (int)GM_NORM_VECTORS &&
                   (int)GM_LAYER_NORM_VECTOR_BYTES == (int)GM_NORM_VECTOR_BYTES,
               "the columns of host/norm.h");

/* What is asked, with the members that it points to. */
struct asked {
    struct gm_norm norm;
    struct gm_out out;
    struct gm_matrix matrices[GM_LAYER_NORM_MATRICES];
};

static void ask(const struct gm_layer_norm_problem *p, struct asked *asked) {
    *asked = (struct asked){.out = GM_OUT_OF(p)};
    gm_layer_norm_matrices(p, asked->matrices);
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
        .heads = 1,
        .reductions = 2,
        .matrices = asked->matrices,
        .matrix_count = GM_LAYER_NORM_JUDGED,
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

/* Of a weight that is not there the kernel reads nothing, and 1 remains of the offset. */
static CUresult bind(const struct gm_plan *plan, const void *arguments, void *into) {
    const struct gm_layer_norm_args *args = arguments;
    const struct gm_layer_norm_problem *p = plan->problem;
    struct gm_norm_any_params *any = into;
    struct gm_norm_params *params = &any->norm;
    params->x = args->x;
    params->residual = args->residual;
    params->weight = args->weight;
    params->bias = args->bias;
    params->out = args->out;
    params->row_count = args->row_count;
    any->x_weight = args->x_weight;
    any->x_bias = args->x_bias;
    any->store.scales = args->scales;
    params->weight_offset = args->weight ? p->weight_offset : 1;
    any->x_weight_offset = args->x_weight ? p->weight_offset : 1;
    params->flags &= ~(GM_NORM_WIDE_WEIGHT | GM_NORM_WIDE_BIAS | GM_NORM_WIDE_X_WEIGHT | GM_NORM_WIDE_X_BIAS);
    params->flags |= p->fp32_weight && args->x_weight ? GM_NORM_WIDE_X_WEIGHT : 0;
    params->flags |= p->fp32_weight && args->x_bias ? GM_NORM_WIDE_X_BIAS : 0;
    params->flags |= p->fp32_weight && args->weight ? GM_NORM_WIDE_WEIGHT : 0;
    params->flags |= p->fp32_weight && args->bias ? GM_NORM_WIDE_BIAS : 0;
    return CUDA_SUCCESS;
}

const struct gm_family gm_family_layer_norm = {
    .name = "layer_norm",
    .operation = &gm_operation_layer_norm,
    .params_bytes = sizeof(struct gm_norm_any_params),
    .judge = judge,
    .prepare = prepare,
    .bind = bind,
    .divisions = 1,
};
