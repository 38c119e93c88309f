/* SPDX-License-Identifier: Apache-2.0 */
/* Checks a GEMM problem and fills in its defaults, with a sentence for everything wrong. */
#include "host/gemm/problem.h"

#include "common/gemm/tokens.h"
#include "host/check_problem.h"
#include "host/error.h"
#include "host/gated.h"
#include "host/gemm/extended.h"
#include "host/gemm/variant.h"

#include <inttypes.h>

const char *const gm_gemm_layout_names[] = {
    [GM_LAYOUT_tn] = "tn", [GM_LAYOUT_nn] = "nn", [GM_LAYOUT_tt] = "tt", [GM_LAYOUT_nt] = "nt", NULL};

const char *gm_gemm_layout_name(int layout) {
    return gm_gemm_layout_names[layout & 3];
}

int gm_gemm_layout(const struct gm_gemm_problem *problem) {
    return (problem->a_major == GM_MN_MAJOR ? 1 : 0) | (problem->b_major == GM_MN_MAJOR ? 2 : 0);
}

struct gm_operand gm_operand_a(const struct gm_gemm_problem *p) {
    if (p->a_major == GM_K_MAJOR)
        return (struct gm_operand){p->m, p->k, p->lda, gm_type_bytes(p->ab_type)};
    return (struct gm_operand){p->k, p->m, p->lda, gm_type_bytes(p->ab_type)};
}

struct gm_operand gm_operand_b(const struct gm_gemm_problem *p) {
    if (p->b_major == GM_K_MAJOR)
        return (struct gm_operand){p->n, p->k, p->ldb, gm_type_bytes(gm_gemm_b_type(p))};
    return (struct gm_operand){p->k, p->n, p->ldb, gm_type_bytes(gm_gemm_b_type(p))};
}

struct gm_operand gm_operand_c(const struct gm_gemm_problem *p) {
    return (struct gm_operand){p->m, gm_gemm_columns(p), p->ldc, gm_type_bytes(p->c_type)};
}

struct gm_operand gm_operand_d(const struct gm_gemm_problem *p) {
    return (struct gm_operand){p->m, gm_gemm_columns(p), p->ldd, gm_type_bytes(p->d_type)};
}

int64_t gm_operand_bytes(const struct gm_operand *operand) {
    if (operand->rows == 0 || operand->columns == 0)
        return 0;
    return ((operand->rows - 1) * operand->stride + operand->columns) * operand->element_bytes;
}

static enum gm_status fill_stride(const char *name, int64_t *stride, struct gm_operand operand) {
    return gm_fill_stride(name, stride, operand.rows, operand.columns, operand.element_bytes);
}

/* Fills in B's type. */
static enum gm_status check_pair(struct gm_gemm_problem *p) {
    const enum gm_status status = gm_check_enum("has_b_type", p->has_b_type, 0, 1);
    const enum gm_type type = gm_gemm_b_type(p);
    if (status != GM_OK)
        return status;
    p->has_b_type = 1;
    p->b_type = type;
    if (gm_gemm_is_pair(p->ab_type, type))
        return GM_OK;
    if (type == GM_E5M2 && p->ab_type == GM_E5M2)
        return gm_fail(GM_ERROR_INVALID_ARGUMENT,
                       "A and B are e5m2: one of them is e4m3 (has_b_type and b_type say B's type)");
    return gm_fail(GM_ERROR_INVALID_ARGUMENT,
                   "b_type is %d beside an A of %s: B is of A's type, but for e4m3 (%d) and e5m2 (%d) together",
                   (int)type, gm_type_name(p->ab_type), GM_E4M3, GM_E5M2);
}

static enum gm_status check_types(struct gm_gemm_problem *p) {
    const int type = (int)p->ab_type;
    if (type < 0 || type >= GM_TYPE_COUNT || !(GM_GEMM_OPERANDS & GM_TYPE_SET(type)))
        return gm_fail(
            GM_ERROR_INVALID_ARGUMENT,
            "ab_type is %d; known values are %d to %d, %d (e4m3), %d (e5m2), %d (int8), %d (tf32) and %d (tf32x3)",
            type, GM_BF16, GM_FP32, GM_E4M3, GM_E5M2, GM_INT8, GM_TF32, GM_TF32X3);
    enum gm_status status = check_pair(p);
    if (status != GM_OK)
        return status;
    if (p->ab_type == GM_INT8 && p->d_type == GM_INT32)
        return GM_OK;
    status = gm_check_enum("d_type", (int)p->d_type, GM_BF16, GM_INT8);
    if (status == GM_OK && gm_type_bytes(p->ab_type) == 4 && p->d_type != GM_FP32)
        return gm_fail(GM_ERROR_INVALID_ARGUMENT, "d_type is %s: D of %s operands is fp32", gm_type_name(p->d_type),
                       gm_type_name(p->ab_type));
    return status;
}

static enum gm_status check_enums(struct gm_gemm_problem *p) {
    enum gm_status status = check_types(p);
    if (status == GM_OK)
        status = gm_check_enum("a_major", (int)p->a_major, GM_K_MAJOR, GM_MN_MAJOR);
    if (status == GM_OK)
        status = gm_check_enum("b_major", (int)p->b_major, GM_K_MAJOR, GM_MN_MAJOR);
    if (status == GM_OK)
        status = gm_check_enum("activation", (int)p->activation, GM_ACT_NONE, GM_ACT_SILU);
    if (status == GM_OK)
        status = gm_check_enum("bias", (int)p->bias, GM_BIAS_NONE, GM_BIAS_M);
    if (status == GM_OK && p->bias != GM_BIAS_NONE)
        status = gm_check_enum("bias_type", (int)p->bias_type, GM_BF16, GM_FP32);
    if (status == GM_OK)
        status = gm_check_enum("gate", (int)p->gate, GM_GATE_NONE, GM_GATE_PAIRS);
    return status;
}

/* What a gate asks of the rest of the problem; without one its numbers mean nothing, and become 0. */
static enum gm_status check_gate(struct gm_gemm_problem *p) {
    if (p->gate == GM_GATE_NONE) {
        p->limit = p->sigmoid_factor = p->up_offset = 0;
        return GM_OK;
    }
    if (p->n % 2 != 0)
        return gm_fail(GM_ERROR_INVALID_ARGUMENT, "n is %" PRId64 ": a gate takes gates and as many ups, so n is even",
                       p->n);
    if (p->bias == GM_BIAS_M)
        return gm_fail(GM_ERROR_INVALID_ARGUMENT, "the bias is along M: with a gate it is along N, or there is none");
    return gm_check_gated(p->activation, p->limit, &p->sigmoid_factor, p->up_offset);
}

/* ---- operands of 8 bits --------------------------------------------------------------------------------- */

/* K whose sums of products stay within 31 bits: of -128 by -128, and of 255 by -128, where zeros are off. */
enum { MOST_K_INT8 = 131071, MOST_K_ZEROS = 65793 };

static enum gm_status check_granularities(const struct gm_gemm_problem *p) {
    enum gm_status status = gm_check_enum("a_scales", (int)p->a_scales, GM_PER_NONE, GM_PER_BLOCK);
    if (status == GM_OK)
        status = gm_check_enum("b_scales", (int)p->b_scales, GM_PER_NONE, GM_PER_BLOCK);
    if (status == GM_OK && (p->zero_points < 0 || p->zero_points > 1))
        status = gm_fail(GM_ERROR_INVALID_ARGUMENT, "zero_points is %" PRId64 "; it must be 0 or 1", p->zero_points);
    if (status == GM_OK && (p->fast_accumulation < 0 || p->fast_accumulation > 1))
        status = gm_fail(GM_ERROR_INVALID_ARGUMENT, "fast_accumulation is %" PRId64 "; it must be 0 or 1",
                         p->fast_accumulation);
    if (status == GM_OK && p->fast_accumulation && !gm_gemm_is_of_fp8(p))
        status =
            gm_fail(GM_ERROR_INVALID_ARGUMENT, "fast_accumulation is of fp8; A and B are %s", gm_type_name(p->ab_type));
    return status;
}

/* Scales of the matrices of a batch. */
static enum gm_status check_scales_of_batch(const struct gm_gemm_problem *p) {
    if (gm_gemm_is_batch(p) && (p->a_scales >= GM_PER_ROW || p->b_scales >= GM_PER_ROW || p->zero_points))
        return gm_fail(GM_ERROR_INVALID_ARGUMENT,
                       "a batch takes scales of GM_PER_TENSOR, one for all matrices, and no zero_points");
    return GM_OK;
}

/* Zeros are of int8 alone, and of one product; sums of s32 have nothing beside them. */
static enum gm_status check_8_bits(struct gm_gemm_problem *p) {
    enum gm_status status = check_granularities(p);
    if (status == GM_OK)
        status = gm_gemm_check_scales_of_sums(p);
    const int64_t most = p->zero_points ? MOST_K_ZEROS : MOST_K_INT8;
    if (status != GM_OK)
        return status;
    if (p->ab_type != GM_INT8 && p->zero_points)
        return gm_fail(GM_ERROR_INVALID_ARGUMENT, "zero_points are of int8; A and B are %s", gm_type_name(p->ab_type));
    if (p->ab_type != GM_INT8)
        return gm_gemm_is_of_fp8(p) ? check_scales_of_batch(p) : GM_OK;
    if (p->k > most)
        return gm_fail(GM_ERROR_INVALID_ARGUMENT, "k is %" PRId64 ": a sum may leave 32 bits above %" PRId64 "%s", p->k,
                       most, p->zero_points ? " with zero_points" : "");
    if (p->d_type == GM_INT32 &&
        (gm_gemm_is_scaled(p) || p->zero_points || p->bias != GM_BIAS_NONE || p->activation != GM_ACT_NONE || p->gate))
        return gm_fail(GM_ERROR_INVALID_ARGUMENT,
                       "D is int32, the sums themselves: it has no scales, zero_points, bias, activation or gate");
    return check_scales_of_batch(p);
}

/* ---- batches -------------------------------------------------------------------------------------------- */

static enum gm_status check_batch_stride(const char *name, int64_t stride, const struct gm_gemm_problem *p,
                                         struct gm_operand operand) {
    int64_t elements = 0;
    if (stride < 0)
        return gm_fail(GM_ERROR_INVALID_ARGUMENT, "%s is %" PRId64 "; it must be 0 or more", name, stride);
    if (__builtin_mul_overflow(stride, p->batch, &elements) ||
        __builtin_add_overflow(elements, operand.rows * operand.stride, &elements) ||
        __builtin_mul_overflow(elements, operand.element_bytes, &elements))
        return gm_fail(GM_ERROR_INVALID_ARGUMENT, "%s is %" PRId64 "; %" PRId64 " matrices of it exceed 2^63 bytes",
                       name, stride, p->batch);
    return GM_OK;
}

/* D's matrices lie behind each other, or beside each other in common rows. */
static enum gm_status check_batches_of_d(const struct gm_gemm_problem *p) {
    const struct gm_operand d = gm_operand_d(p);
    const int64_t stride = p->d_batch_stride, extent = gm_operand_bytes(&d) / d.element_bytes;
    const int behind = stride >= extent;
    const int beside = stride >= d.columns && (p->batch - 1) * stride + d.columns <= d.stride;
    if (behind || beside)
        return GM_OK;
    return gm_fail(GM_ERROR_INVALID_ARGUMENT,
                   "d_batch_stride is %" PRId64 ": the matrices of D overlap; each of them has %" PRId64
                   " elements from first to last, or %" PRId64 " of a row of ldd %" PRId64,
                   stride, extent, d.columns, d.stride);
}

static enum gm_status check_bias_stride(const struct gm_gemm_problem *p) {
    const struct gm_operand bias = {1, 0, p->bias == GM_BIAS_M ? p->m : p->n, gm_type_bytes(p->bias_type)};
    return p->bias == GM_BIAS_NONE ? GM_OK : check_batch_stride("bias_batch_stride", p->bias_batch_stride, p, bias);
}

static enum gm_status check_strides_of_batch(const struct gm_gemm_problem *p) {
    enum gm_status status = check_batch_stride("a_batch_stride", p->a_batch_stride, p, gm_operand_a(p));
    if (status == GM_OK)
        status = check_batch_stride("b_batch_stride", p->b_batch_stride, p, gm_operand_b(p));
    if (status == GM_OK)
        status = check_batch_stride("c_batch_stride", p->c_batch_stride, p, gm_operand_c(p));
    if (status == GM_OK)
        status = check_batch_stride("d_batch_stride", p->d_batch_stride, p, gm_operand_d(p));
    if (status == GM_OK)
        status = check_bias_stride(p);
    return status == GM_OK ? check_batches_of_d(p) : status;
}

/* Of one matrix strides mean nothing, and become 0; so do those of pointer arrays. */
static enum gm_status fill_batch(struct gm_gemm_problem *p) {
    if (p->pointer_arrays < 0 || p->pointer_arrays > 1)
        return gm_fail(GM_ERROR_INVALID_ARGUMENT, "pointer_arrays is %" PRId64 "; it must be 0 or 1",
                       p->pointer_arrays);
    if (p->batch <= 1 || p->pointer_arrays)
        p->a_batch_stride = p->b_batch_stride = p->c_batch_stride = p->d_batch_stride = 0;
    if (p->batch <= 1 || p->bias == GM_BIAS_NONE)
        p->bias_batch_stride = 0;
    if (p->pointer_arrays && p->gate != GM_GATE_NONE)
        return gm_fail(GM_ERROR_INVALID_ARGUMENT, "a gate is not of matrices in pointer_arrays");
    if (p->batch == 1 || p->m == 0 || p->n == 0)
        return GM_OK;
    return p->pointer_arrays ? check_bias_stride(p) : check_strides_of_batch(p);
}

/* What lies in memory as rows of the matrices of a batch, one after the other: of a row each, or with no gap between the
 * last row of one and the first of the next. */
static int goes_on(struct gm_operand operand, int64_t batch_stride) {
    return operand.rows == 1 ? batch_stride >= operand.columns : batch_stride == operand.rows * operand.stride;
}
/* The same of columns. */
static int goes_beside(struct gm_operand operand, int64_t batch, int64_t batch_stride) {
    return batch_stride == operand.columns && batch * operand.columns <= operand.stride;
}

/* Whether matrices of an operand, `is_rows` if it lies as rows of M or N, make one of more rows or columns. */
static int is_joined(const struct gm_gemm_problem *p, int is_rows, struct gm_operand operand, int64_t batch_stride) {
    return is_rows ? goes_on(operand, batch_stride) : goes_beside(operand, p->batch, batch_stride);
}

static int64_t joined_stride(int is_rows, struct gm_operand operand, int64_t batch_stride) {
    return is_rows && operand.rows == 1 ? batch_stride : operand.stride;
}

static int bias_folds(const struct gm_gemm_problem *p, enum gm_bias along, int64_t count) {
    return p->bias == GM_BIAS_NONE || p->bias_batch_stride == (p->bias == along ? count : 0);
}

static int folds_along_m(const struct gm_gemm_problem *p) {
    return p->b_batch_stride == 0 && p->m <= INT32_MAX / p->batch && bias_folds(p, GM_BIAS_M, p->m) &&
           is_joined(p, p->a_major == GM_K_MAJOR, gm_operand_a(p), p->a_batch_stride) &&
           is_joined(p, 1, gm_operand_d(p), p->d_batch_stride) &&
           (p->gate != GM_GATE_NONE || is_joined(p, 1, gm_operand_c(p), p->c_batch_stride));
}

static int folds_along_n(const struct gm_gemm_problem *p) {
    return p->a_batch_stride == 0 && p->gate == GM_GATE_NONE && p->n <= INT32_MAX / p->batch &&
           bias_folds(p, GM_BIAS_N, p->n) &&
           is_joined(p, p->b_major == GM_K_MAJOR, gm_operand_b(p), p->b_batch_stride) &&
           is_joined(p, 0, gm_operand_d(p), p->d_batch_stride) && is_joined(p, 0, gm_operand_c(p), p->c_batch_stride);
}

struct gm_gemm_problem gm_gemm_folded(const struct gm_gemm_problem *problem) {
    struct gm_gemm_problem p = *problem;
    if (p.batch == 1 || p.pointer_arrays || p.m == 0 || p.n == 0 || p.k == 0)
        return p;
    const int along_m = folds_along_m(&p);
    if (!along_m && !folds_along_n(&p))
        return p;
    if (along_m) {
        p.lda = joined_stride(p.a_major == GM_K_MAJOR, gm_operand_a(problem), p.a_batch_stride);
        p.ldc = joined_stride(1, gm_operand_c(problem), p.c_batch_stride);
        p.ldd = joined_stride(1, gm_operand_d(problem), p.d_batch_stride);
        p.m *= p.batch;
    } else {
        p.ldb = joined_stride(p.b_major == GM_K_MAJOR, gm_operand_b(problem), p.b_batch_stride);
        p.n *= p.batch;
    }
    p.batch = 1;
    p.a_batch_stride = p.b_batch_stride = p.c_batch_stride = p.d_batch_stride = p.bias_batch_stride = 0;
    return p;
}

/* ---- defaults ------------------------------------------------------------------------------------------- */

static enum gm_status fill(struct gm_gemm_problem *p) {
    const int ab_bytes = gm_type_bytes(p->ab_type), d_bytes = gm_type_bytes(p->d_type);
    enum gm_status status = fill_stride("lda", &p->lda, gm_operand_a(p));
    if (status == GM_OK)
        status = fill_stride("ldb", &p->ldb, gm_operand_b(p));
    if (status == GM_OK)
        status = fill_stride("ldc", &p->ldc, gm_operand_c(p));
    if (status == GM_OK)
        status = fill_stride("ldd", &p->ldd, gm_operand_d(p));
    if (status == GM_OK)
        status = gm_fill_alignment("a_align", &p->a_align, ab_bytes);
    if (status == GM_OK)
        status = gm_fill_alignment("b_align", &p->b_align, ab_bytes);
    if (status == GM_OK)
        status = gm_fill_alignment("d_align", &p->d_align, d_bytes);
    return status == GM_OK ? fill_batch(p) : status;
}

enum gm_status gm_gemm_normalize(void *problem) {
    struct gm_gemm_problem *p = problem;
    enum gm_status status = gm_check_size("m", p->m, 0, INT32_MAX);
    if (status == GM_OK)
        status = gm_check_size("n", p->n, 0, INT32_MAX);
    if (status == GM_OK)
        status = gm_check_size("k", p->k, 0, INT32_MAX);
    if (status == GM_OK)
        status = gm_check_size("batch", p->batch, 0, INT32_MAX);
    p->batch = p->batch == 0 ? 1 : p->batch;
    if (status == GM_OK)
        status = check_enums(p);
    if (status == GM_OK)
        status = check_gate(p);
    if (status == GM_OK)
        status = check_8_bits(p);
    if (status == GM_OK)
        status = gm_gemm_check_extended(p);
    return status == GM_OK ? fill(p) : status;
}

static void straighten(enum gm_major *major, int64_t *stride, struct gm_operand operand) {
    if (operand.columns != 1 || operand.rows <= 1 || operand.stride != 1)
        return;
    *major = *major == GM_K_MAJOR ? GM_MN_MAJOR : GM_K_MAJOR;
    *stride = operand.rows;
}

int gm_gemm_is_column(const struct gm_gemm_problem *p) {
    const int chunks = p->a_align == 16 && p->lda * gm_type_bytes(p->ab_type) % 16 == 0;
    return !gm_gemm_is_batch(p) && !gm_gemm_is_extended(p) && p->n == 1 && p->m > 1 && p->gate == GM_GATE_NONE &&
           p->ldc == 1 && p->ldd == 1 && (p->a_major == GM_K_MAJOR || chunks);
}

struct gm_gemm_problem gm_gemm_transposed(const struct gm_gemm_problem *p) {
    struct gm_gemm_problem t = *p;
    t.m = p->n;
    t.n = p->m;
    t.ab_type = p->b_type;
    t.b_type = p->ab_type;
    t.a_major = p->b_major;
    t.b_major = p->a_major;
    t.lda = p->ldb;
    t.ldb = p->lda;
    t.ldc = t.ldd = p->m;
    t.a_align = p->b_align;
    t.b_align = p->a_align;
    t.a_scales = p->b_scales;
    t.b_scales = p->a_scales;
    t.a_scale_order = p->b_scale_order;
    t.b_scale_order = p->a_scale_order;
    t.a_scale_format = p->b_scale_format;
    t.b_scale_format = p->a_scale_format;
    t.a_scales_stride = p->b_scales_stride;
    t.b_scales_stride = p->a_scales_stride;
    t.bias = p->bias == GM_BIAS_N ? GM_BIAS_M : p->bias == GM_BIAS_M ? GM_BIAS_N : GM_BIAS_NONE;
    return t;
}

struct gm_gemm_problem gm_gemm_straight(const struct gm_gemm_problem *problem) {
    struct gm_gemm_problem p = *problem;
    if (p.gate != GM_GATE_NONE || gm_gemm_is_batch(&p))
        return p;
    straighten(&p.a_major, &p.lda, gm_operand_a(problem));
    straighten(&p.b_major, &p.ldb, gm_operand_b(problem));
    return p;
}

/* Whether the kernel asked for by name, if there is one, may take this form of a problem. */
static int suits_named(const struct gm_gemm_problem *form, const struct gm_gemm_problem *given,
                       const struct gm_plan_options *options, const struct gm_kernel *named) {
    if (!options->kernel || !named)
        return !options->kernel;
    const struct gm_gemm_variant v = gm_gemm_variant(named);
    return v.layout == gm_gemm_layout(form) && (v.batch ? form->batch == given->batch : form->batch == 1);
}

void gm_gemm_simplify(void *into, const struct gm_plan_options *options) {
    struct gm_gemm_planned *planned = into;
    const struct gm_gemm_problem given = planned->problem, folded = gm_gemm_folded(&given);
    const int is_column = gm_gemm_is_column(&folded);
    const struct gm_gemm_problem turned = is_column ? gm_gemm_transposed(&folded) : folded;
    const struct gm_gemm_planned forms[] = {
        {gm_gemm_straight(&turned), is_column}, {gm_gemm_straight(&folded), 0}, {gm_gemm_straight(&given), 0}};
    const struct gm_kernel *named = options->kernel ? gm_gemm_kernel_named(options->kernel) : NULL;
    planned->transposed = 0;
    if (options->flags & GM_PLAN_BATCH_INVARIANT) {
        if (suits_named(&folded, &given, options, named))
            planned->problem = folded;
        return;
    }
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++)
        if (suits_named(&forms[i].problem, &given, options, named)) {
            *planned = forms[i];
            return;
        }
}

int gm_copy_bytes(uint64_t base, int64_t stride_bytes, int64_t rows) {
    const uint64_t bits = base | (rows > 1 ? (uint64_t)stride_bytes : 0) | 16;
    return (int)(bits & -bits);
}
