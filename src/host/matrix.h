/* SPDX-License-Identifier: Apache-2.0 */
/* Operands that are rows of elements, as most operations beside GEMM have: what families ask of them, and what a call
 * reads or writes. Row r begins at the operand's address + r * stride elements. */
#ifndef GM_MATRIX_H
#define GM_MATRIX_H

#include "host/family.h"
#include "host/operation.h"

struct gm_matrix {
    const char *name; /* as the argument struct calls it: "x"; the problem's members are x_stride and x_align */
    int64_t rows, columns, stride;
    int element_bytes;
    int32_t align; /* bytes that the caller promises of the address */
};

/* Whether rows are whole numbers of so many bytes, and begin on multiples of that. Of one row the stride does not count. */
enum gm_reason gm_check_vectors(const struct gm_matrix *matrix, int vector_bytes, const struct gm_sentence *why);

/* What a call reads, or writes. One that has no rows is not checked. */
struct gm_range gm_range_of(const struct gm_matrix *matrix, gm_device_ptr address, int written);

/* An array of so many packed elements of so many bytes; an address of 0: there is none. */
struct gm_range gm_range_of_array(const char *name, gm_device_ptr address, int64_t count, int bytes, int written);
/* One int32_t in device memory; 0: there is none. */
struct gm_range gm_range_of_int32(const char *name, gm_device_ptr address, int written);
/* The number of rows, as all operations call it. */
struct gm_range gm_range_of_row_count(gm_device_ptr address);

/* Checks and fills in an operand's stride and alignment. */
enum gm_status gm_fill_matrix(const struct gm_matrix *matrix, int64_t *stride, int32_t *align);

/* A field of the problem's member <operand>_align, which is 32 bits wide: functions for it, and the field itself. */
#define GM_ALIGN_FUNCTIONS(problem_type, operand)                                                                      \
    static int64_t get_##operand##_align(const void *problem) {                                                        \
        return ((const struct problem_type *)problem)->operand##_align;                                                \
    }                                                                                                                  \
    static int set_##operand##_align(void *problem, int64_t bytes) {                                                   \
        ((struct problem_type *)problem)->operand##_align = (int32_t)bytes;                                            \
        return 1;                                                                                                      \
    }
#define GM_ALIGN_FIELD(operand)                                                                                        \
    {.name = #operand "_align",                                                                                        \
     .kind = GM_FIELD_SIZE,                                                                                            \
     .uses = GM_IN_OPTIONS,                                                                                            \
     .get = get_##operand##_align,                                                                                     \
     .set = set_##operand##_align,                                                                                     \
     .about = "bytes of alignment promised of " #operand ": 16 (default), 8, 4, 2"}
#define GM_STRIDE_FIELD(problem_type, operand)                                                                         \
    {.name = #operand "_stride",                                                                                       \
     .kind = GM_FIELD_SIZE,                                                                                            \
     .uses = GM_IN_OPTIONS,                                                                                            \
     .offset = offsetof(struct problem_type, operand##_stride),                                                        \
     .about = "elements from row to row (default: packed)"}

#endif
