/* SPDX-License-Identifier: Apache-2.0 */
/* GEMM as an operation: its fields, what a call reads and writes, and its public functions. */
#include "host/error.h"
#include "host/gemm/extended.h"
#include "host/gemm/problem.h"
#include "host/gemm/variant.h"
#include "host/plan.h"

/* ---- fields --------------------------------------------------------------------------------------------- */

static int64_t get_layout(const void *problem) {
    return gm_gemm_layout(problem);
}

static int set_layout(void *problem, int64_t layout) {
    struct gm_gemm_problem *p = problem;
    p->a_major = layout & 1 ? GM_MN_MAJOR : GM_K_MAJOR;
    p->b_major = layout & 2 ? GM_MN_MAJOR : GM_K_MAJOR;
    return 1;
}

static int64_t get_b_type(const void *problem) {
    return gm_gemm_b_type(problem);
}

/* B's type is left unsaid where it is A's, so that it goes with that. */
static int set_b_type(void *problem, int64_t type) {
    struct gm_gemm_problem *p = problem;
    if (!gm_gemm_is_pair(p->ab_type, (enum gm_type)type))
        return 0;
    p->has_b_type = p->ab_type != (enum gm_type)type;
    p->b_type = (enum gm_type)type;
    return 1;
}

static enum gm_type kernel_type(const void *problem) {
    return gm_gemm_kernel_type(problem);
}

enum {
    EPILOGUE_PLAIN,
    EPILOGUE_GENERAL,
    EPILOGUE_GATE,
    EPILOGUE_BATCH,
    EPILOGUE_EXTENDED,
    EPILOGUE_FAST = 10,
    EPILOGUE_SUM_SCALES
};
/* Of extended ones, a gate comes after the same without one. Fast sums, and sums with scales, have kernels of their own,
 * whatever is behind them. */
static const char *const epilogues[] = {"plain",
                                        "general",
                                        "gate",
                                        "batch",
                                        "extended",
                                        "extended_gate",
                                        "extended_row",
                                        "extended_gate_row",
                                        "extended_group",
                                        "extended_gate_group",
                                        "fast",
                                        "sum_scales",
                                        NULL};

/* What D's scales are of decides who computes it: kernels of one pass have not all of them. */
static int64_t get_extended(const struct gm_gemm_problem *p) {
    const int scales = !gm_gemm_has_8_bits(p)           ? 0
                       : p->d_scaling == GM_SCALE_ROW   ? 2
                       : p->d_scaling == GM_SCALE_GROUP ? 4
                                                        : 0;
    return EPILOGUE_EXTENDED + scales + (p->gate != GM_GATE_NONE);
}

static int64_t get_epilogue(const void *problem) {
    const struct gm_gemm_problem *p = problem;
    return gm_gemm_is_batch(p)          ? EPILOGUE_BATCH
           : gm_gemm_is_extended(p)     ? get_extended(p)
           : p->gate != GM_GATE_NONE    ? EPILOGUE_GATE
           : gm_has_scales_of_sums(p)   ? EPILOGUE_SUM_SCALES
           : p->fast_accumulation       ? EPILOGUE_FAST
           : gm_has_general_epilogue(p) ? EPILOGUE_GENERAL
                                        : EPILOGUE_PLAIN;
}

static const char *const activations[] = {"none", "relu", "gelu", "gelu_erf", "silu", NULL};
static const char *const biases[] = {"none", "n", "m", NULL};
static const char *const gates[] = {"none", "halves", "pairs", NULL};
static const char *const granularities[] = {"none", "tensor", "row", "group", "block", NULL};
static const char *const orders[] = {"row", "column", NULL};

/* Members that are 32 bits wide, where a field has 64. */
#define NARROW(member)                                                                                                 \
    static int64_t get_##member(const void *problem) {                                                                 \
        return ((const struct gm_gemm_problem *)problem)->member;                                                      \
    }                                                                                                                  \
    static int set_##member(void *problem, int64_t value) {                                                            \
        ((struct gm_gemm_problem *)problem)->member = (int32_t)value;                                                  \
        return 1;                                                                                                      \
    }
NARROW(a_align)
NARROW(b_align)
NARROW(d_align)
NARROW(amax)

/* C's type, where it is not left to D's. */
static int64_t get_c_type(const void *problem) {
    return ((const struct gm_gemm_problem *)problem)->c_type;
}

static int set_c_type(void *problem, int64_t type) {
    struct gm_gemm_problem *p = problem;
    p->c_type = (enum gm_type)type;
    return p->has_c_type = 1;
}

/* A residual is asked for by its type. */
static const char *const residuals[] = {"none", "bf16", "fp16", "fp32", NULL};

static int64_t get_residual(const void *problem) {
    const struct gm_gemm_problem *p = problem;
    return p->residual ? 1 + (int64_t)p->residual_type : 0;
}

static int set_residual(void *problem, int64_t word) {
    struct gm_gemm_problem *p = problem;
    p->residual = word > 0;
    p->residual_type = word > 0 ? (enum gm_type)(word - 1) : GM_BF16;
    return 1;
}

static const char *const scalings[] = {"static", "amax_only", "row", "group", NULL};

#define AT(member) offsetof(struct gm_gemm_problem, member)
#define HALF       (GM_TYPE_SET(GM_BF16) | GM_TYPE_SET(GM_FP16))
#define ALL        (HALF | GM_TYPE_SET(GM_FP32))
#define EIGHT      (GM_TYPE_SET(GM_E4M3) | GM_TYPE_SET(GM_E5M2) | GM_TYPE_SET(GM_INT8))
#define D          (ALL | EIGHT | GM_TYPE_SET(GM_INT32))
#define SUITES     (GM_IN_SUITES | GM_IN_LEDGERS)

enum { FIELD_A, FIELD_B, FIELD_D, FIELD_LAYOUT, FIELD_EPILOGUE, FIELD_M };
static const struct gm_field fields[] = {
    [FIELD_A] = {.name = "a", .kind = GM_FIELD_TYPE, .uses = SUITES, .offset = AT(ab_type), .types = GM_GEMM_OPERANDS},
    [FIELD_B] = {"b", GM_FIELD_TYPE, SUITES, .types = GM_GEMM_OPERANDS, .get = get_b_type, .set = set_b_type,
                 .about = "type of B, e5m2 beside e4m3 or the reverse (default: dtype)"},
    [FIELD_D] = {.name = "d", .kind = GM_FIELD_TYPE, .uses = SUITES, .offset = AT(d_type), .types = D},
    [FIELD_LAYOUT] = {"layout", GM_FIELD_WORD, SUITES, .words = gm_gemm_layout_names, .get = get_layout,
                      .set = set_layout, .about = "tn (default: both K-major), nn, nt, tt"},
    [FIELD_EPILOGUE] = {"epilogue", GM_FIELD_WORD, GM_IN_LEDGERS | GM_FALLS_BACK, .words = epilogues,
                        .get = get_epilogue},
    [FIELD_M] = {.name = "m", .kind = GM_FIELD_SIZE, .uses = SUITES, .offset = AT(m)},
    {.name = "n", .kind = GM_FIELD_SIZE, .uses = SUITES, .offset = AT(n)},
    {.name = "k", .kind = GM_FIELD_SIZE, .uses = SUITES, .offset = AT(k)},
    {"batch", GM_FIELD_SIZE, GM_IN_OPTIONS, .offset = AT(batch), .about = "products of this shape (default: 1)"},
    {"a_batch_stride", GM_FIELD_SIZE, GM_IN_OPTIONS | GM_MAY_BE_0, .offset = AT(a_batch_stride),
     .about = "elements from a matrix of a batch to the next; 0: one for all"},
    {"b_batch_stride", GM_FIELD_SIZE, GM_IN_OPTIONS | GM_MAY_BE_0, .offset = AT(b_batch_stride)},
    {"c_batch_stride", GM_FIELD_SIZE, GM_IN_OPTIONS | GM_MAY_BE_0, .offset = AT(c_batch_stride)},
    {"d_batch_stride", GM_FIELD_SIZE, GM_IN_OPTIONS | GM_MAY_BE_0, .offset = AT(d_batch_stride)},
    {"bias_batch_stride", GM_FIELD_SIZE, GM_IN_OPTIONS | GM_MAY_BE_0, .offset = AT(bias_batch_stride)},
    {"pointer_arrays", GM_FIELD_SIZE, GM_IN_OPTIONS | GM_MAY_BE_0, .offset = AT(pointer_arrays),
     .about = "1: of pointers to the matrices"},
    {"a_scales", GM_FIELD_WORD, GM_IN_OPTIONS, .offset = AT(a_scales), .words = granularities,
     .about = "of 16 bits and 8: tensor, row; of fp8 also group, block (default: none)"},
    {"b_scales", GM_FIELD_WORD, GM_IN_OPTIONS, .offset = AT(b_scales), .words = granularities},
    {"a_scale_order", GM_FIELD_WORD, GM_IN_OPTIONS, .offset = AT(a_scale_order), .words = orders,
     .about = "of groups and blocks, what lies in a row: those of a row (default), column"},
    {"b_scale_order", GM_FIELD_WORD, GM_IN_OPTIONS, .offset = AT(b_scale_order), .words = orders},
    {"a_scale_format", GM_FIELD_WORD, GM_IN_OPTIONS, .offset = AT(a_scale_format), .words = gm_scale_format_words,
     .about = "of groups and blocks: fp32 (default), power_of_2, e8m0"},
    {"b_scale_format", GM_FIELD_WORD, GM_IN_OPTIONS, .offset = AT(b_scale_format), .words = gm_scale_format_words},
    {"zero_points", GM_FIELD_SIZE, GM_IN_OPTIONS | GM_MAY_BE_0, .offset = AT(zero_points), .about = "1: of A's rows"},
    {"fast_accumulation", GM_FIELD_SIZE, GM_IN_OPTIONS | GM_MAY_BE_0, .offset = AT(fast_accumulation),
     .about = "1: sums of fp8 may stay in the tensor cores"},
    {"act", GM_FIELD_WORD, GM_IN_OPTIONS, .offset = AT(activation), .words = activations,
     .about = "relu, gelu, gelu_erf, silu (default: none)"},
    {"bias", GM_FIELD_WORD, GM_IN_OPTIONS, .offset = AT(bias), .words = biases,
     .about = "along n or along m (default: none)"},
    {"bias_type", GM_FIELD_TYPE, GM_IN_OPTIONS, .offset = AT(bias_type), .types = ALL, .about = "of the bias"},
    {"gate", GM_FIELD_WORD, GM_IN_OPTIONS, .offset = AT(gate), .words = gates,
     .about = "of columns of A B: halves, pairs (default: none)"},
    {"limit", GM_FIELD_REAL, GM_IN_OPTIONS, .offset = AT(limit), .about = "of gates and ups (default: none)"},
    {"sigmoid_factor", GM_FIELD_REAL, GM_IN_OPTIONS, .offset = AT(sigmoid_factor), .about = "1.702: gpt-oss"},
    {"up_offset", GM_FIELD_REAL, GM_IN_OPTIONS, .offset = AT(up_offset), .about = "1: gpt-oss's up + 1"},
    {"c_type", GM_FIELD_TYPE, GM_IN_OPTIONS, .types = ALL, .get = get_c_type, .set = set_c_type,
     .about = "of C (default: D's)"},
    {"residual", GM_FIELD_WORD, GM_IN_OPTIONS, .words = residuals, .get = get_residual, .set = set_residual,
     .about = "added behind the activation: its type (default: none)"},
    {"amax", GM_FIELD_SIZE, GM_IN_OPTIONS | GM_MAY_BE_0, .get = get_amax, .set = set_amax,
     .about = "1: the largest size before D is rounded"},
    {"d_scaling", GM_FIELD_WORD, GM_IN_OPTIONS, .offset = AT(d_scaling), .words = scalings,
     .about = "of a D of 8 bits: static (default), row, group"},
    {"d_scale_format", GM_FIELD_WORD, GM_IN_OPTIONS, .offset = AT(d_scale_format), .words = gm_scale_format_words,
     .about = "fp32 (default), power_of_2, e8m0"},
    {"d_group", GM_FIELD_SIZE, GM_IN_OPTIONS, .offset = AT(d_group), .about = "columns: 128 (default), 64, 32"},
    {"lda", GM_FIELD_SIZE, GM_IN_OPTIONS, .offset = AT(lda),
     .about = "leading dimensions in elements (default: packed)"},
    {"ldb", GM_FIELD_SIZE, GM_IN_OPTIONS, .offset = AT(ldb)},
    {"ldc", GM_FIELD_SIZE, GM_IN_OPTIONS, .offset = AT(ldc)},
    {"ldd", GM_FIELD_SIZE, GM_IN_OPTIONS, .offset = AT(ldd)},
    {"a_align", GM_FIELD_SIZE, GM_IN_OPTIONS, .get = get_a_align, .set = set_a_align,
     .about = "bytes of alignment promised of the pointers: 16 (default), 8, 4, 2"},
    {"b_align", GM_FIELD_SIZE, GM_IN_OPTIONS, .get = get_b_align, .set = set_b_align},
    {"d_align", GM_FIELD_SIZE, GM_IN_OPTIONS, .get = get_d_align, .set = set_d_align},
};

/* ---- a problem ------------------------------------------------------------------------------------------ */

static int is_empty(const void *problem) {
    const struct gm_gemm_problem *p = problem;
    return p->m == 0 || p->n == 0;
}

static struct gm_work work(const void *problem) {
    const struct gm_gemm_problem *p = problem;
    const double m = (double)p->m, n = (double)p->n, k = (double)p->k, batch = p->batch > 1 ? (double)p->batch : 1;
    const double as = (double)gm_gemm_matrices(p, p->a_batch_stride);
    const double bs = (double)gm_gemm_matrices(p, p->b_batch_stride);
    return (struct gm_work){
        .flops = batch * 2 * m * n * k,
        .least_bytes = (as * m + bs * n) * k * gm_type_bytes(p->ab_type) +
                       batch * m * (double)gm_gemm_columns(p) * gm_type_bytes(p->d_type),
    };
}

/* ---- a call --------------------------------------------------------------------------------------------- */

/* A gate leaves C no place: it has as many columns as D, half of those that a gate is made of. */
static enum gm_status check_call(const void *problem, const void *arguments) {
    const struct gm_gemm_planned *planned = problem;
    const struct gm_gemm_args *args = arguments;
    if (planned->problem.gate != GM_GATE_NONE && args->beta && *args->beta != 0)
        return gm_fail(GM_ERROR_INVALID_ARGUMENT, "beta is %g: there is no C beside a gate, so it is 0",
                       (double)*args->beta);
    const float alpha = args->alpha ? *args->alpha : 1, beta = args->beta ? *args->beta : 0;
    if (planned->problem.d_type == GM_INT32 && (alpha != 1 || beta != 0))
        return gm_fail(GM_ERROR_INVALID_ARGUMENT,
                       "alpha is %g and beta %g: D of int32 is the sums, so they are 1 and 0", (double)alpha,
                       (double)beta);
    return GM_OK;
}

/* Member by member, in its place: this is on the way of every call, and structs that are copied just after they were
 * written wait for it. */
static void set_range(struct gm_range *range, const char *name, gm_device_ptr address, struct gm_operand operand,
                      int align) {
    range->name = name;
    range->address = address;
    range->rows = operand.rows;
    range->row_bytes = operand.columns * operand.element_bytes;
    range->pitch_bytes = operand.stride * operand.element_bytes;
    range->align = align;
    range->element_bytes = operand.element_bytes;
    range->written = 0;
    range->may_equal = -1;
}

/* All matrices of a batch: rows that go on from one to the next, or else from the first byte to the last. */
static void span_batch(struct gm_range *range, int64_t batch, int64_t stride) {
    const int64_t one = (range->rows - 1) * range->pitch_bytes + range->row_bytes;
    const int64_t step = stride * range->element_bytes;
    if (range->rows == 0 || range->row_bytes == 0 || step == 0)
        return;
    if (step == range->rows * range->pitch_bytes) {
        range->rows *= batch;
        return;
    }
    range->rows = 1;
    range->row_bytes = (batch - 1) * step + one;
    range->pitch_bytes = step;
}

/* An array of pointers, which is read, whatever the matrices are for. */
static void point_to_batch(struct gm_range *range, int64_t batch) {
    if (range->rows == 0 || range->row_bytes == 0)
        return;
    range->rows = 1;
    range->row_bytes = batch * 8;
    range->align = range->element_bytes = 8;
    range->written = 0;
    range->may_equal = -1;
}

enum { RANGE_C = 2, RANGE_BIAS, RANGE_D, RANGE_LEFT_OUT, RANGES, SCALING_RANGES = 4, EXTENDED_RANGES = 3 };

static void set_batch_ranges(const struct gm_gemm_problem *p, const struct gm_gemm_args *args,
                             struct gm_range found[GM_RANGES_MAX]) {
    const int64_t strides[] = {p->a_batch_stride, p->b_batch_stride, p->c_batch_stride, p->bias_batch_stride,
                               p->d_batch_stride};
    for (int i = 0; i <= RANGE_D; i++) {
        if (p->pointer_arrays && i != RANGE_BIAS)
            point_to_batch(&found[i], p->batch);
        else
            span_batch(&found[i], p->batch, strides[i]);
    }
    const struct gm_operand counter = {p->pointer_arrays && args->left_out, 1, 0, 4};
    set_range(&found[RANGE_LEFT_OUT], "left_out", args->left_out, counter, 4);
    found[RANGE_LEFT_OUT].written = 1;
}

/* What sums of 8-bit operands are scaled by, by the caller's names, which a transposed problem has the other way round. */
static int set_scaling_ranges(const struct gm_gemm_planned *planned, const struct gm_gemm_args *args,
                              struct gm_range found[SCALING_RANGES]) {
    const struct gm_gemm_problem *p = &planned->problem;
    const int turned = planned->transposed;
    const int64_t a_rows = turned ? p->n : p->m, b_rows = turned ? p->m : p->n;
    const struct gm_operand of_a = gm_operand_a_scales(p), of_b = gm_operand_b_scales(p);
    const struct gm_operand vectors[SCALING_RANGES] = {
        turned ? of_b : of_a, turned ? of_a : of_b, {p->zero_points, a_rows, 0, 4}, {p->zero_points, b_rows, 0, 4}};
    set_range(&found[0], "a_scales", args->a_scales, vectors[0], 4);
    set_range(&found[1], "b_scales", args->b_scales, vectors[1], 4);
    set_range(&found[2], "a_zeros", args->a_zeros, vectors[2], 4);
    set_range(&found[3], "b_sums", args->b_sums, vectors[3], 4);
    return SCALING_RANGES;
}

/* The residual, which may be D where there is no C, the largest size, and the scales of a D of 8 bits. */
static int set_extended_ranges(const struct gm_gemm_problem *p, const struct gm_gemm_args *args,
                               struct gm_range found[GM_RANGES_MAX], int first) {
    const struct gm_out out = gm_gemm_out(p);
    const struct gm_matrix scales = gm_out_scales(&out);
    const int residual_bytes = gm_type_bytes(p->residual_type);
    const struct gm_operand residual = {p->residual ? p->m : 0, gm_gemm_columns(p), p->ldr, residual_bytes};
    set_range(&found[first], "residual", args->residual, residual, residual_bytes);
    set_range(&found[first + 1], "amax", args->amax, (struct gm_operand){p->amax, 1, 0, 4}, 4);
    set_range(&found[first + 2], "d_scales", args->d_scales,
              (struct gm_operand){scales.rows, scales.columns, scales.stride, scales.element_bytes}, scales.align);
    found[first + 1].written = 1;
    found[first + 2].written = p->d_scaling != GM_SCALE_STATIC;
    if (p->residual && found[RANGE_C].rows == 0)
        found[RANGE_D].may_equal = first;
    return EXTENDED_RANGES;
}

/* A, B, C, the bias and D, by the caller's names. */
static int ranges(const void *problem, const void *arguments, struct gm_range found[GM_RANGES_MAX],
                  struct gm_workspace *workspace) {
    const struct gm_gemm_planned *planned = problem;
    const struct gm_gemm_problem *p = &planned->problem;
    const struct gm_gemm_args *args = arguments;
    const int turned = planned->transposed;
    const int bias_bytes = p->bias == GM_BIAS_NONE ? 1 : gm_type_bytes(p->bias_type);
    const struct gm_operand bias = {p->bias != GM_BIAS_NONE, p->bias == GM_BIAS_M ? p->m : p->n, 0, bias_bytes};
    set_range(&found[turned], turned ? "b" : "a", turned ? args->b : args->a, gm_operand_a(p), p->a_align);
    set_range(&found[!turned], turned ? "a" : "b", turned ? args->a : args->b, gm_operand_b(p), p->b_align);
    set_range(&found[RANGE_C], "c", args->c, gm_operand_c(p), gm_type_bytes(p->c_type));
    set_range(&found[RANGE_BIAS], "bias", args->bias, bias, bias_bytes);
    set_range(&found[RANGE_D], "d", args->d, gm_operand_d(p), p->d_align);
    if (!args->beta || *args->beta == 0)
        found[RANGE_C].rows = 0;
    found[RANGE_D].written = 1;
    found[RANGE_D].may_equal = RANGE_C;
    workspace->address = args->workspace;
    workspace->bytes = args->workspace_bytes;
    int count = gm_gemm_is_batch(p) ? RANGES : RANGE_LEFT_OUT;
    if (gm_gemm_is_batch(p))
        set_batch_ranges(p, args, found);
    const int is_extended = gm_gemm_is_extended(p);
    if (gm_gemm_is_of_8_bits(p) || is_extended)
        count += set_scaling_ranges(planned, args, &found[count]);
    return is_extended ? count + set_extended_ranges(p, args, found, count) : count;
}

const struct gm_operation gm_operation_gemm = {
    .name = "gemm",
    .computes = "D = act(alpha A B + beta C + bias)",
    .fields = fields,
    .field_count = sizeof fields / sizeof *fields,
    .axis = FIELD_M,
    .type = FIELD_A,
    .problem_bytes = sizeof(struct gm_gemm_problem),
    .problem_bytes_least = 104,
    .planned_bytes = sizeof(struct gm_gemm_planned),
    .args_bytes = sizeof(struct gm_gemm_args),
    .args_bytes_least = 80,
    .normalize = gm_gemm_normalize,
    .simplify = gm_gemm_simplify,
    .is_empty = is_empty,
    .work = work,
    .check_call = check_call,
    .ranges = ranges,
    .sequences = &gm_gemm_sequences,
    .kernel_type = kernel_type,
};

/* ---- the public functions ------------------------------------------------------------------------------- */

enum gm_status gm_gemm_plan_create(gm_context *context, const struct gm_gemm_problem *problem,
                                   const struct gm_plan_options *options, gm_plan **plan) {
    return gm_plan_create(&gm_operation_gemm, context, problem, options, plan);
}

enum gm_status gm_gemm_execute(const gm_plan *plan, const struct gm_gemm_args *args, void *stream) {
    return gm_plan_execute(plan, &gm_operation_gemm, args, stream);
}

enum gm_status gm_gemm(gm_context *context, const struct gm_gemm_problem *problem, const struct gm_gemm_args *args,
                       void *stream) {
    return gm_plan_and_execute(&gm_operation_gemm, context, problem, args, stream);
}

enum gm_status gm_gemm_explain(const struct gm_device *device, const struct gm_gemm_problem *problem,
                               const struct gm_plan_options *options, struct gm_candidate *candidates, size_t capacity,
                               size_t *count) {
    return gm_explain(&gm_operation_gemm, device, problem, options, candidates, capacity, count);
}
