/* SPDX-License-Identifier: Apache-2.0 */
/* GEMM, as the benchmark knows it. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "bench/baseline/baseline.h"
#include "bench/operation.h"
#include "bench/out.h"
#include "host/gemm/extended.h"
#include "host/types.h"
#include "program/base/messages.h"

static const struct gm_gemm_problem usual = {.size = sizeof usual};

/* ---- the matrices of a batch ----------------------------------------------------------------------------- */

/* A problem of a suite has not been normalised: a stride of 0 is packed. */
static struct gm_operand with_stride(struct gm_operand matrix) {
    if (matrix.stride == 0)
        matrix.stride = matrix.columns;
    return matrix;
}

static int64_t packed(struct gm_operand matrix) {
    return matrix.rows * with_stride(matrix).stride;
}

/* Matrices lie beside each other in common rows, such as the heads of tokens. */
static bool is_beside(struct gm_operand matrix, int64_t batch, int64_t batch_stride) {
    return batch > 1 && batch_stride > 0 && batch_stride < packed(matrix) &&
           (batch - 1) * batch_stride + matrix.columns <= with_stride(matrix).stride;
}

/* Of every matrix of A, B and D all elements; strides in suites and results are no larger than other sizes. */
static int pack(struct gm_gemm_problem *p) {
    p->a_batch_stride = packed(gm_operand_a(p));
    p->b_batch_stride = packed(gm_operand_b(p));
    p->d_batch_stride = packed(gm_operand_d(p));
    if (p->a_batch_stride <= INT32_MAX && p->b_batch_stride <= INT32_MAX && p->d_batch_stride <= INT32_MAX)
        return 0;
    return complain("a matrix of a batch has at most 2147483647 elements in the benchmark");
}

/* Without any stride of A, B and D all three are packed. C, which nobody reads, is where D is. */
static int complete(void *problem) {
    struct gm_gemm_problem *p = problem;
    if (p->pointer_arrays)
        return complain("pointer_arrays: operands of the benchmark have batch strides, not arrays of pointers");
    if (p->batch <= 1) {
        p->batch = p->a_batch_stride = p->b_batch_stride = p->c_batch_stride = p->d_batch_stride = 0;
        p->bias_batch_stride = 0;
        return 0;
    }
    if (p->a_batch_stride == 0 && p->b_batch_stride == 0 && p->d_batch_stride == 0 && pack(p) != 0)
        return -1;
    if (p->c_batch_stride == 0) {
        p->c_batch_stride = p->d_batch_stride;
        p->ldc = p->ldc ? p->ldc : p->ldd;
    }
    return 0;
}

/* How all matrices of an operand lie: rows behind each other, or beside each other in common rows, or else one row from
 * the first element to the last. */
struct extent {
    int64_t rows, columns, pitch;
};

static struct extent extent_of(struct gm_operand given, int64_t batch, int64_t batch_stride) {
    const struct gm_operand matrix = with_stride(given);
    const int64_t last = batch > 1 ? (batch - 1) * batch_stride : 0; /* first element of the last matrix */
    const int64_t end = last + (matrix.rows - 1) * matrix.stride + matrix.columns;
    if (is_beside(matrix, batch, batch_stride))
        return (struct extent){matrix.rows, matrix.columns + last, matrix.stride};
    if (last % matrix.stride == 0)
        return (struct extent){matrix.rows + last / matrix.stride, matrix.columns, matrix.stride};
    return (struct extent){1, end, end};
}

static struct extent extent_of_named(const struct gm_gemm_problem *p, char name) {
    if (name == 'A')
        return extent_of(gm_operand_a(p), p->batch, p->a_batch_stride);
    if (name == 'B')
        return extent_of(gm_operand_b(p), p->batch, p->b_batch_stride);
    return extent_of(gm_operand_d(p), p->batch, p->d_batch_stride);
}

/* The floats that scales take: room for the baseline's rows of whole fours, too. */
static int64_t scales_extent(struct gm_operand scales) {
    const int64_t stride = scales.rows == 1 ? scales.columns : with_stride(scales).stride;
    return scales.rows * ((stride + 3) / 4 * 4);
}

/* What int8's sums are scaled by. */
static int scaling_operands(const struct gm_gemm_problem *p, struct bench_operand *found) {
    const struct {
        bool any;
        struct bench_operand operand;
    } all[] = {{p->a_scales != GM_PER_NONE,
                {"a_scales", GM_FP32, 1, scales_extent(gm_operand_a_scales(p)), offsetof(struct gm_gemm_args, a_scales),
                 BENCH_READ}},
               {p->b_scales != GM_PER_NONE,
                {"b_scales", GM_FP32, 1, scales_extent(gm_operand_b_scales(p)), offsetof(struct gm_gemm_args, b_scales),
                 BENCH_READ}},
               {p->zero_points, {"a_zeros", GM_INT32, 1, p->m, offsetof(struct gm_gemm_args, a_zeros), BENCH_READ}},
               {p->zero_points, {"b_sums", GM_INT32, 1, p->n, offsetof(struct gm_gemm_args, b_sums), BENCH_READ}}};
    int count = 0;
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (all[i].any)
            found[count++] = all[i].operand;
    return count;
}

/* The residual, the largest size, and the scales of a D of 8 bits. */
static int extended_operands(const struct gm_gemm_problem *p, struct bench_operand *found) {
    const struct gm_out out = gm_gemm_out(p);
    int count = 0;
    if (p->residual)
        found[count++] = (struct bench_operand){"residual",
                                                p->residual_type,
                                                p->m,
                                                p->ldr ? p->ldr : gm_gemm_columns(p),
                                                offsetof(struct gm_gemm_args, residual),
                                                BENCH_READ};
    if (p->amax)
        found[count++] =
            (struct bench_operand){"amax", GM_FP32, 1, 1, offsetof(struct gm_gemm_args, amax), BENCH_READ_AND_WRITTEN};
    if (gm_gemm_has_8_bits(p))
        found[count++] = bench_scales(&out, offsetof(struct gm_gemm_args, d_scales),
                                      p->d_scaling == GM_SCALE_STATIC ? BENCH_READ : BENCH_WRITTEN);
    return count;
}

static int operands(const void *problem, struct bench_operand found[BENCH_OPERANDS_MAX]) {
    const struct gm_gemm_problem *p = problem;
    const struct extent a = extent_of_named(p, 'A'), b = extent_of_named(p, 'B'), d = extent_of_named(p, 'D');
    found[0] = (struct bench_operand){"A", p->ab_type, a.rows, a.columns, offsetof(struct gm_gemm_args, a), BENCH_READ};
    found[1] =
        (struct bench_operand){"B", gm_gemm_b_type(p), b.rows, b.columns, offsetof(struct gm_gemm_args, b), BENCH_READ};
    found[2] =
        (struct bench_operand){"D", p->d_type, d.rows, d.columns, offsetof(struct gm_gemm_args, d), BENCH_WRITTEN};
    const int count = 3 + scaling_operands(p, &found[3]);
    return count + extended_operands(p, &found[count]);
}

/* int8 of A and B has any bits; zeros and sums of columns are such too. */
static int64_t below(const void *problem, const struct bench_operand *operand) {
    (void)problem;
    return operand->type == GM_INT8 || operand->type == GM_INT32 ? 256 : 0;
}

static int64_t pitch(const void *problem, const struct bench_operand *operand) {
    return operand->name[1] ? operand->columns : extent_of_named(problem, operand->name[0]).pitch;
}

/* ---- results and words ----------------------------------------------------------------------------------- */

/* Both results round a sum of K products of N(0,1) values, added in different orders and, where the baseline splits K,
 * perhaps rounded twice: they may differ by a few units in the last place of D's type, and near zero by a small share of
 * the sum's spread, sqrt(K). */
static struct bench_tolerance tolerance(const void *problem, const struct bench_operand *operand) {
    const struct gm_gemm_problem *p = problem;
    const double spread = sqrt((double)p->k);
    const double k = p->gate ? spread * spread * spread * spread : (double)p->k; /* a gate multiplies two sums */
    if (p->ab_type == GM_TF32) /* one may round what it multiplies, and the other cut it off */
        return (struct bench_tolerance){.relative = 0x1p-9, .absolute = sqrt(k) * 0x1p-8};
    if (gm_gemm_is_of_fp8(p) && p->fast_accumulation) /* sums of some 14 bits, of either or both */
        return (struct bench_tolerance){.relative = 0x1p-4, .absolute = k * 0x1p-9};
    if (gm_gemm_has_8_bits(p)) /* of two roundings there, or one */
        return bench_out_tolerance(operand, p->ab_type == GM_FP16 ? 0x1p-11 : 0x1p-8);
    const bool is_bf16 = operand->type == GM_BF16, is_fp16 = operand->type == GM_FP16;
    return (struct bench_tolerance){
        .relative = is_bf16   ? 0x1p-6
                    : is_fp16 ? 0x1p-9
                              : 0x1p-12,
        .absolute = sqrt(k) * (is_bf16   ? 0x1p-7
                               : is_fp16 ? 0x1p-10
                                         : 0x1p-12),
    };
}

static bool is_square(const void *problem) {
    const struct gm_gemm_problem *p = problem;
    return p->m == p->n && p->n == p->k;
}

/* Appends "64 matrices, one B, A and D in common rows". */
static void print_batch(const struct gm_gemm_problem *p, char *text, size_t bytes) {
    const int64_t strides[] = {p->a_batch_stride, p->b_batch_stride, p->d_batch_stride};
    const struct gm_operand matrices[] = {gm_operand_a(p), gm_operand_b(p), gm_operand_d(p)};
    char one[16] = "", beside[32] = "";
    for (int i = 0; i < 3; i++) {
        char *of = strides[i] == 0 ? one : beside;
        if (strides[i] == 0 || is_beside(matrices[i], p->batch, strides[i]))
            snprintf(of + strlen(of), 10, "%s%c", of[0] ? " and " : "", "ABD"[i]);
    }
    snprintf(text, bytes, ", %" PRId64 " matrices%s%s%s%s%s", p->batch, one[0] ? ", one " : "", one,
             beside[0] ? ", " : "", beside, beside[0] ? " in common rows" : "");
}

static void words(const void *problem, char *text, size_t bytes) {
    const struct gm_gemm_problem *p = problem;
    static const char *const gates[] = {"", ", gate of halves", ", gate of pairs"};
    static const char *const scalings[] = {"", "", " by row", " by group"};
    const bool other_type = p->d_type != p->ab_type, has_8_bits = gm_gemm_has_8_bits(p);
    const bool is_pair = gm_gemm_b_type(p) != p->ab_type;
    snprintf(text, bytes, "%s%s%s%s %s%s%s%s%s%s%s", gm_type_name(p->ab_type), is_pair ? " × " : "",
             is_pair ? gm_type_name(p->b_type) : "", p->fast_accumulation ? " fast" : "",
             gm_gemm_layout_name(gm_gemm_layout(p)), other_type ? " → " : "", other_type ? gm_type_name(p->d_type) : "",
             has_8_bits ? scalings[p->d_scaling & 3] : "", gates[p->gate], p->residual ? ", residual" : "",
             p->amax ? ", amax" : "");
    const size_t used = strlen(text);
    if (p->batch > 1)
        print_batch(p, text + used, bytes - used);
}

static void generalise(void *problem) {
    ((struct gm_gemm_problem *)problem)->activation = GM_ACT_SILU;
}

static const struct bench_regime regimes[] = {
    {"M ≤ 64", 1, 64}, {"64 < M ≤ 512", 65, 512}, {"M > 512", 513, INT64_MAX}};
static const struct baseline_kind *const baselines[] = {&baseline_cublaslt, NULL};

const struct bench_operation gemm_bench = {
    .operation = &gm_operation_gemm,
    .usual = &usual,
    .out = "d",
    .complete = complete,
    .operands = operands,
    .pitch = pitch,
    .below = below,
    .workspace = offsetof(struct gm_gemm_args, workspace),
    .workspace_bytes = offsetof(struct gm_gemm_args, workspace_bytes),
    .tolerance = tolerance,
    .baselines = baselines,
    .regimes = regimes,
    .regime_count = sizeof regimes / sizeof *regimes,
    .words = words,
    .is_special = is_square,
    .special = "squares, M = N = K",
    .generalise = generalise,
};
