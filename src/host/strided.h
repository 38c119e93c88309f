/* SPDX-License-Identifier: Apache-2.0 */
/* Operands of several dimensions, whose innermost one is contiguous: tokens x heads of head_dim elements, or pages x
 * tokens x heads of them. Element i of index (x, y, z) is at x * stride_x + y * stride_y + z * stride_z + i. */
#ifndef GM_STRIDED_H
#define GM_STRIDED_H

#include "host/matrix.h"

#define GM_DIMENSIONS_MAX 3

struct gm_dimension {
    const char *name; /* "head": the problem's member is q_head_stride, of an operand called q */
    int64_t count, stride;
};

struct gm_strided {
    const char *name;                                 /* as the argument struct calls it */
    struct gm_dimension dimension[GM_DIMENSIONS_MAX]; /* the outermost of a packed operand first */
    int dimensions;
    int64_t columns; /* elements that lie beside each other */
    int element_bytes;
    int32_t align; /* bytes that the caller promises of the address */
};

/* Checks strides and alignment and fills in those that are 0: packed, and 16. Strides are refused where two elements
 * may share an address: of two dimensions, one's stride is at least the other's extent. What is empty has no extent. */
enum gm_status gm_fill_strided(struct gm_strided *strided);

/* The operand as rows for gm_range_of(): its outer dimensions are the rows, as far as one follows the other evenly, and
 * a row holds all else. No rows where a dimension is empty. */
struct gm_matrix gm_matrix_of(const struct gm_strided *strided);

/* gm_check_vectors() of every dimension. One whose count is 1 does not count. */
enum gm_reason gm_check_strided_vectors(const struct gm_strided *strided, int vector_bytes,
                                        const struct gm_sentence *why);

#endif
