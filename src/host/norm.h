/* SPDX-License-Identifier: Apache-2.0 */
/* Families that normalise rows: which problems their variants take and how long these should take, and what a launch is
 * told. Their registries have the same columns, their kernels the same parameters. */
#ifndef GM_HOST_NORM_H
#define GM_HOST_NORM_H

#include "host/family.h"
#include "host/matrix.h"
#include "host/out.h"
#include "host/plan.h"

/* Where the columns are, in every one of these families. */
enum {
    GM_NORM_THREADS,
    GM_NORM_ROW_THREADS,
    GM_NORM_VECTORS,
    GM_NORM_VECTOR_BYTES,
    GM_NORM_PASSES,
    GM_NORM_MAKES,
    GM_NORM_COLUMNS,
};

/* What these families ask of a problem. */
struct gm_norm {
    int64_t rows, columns;
    enum gm_type type;
    enum gm_residual residual;
    int fp32_weight;
    enum gm_rounding sum_rounding, normalized_rounding, norm_rounding;
    const struct gm_out *out;
    float eps, weight_offset;
    int64_t x_stride, residual_stride, out_stride;
    int64_t heads, x_head_stride, out_head_stride;
    int reductions;                   /* of a norm of a row, one after the other */
    const struct gm_matrix *matrices; /* in the order in which they are judged */
    int matrix_count;
};

struct gm_verdict gm_norm_judge(const struct gm_kernel *kernel, const struct gm_question *question,
                                const struct gm_norm *norm, const struct gm_sentence *why);
/* Fills in the launch's grid and all parameters but the addresses. */
void gm_norm_prepare(struct gm_plan *plan, const struct gm_verdict *verdict, const struct gm_norm *norm);
/* Whether only variants with any out make it: out is of another type, or a norm is followed by a residual. */
int gm_norm_needs_any(const struct gm_norm *norm);
/* Least bytes of a row, of x, residual and out. */
double gm_norm_row_bytes(const struct gm_norm *norm);

/* What the table says of a variant beside its columns. */
#define GM_NORM_FACTS(arch, threads_, row_threads, vectors)                                                            \
    .traits = (arch) == GM_ARCH_SM90 ? GM_TRAIT_OVERLAPS_LAUNCHES : 0, .threads = (threads_),                          \
    .smem_bytes = GM_NORM_SMEM_BYTES(row_threads, vectors), .cluster_ctas = 1

#endif
