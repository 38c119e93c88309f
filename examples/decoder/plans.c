/* SPDX-License-Identifier: Apache-2.0 */
#include "plans.h"

#include <stdio.h>

enum gm_type type_of(const struct config *c) {
    return c->dtype == DTYPE_BF16 ? GM_BF16 : GM_FP16;
}

struct maker maker_of(gm_context *context, const struct config *config, uint32_t flags) {
    return (struct maker){
        context, config, {.size = sizeof(struct gm_plan_options), .workspace_limit = WORKSPACE_BYTES, .flags = flags}};
}

enum gm_scaling scaling_of(const struct config *config) {
    if (config->scaled == SCALED_BLOCKS)
        return GM_SCALE_GROUP;
    return config->has_input_scales ? GM_SCALE_STATIC : GM_SCALE_ROW;
}

enum gm_scale_order scale_order_of(const struct config *config) {
    return config->scaled == SCALED_BLOCKS ? GM_SCALES_BY_COLUMN : GM_SCALES_BY_ROW;
}

/* What scaling_of() makes, as a GEMM reads it. */
static enum gm_granularity granularity_of_rows(const struct config *config) {
    if (config->scaled == SCALED_BLOCKS)
        return GM_PER_GROUP;
    return config->has_input_scales ? GM_PER_TENSOR : GM_PER_ROW;
}

static struct gm_gemm_problem gemm_of(const struct config *config, const struct linear *like, int64_t rows, int64_t out,
                                      int64_t in) {
    const int is_e4m3 = rows_of(like) == ROWS_E4M3;
    return (struct gm_gemm_problem){.size = sizeof(struct gm_gemm_problem),
                                    .m = rows,
                                    .n = out,
                                    .k = in,
                                    .ab_type = is_e4m3 ? GM_E4M3 : type_of(config),
                                    .d_type = type_of(config),
                                    .a_scales = is_e4m3 ? granularity_of_rows(config) : GM_PER_NONE,
                                    .b_scales = like->granularity,
                                    .a_scale_order = is_e4m3 ? scale_order_of(config) : GM_SCALES_BY_ROW};
}

gm_plan *plan_gemm(const struct maker *maker, const struct linear *like, int64_t rows, int64_t out, int64_t in,
                   enum gm_type out_type) {
    struct gm_gemm_problem problem = gemm_of(maker->config, like, rows, out, in);
    problem.d_type = out_type;
    problem.bias = like->bias ? GM_BIAS_N : GM_BIAS_NONE;
    problem.bias_type = type_of(maker->config);
    struct maker constant = *maker;
    constant.options.flags |= GM_PLAN_CONSTANT_B;
    gm_plan *plan = NULL;
    PLAN(&constant, gemm, problem, plan);
    return plan;
}

void demand_kernels(gm_context *context, const struct config *config) {
    static const struct linear of_blocks = {.scales = 1, .granularity = GM_PER_BLOCK};
    const struct gm_gemm_problem problem = gemm_of(config, &of_blocks, SCALES_BLOCK, SCALES_BLOCK, SCALES_BLOCK);
    struct gm_device device = {.size = sizeof device};
    gm_plan *plan = NULL;
    if (!config->any_e4m3 || config->scaled != SCALED_BLOCKS)
        return;
    if (gm_gemm_plan_create(context, &problem, NULL, &plan) == GM_ERROR_NO_KERNEL &&
        gm_context_device(context, &device) == GM_OK)
        die("%s has no kernel for weights of fp8 with scales of blocks: they need compute capability 9.0, and it has "
            "%d.%d",
            device.name, (int)device.cc_major, (int)device.cc_minor);
    gm_plan_destroy(plan);
}

static enum gm_activation activation_of(const struct config *c) {
    return c->activation == ACTIVATION_SILU ? GM_ACT_SILU : GM_ACT_GELU_TANH;
}

gm_plan *plan_gated(const struct maker *maker, int64_t rows, int64_t columns, int64_t in) {
    static const struct linear of_dtype = {0};
    struct gm_gemm_problem problem = gemm_of(maker->config, &of_dtype, rows, 2 * columns, in);
    problem.activation = activation_of(maker->config);
    problem.gate = GM_GATE_HALVES;
    struct maker constant = *maker;
    constant.options.flags |= GM_PLAN_CONSTANT_B;
    constant.options.workspace_limit = gated_workspace_bytes(rows, columns);
    gm_plan *plan = NULL;
    PLAN(&constant, gemm, problem, plan);
    return plan;
}

void run_linear(int64_t parts, const struct scratch *s, const gm_plan *plan, gm_device_ptr a,
                const struct linear *linear, gm_device_ptr d, int accumulates) {
    static const float one = 1;
    const struct gm_gemm_args args = {.size = sizeof args,
                                      .a = a,
                                      .b = linear->weights,
                                      .c = accumulates ? d : 0,
                                      .d = d,
                                      .bias = linear->bias,
                                      .beta = accumulates ? &one : NULL,
                                      .workspace = s->workspace,
                                      .workspace_bytes = s->workspace_bytes,
                                      .a_scales = row_scales(s, linear),
                                      .b_scales = linear->scales};
    RUN(parts, PART_LINEARS, gemm, plan, args);
}

gm_plan *plan_quantize(const struct maker *maker, int64_t rows, int64_t columns) {
    const struct gm_quantize_problem problem = {.size = sizeof problem,
                                                .rows = rows,
                                                .columns = columns,
                                                .type = type_of(maker->config),
                                                .out_type = GM_E4M3,
                                                .scaling = scaling_of(maker->config),
                                                .scale_order = scale_order_of(maker->config)};
    gm_plan *plan = NULL;
    PLAN(maker, quantize, problem, plan);
    return plan;
}

gm_plan *plan_gather(const struct maker *maker, int64_t rows, int64_t of, int64_t columns, enum gm_type type,
                     double scale) {
    const struct gm_embed_problem problem = {.size = sizeof problem,
                                             .tokens = rows,
                                             .columns = columns,
                                             .vocabulary = of,
                                             .type = type,
                                             .scale = (float)scale};
    gm_plan *plan = NULL;
    PLAN(maker, embed, problem, plan);
    return plan;
}

gm_plan *plan_glu(const struct maker *maker, enum rows_type rows_type, int64_t rows, int64_t columns) {
    const struct config *c = maker->config;
    const struct gm_glu_problem problem = {
        .size = sizeof problem,
        .rows = rows,
        .columns = columns,
        .type = type_of(c),
        .activation = activation_of(c),
        .gate_stride = 2 * columns,
        .up_stride = 2 * columns,
        .up_align = columns % 8 ? 2 : 16,
        .has_out_type = rows_type == ROWS_E4M3,
        .out_type = GM_E4M3,
        .scaling = scaling_of(c),
        .scale_order = scale_order_of(c),
    };
    gm_plan *plan = NULL;
    PLAN(maker, glu, problem, plan);
    return plan;
}

void explain_plan(const char *name, const gm_plan *plan) {
    struct gm_kernel_info info = {.size = sizeof info};
    if (plan && gm_kernel_get((size_t)gm_plan_kernel(plan), &info) == GM_OK)
        printf("  %-20s %8.2f us  %s\n", name, gm_plan_predicted_us(plan), info.name);
}
