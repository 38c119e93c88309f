/* SPDX-License-Identifier: Apache-2.0 */
/* Operands that are rows of elements. */
#include "host/matrix.h"

#include "host/check_problem.h"
#include "host/text.h"

#include <inttypes.h>

enum gm_reason gm_check_vectors(const struct gm_matrix *matrix, int vector_bytes, const struct gm_sentence *why) {
    const char *const name = matrix->name;
    const int64_t row = matrix->columns * matrix->element_bytes, pitch = matrix->stride * matrix->element_bytes;
    if (matrix->rows == 0)
        return GM_ACCEPTED;
    if (row % vector_bytes)
        return gm_say(why, GM_REASON_SIZE,
                      "%s has %" PRId64 " columns x %d B = %" PRId64
                      " B, which is not a multiple of the %d that it loads at once",
                      name, matrix->columns, matrix->element_bytes, row, vector_bytes);
    if (matrix->align < vector_bytes)
        return gm_say(
            why, GM_REASON_ALIGNMENT,
            "%s_align promises %d bytes: it loads %d at once; align the pointer to that and say so, or a kernel "
            "of single elements takes it",
            name, matrix->align, vector_bytes);
    if (matrix->rows > 1 && pitch % vector_bytes)
        return gm_say(why, GM_REASON_STRIDE,
                      "%s_stride %" PRId64 " x %d B = %" PRId64 " B is not a multiple of the %d that it loads at once",
                      name, matrix->stride, matrix->element_bytes, pitch, vector_bytes);
    return GM_ACCEPTED;
}

struct gm_range gm_range_of(const struct gm_matrix *matrix, gm_device_ptr address, int written) {
    return (struct gm_range){.name = matrix->name,
                             .address = address,
                             .rows = matrix->rows,
                             .row_bytes = matrix->columns * matrix->element_bytes,
                             .pitch_bytes = matrix->stride * matrix->element_bytes,
                             .align = matrix->align,
                             .element_bytes = matrix->element_bytes,
                             .written = written,
                             .may_equal = -1};
}

struct gm_range gm_range_of_array(const char *name, gm_device_ptr address, int64_t count, int bytes, int written) {
    const struct gm_matrix array = {name, address != 0, count, count, bytes, bytes};
    return gm_range_of(&array, address, written);
}

struct gm_range gm_range_of_int32(const char *name, gm_device_ptr address, int written) {
    return gm_range_of_array(name, address, 1, sizeof(int32_t), written);
}

struct gm_range gm_range_of_row_count(gm_device_ptr address) {
    return gm_range_of_int32("row_count", address, 0);
}

enum gm_status gm_fill_matrix(const struct gm_matrix *matrix, int64_t *stride, int32_t *align) {
    char name[64];
    gm_print(name, sizeof name, "%s_stride", matrix->name);
    const enum gm_status status = gm_fill_stride(name, stride, matrix->rows, matrix->columns, matrix->element_bytes);
    if (status != GM_OK)
        return status;
    gm_print(name, sizeof name, "%s_align", matrix->name);
    return gm_fill_alignment(name, align, matrix->element_bytes);
}
