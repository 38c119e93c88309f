/* SPDX-License-Identifier: Apache-2.0 */
/* A GEMM problem: validation, defaults, the extents of its operands, and the equal problems that more kernels take. */
#ifndef GM_GEMM_PROBLEM_H
#define GM_GEMM_PROBLEM_H

#include "gristmill/gemm.h"
#include "gristmill/glu.h"
#include "gristmill/quantize.h"
#include "host/out.h"
#include "host/types.h"

/* The types of A and B. */
#define GM_GEMM_OPERANDS                                                                                               \
    (GM_TYPE_SET(GM_BF16) | GM_TYPE_SET(GM_FP16) | GM_TYPE_SET(GM_FP32) | GM_TYPE_SET(GM_E4M3) |                       \
     GM_TYPE_SET(GM_E5M2) | GM_TYPE_SET(GM_INT8) | GM_TYPE_SET(GM_TF32) | GM_TYPE_SET(GM_TF32X3))

/* What is planned. */
struct gm_gemm_planned {
    struct gm_gemm_problem problem; /* first: fields are read from it */
    int transposed; /* the problem is D^T = B^T A^T: what the caller calls A is its B, and the reverse */
};

/* Checks a problem of today's size and fills in every default (strides, alignments). */
enum gm_status gm_gemm_normalize(void *problem);

/* The normalised problem as the planner looks at it, into `planned`, which begins with it. An operand of one column
 * whose elements are neighbours is a row as well: then it is taken for one, so that kernels which load rows do not step
 * from element to element. A D of one column is taken for a row of D^T = B^T A^T before, see gm_gemm_is_column(). But
 * not for a batch-invariant plan, which answers for every M alike, nor for a kernel asked for by name that does not
 * take the layout that comes of it. */
void gm_gemm_simplify(void *planned, const struct gm_plan_options *options);

/* C and D are one column whose elements are neighbours, so gm_gemm_transposed() has them as one row, and a K-major
 * operand stays K-major. Kernels that store rows then do not step from element to element. Not where A is MN-major and
 * loaded element by element: a tile of A has fewer rows than one of B, which would take 2.4 times as long. */
int gm_gemm_is_column(const struct gm_gemm_problem *problem);
struct gm_gemm_problem gm_gemm_transposed(const struct gm_gemm_problem *column);
/* Operands of one column whose elements are neighbours taken for rows. Kernels with a gate are of K-major operands, so
 * not beside one. */
struct gm_gemm_problem gm_gemm_straight(const struct gm_gemm_problem *problem);

/* A batch that is one product of more rows, or of more columns, as that; any other as it is. B is one for all and the rows
 * of A, C and D go on from matrix to matrix, or the same of columns. */
struct gm_gemm_problem gm_gemm_folded(const struct gm_gemm_problem *problem);

/* More than one product, or one whose matrices have to be looked up. Of any other, and of pointer arrays, all batch strides
 * of A, B, C and D are 0 in a normalised problem. */
static inline int gm_gemm_is_batch(const struct gm_gemm_problem *problem) {
    return problem->batch > 1 || problem->pointer_arrays;
}
/* The matrices of an operand that differ: those of the batch, or one for all. */
static inline int64_t gm_gemm_matrices(const struct gm_gemm_problem *problem, int64_t batch_stride) {
    return problem->batch > 1 && (problem->pointer_arrays || batch_stride > 0) ? problem->batch : 1;
}

/* Of D and C: a gate makes one of two columns of A B. */
static inline int64_t gm_gemm_columns(const struct gm_gemm_problem *problem) {
    return problem->gate == GM_GATE_NONE ? problem->n : problem->n / 2;
}

/* A and B are floats of 8 bits, each of its type. */
static inline int gm_gemm_is_of_fp8(const struct gm_gemm_problem *problem) {
    return GM_TYPE_IS_FP8(problem->ab_type);
}
static inline enum gm_type gm_gemm_b_type(const struct gm_gemm_problem *problem) {
    return problem->has_b_type ? problem->b_type : problem->ab_type;
}
/* Whether A and B may have these types: one for both, or e4m3 and e5m2. */
static inline int gm_gemm_is_pair(enum gm_type a, enum gm_type b) {
    return a == b ? a != GM_E5M2 : GM_TYPE_IS_FP8(a) && GM_TYPE_IS_FP8(b);
}
/* The type of kernels: those of e5m2 take one operand of it, and one of e4m3. */
static inline enum gm_type gm_gemm_kernel_type(const struct gm_gemm_problem *problem) {
    return gm_gemm_b_type(problem) == problem->ab_type ? problem->ab_type : GM_E5M2;
}
/* A and B are quantised: scales of theirs belong to every epilogue. */
static inline int gm_gemm_is_of_8_bits(const struct gm_gemm_problem *problem) {
    return problem->ab_type == GM_INT8 || gm_gemm_is_of_fp8(problem);
}
static inline int gm_gemm_is_scaled(const struct gm_gemm_problem *problem) {
    return problem->a_scales != GM_PER_NONE || problem->b_scales != GM_PER_NONE;
}
/* A scale is of each 128 of K, and not of an operand's rows alone. */
static inline int gm_has_scales_of_sums(const struct gm_gemm_problem *problem) {
    return problem->a_scales >= GM_PER_GROUP || problem->b_scales >= GM_PER_GROUP;
}
/* D is more than copies of sums of 8-bit operands. */
static inline int gm_gemm_dequantizes(const struct gm_gemm_problem *problem) {
    return problem->ab_type == GM_INT8  ? problem->d_type != GM_INT32
           : gm_gemm_is_of_fp8(problem) ? problem->d_type != GM_FP32 || gm_gemm_is_scaled(problem)
                                        : 0;
}
/* D is quantised. */
static inline int gm_gemm_has_8_bits(const struct gm_gemm_problem *problem) {
    return problem->d_type >= GM_E4M3 && problem->d_type <= GM_INT8;
}
/* What a D of 8 bits is quantised from, where it is stored between, and C's type where nothing is said: A's, or of 8 bits fp32;
 * of any other D its own type. */
static inline enum gm_type gm_gemm_type_before(const struct gm_gemm_problem *problem) {
    if (!gm_gemm_has_8_bits(problem))
        return problem->d_type;
    return gm_gemm_is_of_8_bits(problem) ? GM_FP32 : problem->ab_type;
}
/* What kernels with an extended epilogue take, of a normalised problem. Scales of operands of 8 bits are no part of it. */
static inline int gm_gemm_is_extended(const struct gm_gemm_problem *problem) {
    return gm_gemm_has_8_bits(problem) || problem->residual || problem->amax ||
           (problem->has_c_type && problem->c_type != problem->d_type) ||
           (gm_gemm_is_scaled(problem) && !gm_gemm_is_of_8_bits(problem));
}

/* GM_LAYOUT_x, and "tn" */
int gm_gemm_layout(const struct gm_gemm_problem *problem);
const char *gm_gemm_layout_name(int layout);
extern const char *const gm_gemm_layout_names[]; /* NULL behind the last */

/* An operand as it lies in memory: `rows` rows of `columns` contiguous elements, `stride` elements apart. */
struct gm_operand {
    int64_t rows, columns, stride;
    int element_bytes;
};
struct gm_operand gm_operand_a(const struct gm_gemm_problem *problem);
struct gm_operand gm_operand_b(const struct gm_gemm_problem *problem);
struct gm_operand gm_operand_c(const struct gm_gemm_problem *problem);
struct gm_operand gm_operand_d(const struct gm_gemm_problem *problem);
/* A and B as a quantiser has made them, M or N rows of K columns; without scales as with one. */
struct gm_out gm_gemm_quantised_a(const struct gm_gemm_problem *problem);
struct gm_out gm_gemm_quantised_b(const struct gm_gemm_problem *problem);
/* Their scales, in rows as they lie in memory. */
struct gm_operand gm_operand_a_scales(const struct gm_gemm_problem *problem);
struct gm_operand gm_operand_b_scales(const struct gm_gemm_problem *problem);
/* Checks scales of each 128 of K and fills in how they lie; of others that is nothing. */
enum gm_status gm_gemm_check_scales_of_sums(struct gm_gemm_problem *problem);
/* From the first byte to the last: (rows - 1) * stride + columns elements; 0 when empty. */
int64_t gm_operand_bytes(const struct gm_operand *operand);

/* Bytes of one load or copy of an operand, 16, 8, 4 or 2, from what base and stride are multiples of. */
int gm_copy_bytes(uint64_t base, int64_t stride_bytes, int64_t rows);

/* wgmma takes operands of 16 bits alone as they lie; of these types, those that are MN-major are turned before. */
static inline int gm_needs_k_major(const struct gm_gemm_problem *problem) {
    return problem->ab_type == GM_TF32 || problem->ab_type == GM_TF32X3 || gm_gemm_is_of_8_bits(problem);
}

/* D is more than alpha A B + beta C, and so more than a tile's plain store. Kernels with a gate or an extended epilogue
 * have all of theirs done before they store. */
static inline int gm_has_general_epilogue(const struct gm_gemm_problem *problem) {
    if (problem->gate != GM_GATE_NONE || gm_gemm_is_extended(problem))
        return 0;
    return problem->bias != GM_BIAS_NONE || problem->activation != GM_ACT_NONE || gm_gemm_dequantizes(problem);
}

#define GM_TMA_ALIGN        16 /* bytes: of a row's stride, and of what a pointer must be a multiple of */
#define GM_TMA_STRIDE_LIMIT (INT64_C(1) << 40) /* bytes */

/* An operand's rows begin on 16 bytes, as TMA and vectors need it. One row is never stepped. */
static inline int gm_is_aligned(struct gm_operand operand, int align) {
    return align >= GM_TMA_ALIGN && (operand.rows <= 1 || operand.stride * operand.element_bytes % GM_TMA_ALIGN == 0);
}

/* D is stored in vectors, or by TMA. */
static inline int gm_has_vectors_of_d(const struct gm_gemm_problem *problem) {
    return gm_is_aligned(gm_operand_d(problem), problem->d_align) &&
           problem->d_batch_stride * gm_type_bytes(problem->d_type) % GM_TMA_ALIGN == 0;
}

/* TMA clips D's rows to whole 16-byte chunks only, so it would write beyond a ragged N. */
static inline int gm_may_tma_store(const struct gm_gemm_problem *problem) {
    const int bytes = gm_type_bytes(problem->d_type);
    return gm_gemm_columns(problem) * bytes % 16 == 0 && gm_has_vectors_of_d(problem) &&
           (problem->m <= 1 || problem->ldd * bytes < GM_TMA_STRIDE_LIMIT) &&
           problem->d_batch_stride * bytes < GM_TMA_STRIDE_LIMIT;
}

/* Tiles of D, while beta is 0, go from the accumulators to memory by TMA with nothing asked of a column. */
static inline int gm_has_plain_store(const struct gm_gemm_problem *problem) {
    return !gm_has_general_epilogue(problem) && gm_may_tma_store(problem);
}

/* The same of sums scaled by rows and columns, of int8 into 16 bits, of fp8 into 16 bits or fp32. */
static inline int gm_has_scaled_store(const struct gm_gemm_problem *problem) {
    return gm_gemm_dequantizes(problem) && (gm_type_bytes(problem->d_type) == 2 || gm_gemm_is_of_fp8(problem)) &&
           problem->gate == GM_GATE_NONE && !gm_gemm_is_extended(problem) && problem->bias == GM_BIAS_NONE &&
           problem->activation == GM_ACT_NONE && !problem->zero_points && gm_may_tma_store(problem);
}

/* sequence.c: GEMM of operands that are copied before, or with a GLU behind it. */
extern const struct gm_sequences gm_gemm_sequences;

/* sequence.c: the GLU that makes D, of a problem with a gate, of sums A B in rows `pitch` elements apart; and its call, which
 * leaves D and d_scales of `args`. The quantiser that does of a D of 8 bits without one. */
struct gm_glu_problem gm_gemm_unit(const struct gm_gemm_problem *gated, int64_t pitch);
struct gm_glu_args gm_gemm_unit_args(const struct gm_glu_problem *unit, gm_device_ptr sums,
                                     const struct gm_gemm_args *args);
struct gm_quantize_problem gm_gemm_quantizer(const struct gm_gemm_problem *problem, int64_t pitch);
struct gm_quantize_args gm_gemm_quantizer_args(gm_device_ptr sums, const struct gm_gemm_args *args);

#define GM_STREAM_MOST 64 /* of the lesser of M and N */

/* One operand passes by the other, which is small: memory sets the pace, not the tensor cores. */
static inline int gm_is_streamed(const struct gm_gemm_problem *problem) {
    return problem->m <= GM_STREAM_MOST || problem->n <= GM_STREAM_MOST;
}

#endif
