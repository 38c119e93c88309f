/* SPDX-License-Identifier: Apache-2.0 */
/* Parameters of the reduction kernels, for host and device. */
#ifndef GM_REDUCE_PARAMS_H
#define GM_REDUCE_PARAMS_H

#include "common/divide.h"
#include "common/fixed_width.h"

/* Values of enum gm_reduce_along. */
enum { REDUCE_COLUMNS = 0, REDUCE_ROWS = 1, REDUCE_ALL = 2 };

/* What is kept of elements on the way: a sum of them or of their squares, the largest, or where that is. */
enum { REDUCE_SUMS = 0, REDUCE_SQUARES = 1, REDUCE_LARGEST = 2, REDUCE_PLACE = 3 };
/* What becomes of a sum in the end. */
enum { REDUCE_AS_IT_IS = 0, REDUCE_MEAN = 1, REDUCE_ROOT = 2 };
/* What a result is stored as. */
enum { REDUCE_TO_TYPE = 0, REDUCE_TO_FP32 = 1, REDUCE_TO_INT32 = 2, REDUCE_TO_INT64 = 3 };

struct gm_reduce_params {
    uint64_t x, out, row_count; /* addresses */
    uint64_t slots, flags;      /* in the workspace: one for each CTA, where there are parts */
    uint64_t ready;             /* a flag of this value says that its slot is full */
    int64_t pitch;              /* bytes from one row of x to the next */
    int64_t part_size;          /* of each part: rows; of all elements chunks */
    int32_t rows, columns;
    int32_t along, keeps, finish, stored_as;
    int32_t group;               /* threads side by side: those of a row; along rows those beside each other on one */
    int32_t group_shift;         /* its binary logarithm */
    int32_t parts;               /* into which the elements of a result are cut, a CTA each */
    int32_t is_packed;           /* of all elements: x is one row */
    int32_t chunks;              /* of a row */
    struct gm_divisor by_chunks; /* divides by that, */
    struct gm_divisor by_parts;  /* and by the parts */
    float sign;                  /* -1: the least is looked for, as the largest of the negated */
};

/* CTAs on an SM: 64 KB and more of x are under way on it. */
#define GM_REDUCE_CTAS(threads) (1024 / (threads))

/* Bytes of a slot: a value and an index for each of so many columns, or of one result of all elements. */
#define GM_REDUCE_STRIP_BYTES(chunk) ((chunk) == 1 ? 16 : 8 * (chunk))
#define GM_REDUCE_TOTAL_BYTES        16
#define GM_REDUCE_FLAG_BYTES         8

#ifndef __CUDACC__
_Static_assert(sizeof(struct gm_reduce_params) == 136, "host and device agree");
#endif

#endif
