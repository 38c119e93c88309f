/* SPDX-License-Identifier: Apache-2.0 */
/* A GEMM problem: validation, defaults, and the extents of its operands. */
#ifndef GM_PROBLEM_H
#define GM_PROBLEM_H

#include "gristmill/gristmill.h"

/* Checks `in` and writes it to `out` with every default filled in (strides, alignments). `out` is not touched
 * when the problem is refused. */
enum gm_status gm_problem_normalize(const struct gm_gemm_problem *in, struct gm_gemm_problem *out);

/* An operand of one column whose elements are neighbours is a row as well: the normalised problem with such operands taken
 * for rows, so that kernels which load rows do not step from element to element. */
struct gm_gemm_problem gm_problem_straight(const struct gm_gemm_problem *problem);

/* C and D are one column whose elements are neighbours, so gm_problem_transposed() has them as one row: D^T = B^T A^T,
 * in which a K-major operand stays K-major. Kernels that store rows then do not step from element to element. Not where
 * A is MN-major and loaded element by element: a tile of A has fewer rows than one of B, which would take 2.4 times as
 * long. */
int gm_problem_is_column(const struct gm_gemm_problem *problem);
struct gm_gemm_problem gm_problem_transposed(const struct gm_gemm_problem *column);

int gm_type_bytes(enum gm_type type);
const char *gm_type_name(enum gm_type type);   /* "bf16" */
const char *gm_layout_name(int layout);        /* "tn", of a GM_LAYOUT_x */
int gm_problem_layout(const struct gm_gemm_problem *problem);

/* An operand as it lies in memory: `rows` rows of `columns` contiguous elements, `stride` elements apart. */
struct gm_operand {
    int64_t rows, columns, stride;
    int element_bytes;
};
struct gm_operand gm_operand_a(const struct gm_gemm_problem *problem);
struct gm_operand gm_operand_b(const struct gm_gemm_problem *problem);
struct gm_operand gm_operand_c(const struct gm_gemm_problem *problem);
struct gm_operand gm_operand_d(const struct gm_gemm_problem *problem);
/* From the first byte to the last: (rows - 1) * stride + columns elements; 0 when empty. */
int64_t gm_operand_bytes(const struct gm_operand *operand);

/* D is more than alpha A B + beta C. */
static inline int gm_has_general_epilogue(const struct gm_gemm_problem *problem) {
    return problem->bias != GM_BIAS_NONE || problem->activation != GM_ACT_NONE;
}

/* Tiles of D, while beta is 0, go from the accumulators to memory by TMA with nothing asked of a column. TMA clips D's
 * rows to whole 16-byte chunks only, so it would write beyond a ragged N. */
static inline int gm_has_plain_store(const struct gm_gemm_problem *problem) {
    return !gm_has_general_epilogue(problem) && problem->n * gm_type_bytes(problem->d_type) % 16 == 0;
}

#define GM_STREAM_MOST 64 /* of the lesser of M and N */

/* One operand passes by the other, which is small: memory sets the pace, not the tensor cores. */
static inline int gm_is_streamed(const struct gm_gemm_problem *problem) {
    return problem->m <= GM_STREAM_MOST || problem->n <= GM_STREAM_MOST;
}

#endif
