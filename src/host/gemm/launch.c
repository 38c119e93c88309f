/* SPDX-License-Identifier: Apache-2.0 */
/* What the plans and calls of all GEMM families have in common. */
#include "host/gemm/launch.h"

#include "host/occupancy.h"

/* ---- once per plan -------------------------------------------------------------------------------------- */

struct gm_stream_k *gm_gemm_stream_k_of(const struct gm_plan *plan) {
    return (struct gm_stream_k *)(void *)((char *)plan->params + gm_gemm_family_of(plan->kernel)->stream_k);
}

/* Clusters of a launch at most: what the device holds at once, of kernels that stay; but under a budget of SMs of all,
 * since a CTA more would take an SM more. */
static int64_t most_clusters(const struct gm_plan *plan, const struct gm_gemm_variant *v) {
    const int budgeted = gm_plan_is_limited(plan);
    return v->persistent || budgeted ? gm_clusters_at_once(plan->kernel, &plan->device) : INT32_MAX;
}

void gm_gemm_plan_divide(struct gm_plan *plan, const struct gm_gemm_division *d) {
    const struct gm_gemm_variant v = gm_gemm_variant(plan->kernel);
    const int64_t most = most_clusters(plan, &v);
    const int64_t busy = d->whole > d->shares ? d->whole : d->shares;
    *gm_gemm_stream_k_of(plan) = gm_stream_k_params(&v, &gm_gemm_planned_of(plan)->problem, d);
    plan->config.gridDimX = (unsigned)((busy < most ? busy : most) * gm_cluster_size(&v));
    plan->division = gm_division_number(d);
    plan->workspace_bytes = d->workspace_bytes;
}

int gm_gemm_b_is_early(const struct gm_plan *plan) {
    return plan->flags & GM_PLAN_CONSTANT_B && !gm_gemm_planned_of(plan)->transposed;
}

struct gm_epilogue_params gm_gemm_epilogue_template(const struct gm_gemm_problem *p) {
    return (struct gm_epilogue_params){
        .ldc = p->ldc,
        .ldd = p->ldd,
        .d_type = p->d_type == GM_INT32 ? GM_TYPE_fp32 : (int32_t)p->d_type, /* struct gm_scaling_params, raw */
        .bias_type = (int32_t)p->bias_type,
        .bias_mode = (int32_t)p->bias,
        .activation = (int32_t)p->activation,
        .m = (int32_t)p->m,
        .n = (int32_t)gm_gemm_columns(p),
    };
}

struct gm_scaling_params gm_gemm_scaling_template(const struct gm_gemm_problem *p) {
    return (struct gm_scaling_params){
        .row_step = p->a_scales == GM_PER_ROW,
        .column_step = p->b_scales == GM_PER_ROW,
        .raw = p->d_type == GM_INT32,
    };
}

struct gm_batch_params gm_gemm_batch_template(const struct gm_gemm_variant *v, const struct gm_gemm_problem *p) {
    const int bytes = gm_type_bytes(p->d_type);
    return (struct gm_batch_params){
        .c = p->c_batch_stride * gm_type_bytes(p->c_type),
        .d = p->d_batch_stride * bytes,
        .bias = p->bias_batch_stride * gm_type_bytes(p->bias_type),
        .tiles = (int32_t)(gm_tiles_m(v, p) * gm_tiles_n(v, p)),
    };
}

/* ---- once per call -------------------------------------------------------------------------------------- */

void gm_gemm_bind_scaling(const struct gm_gemm_planned *planned, const struct gm_gemm_args *args,
                          struct gm_scaling_params *s) {
    const struct gm_gemm_problem *p = &planned->problem;
    const int turned = planned->transposed;
    s->row_scales = p->a_scales == GM_PER_NONE ? 0 : turned ? args->b_scales : args->a_scales;
    s->column_scales = p->b_scales == GM_PER_NONE ? 0 : turned ? args->a_scales : args->b_scales;
    s->row_zeros = !p->zero_points ? 0 : turned ? args->b_sums : args->a_zeros;
    s->column_zeros = !p->zero_points ? 0 : turned ? args->a_zeros : args->b_sums;
}

struct gm_gemm_call gm_gemm_bind(const struct gm_gemm_planned *planned, const struct gm_gemm_args *args,
                                 struct gm_epilogue_params *e) {
    const struct gm_gemm_problem *p = &planned->problem;
    const int bytes = gm_type_bytes(p->d_type), c_bytes = gm_type_bytes(p->c_type);
    e->c = args->c;
    e->d = args->d;
    e->bias = args->bias;
    e->alpha = args->alpha ? *args->alpha : 1;
    e->beta = args->beta ? *args->beta : 0;
    const uint64_t c = p->pointer_arrays ? 0 : args->c | (uint64_t)(p->c_batch_stride * c_bytes);
    const uint64_t d = p->pointer_arrays ? 0 : args->d | (uint64_t)(p->d_batch_stride * bytes);
    e->c_vector = gm_copy_bytes(c, p->ldc * c_bytes, p->m) == 16;
    e->d_vector = gm_copy_bytes(d, p->ldd * bytes, p->m) == 16;
    if (planned->transposed)
        return (struct gm_gemm_call){args->b, args->a, args->workspace};
    return (struct gm_gemm_call){args->a, args->b, args->workspace};
}
