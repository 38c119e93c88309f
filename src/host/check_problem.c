/* SPDX-License-Identifier: Apache-2.0 */
/* Checks of a problem's members, for any operation. */
#include "host/check_problem.h"

#include "host/error.h"

#include <inttypes.h>
#include <math.h>

enum gm_status gm_check_size(const char *name, int64_t value, int64_t least, int64_t most) {
    if (value < least || value > most)
        return gm_fail(GM_ERROR_INVALID_ARGUMENT, "%s is %" PRId64 "; it must be %" PRId64 " to %" PRId64, name, value,
                       least, most);
    return GM_OK;
}

enum gm_status gm_check_enum(const char *name, int value, int first, int last) {
    if (value < first || value > last)
        return gm_fail(GM_ERROR_INVALID_ARGUMENT, "%s is %d; known values are %d to %d", name, value, first, last);
    return GM_OK;
}

enum gm_status gm_check_real(const char *name, float value, float least) {
    if (isfinite(value) && value >= least)
        return GM_OK;
    return gm_fail(GM_ERROR_INVALID_ARGUMENT, "%s is %g; it must be finite%s", name, (double)value,
                   least == 0 ? " and 0 or more" : "");
}

enum gm_status gm_fill_stride(const char *name, int64_t *stride, int64_t rows, int64_t columns, int element_bytes) {
    if (*stride == 0)
        *stride = columns > 0 ? columns : 1;
    if (*stride < columns)
        return gm_fail(GM_ERROR_INVALID_ARGUMENT, "%s is %" PRId64 "; a row has %" PRId64 " elements", name, *stride,
                       columns);
    int64_t span = 0;
    if (__builtin_mul_overflow(*stride, rows > 0 ? rows : 1, &span) ||
        __builtin_mul_overflow(span, element_bytes, &span))
        return gm_fail(GM_ERROR_INVALID_ARGUMENT, "%s is %" PRId64 "; %" PRId64 " rows of it exceed 2^63 bytes", name,
                       *stride, rows);
    return GM_OK;
}

enum gm_status gm_fill_alignment(const char *name, int32_t *align, int element_bytes) {
    if (*align == 0)
        *align = 16;
    if (*align != 16 && *align != 8 && *align != 4 && *align != 2 && (*align != 1 || element_bytes > 1))
        return gm_fail(GM_ERROR_INVALID_ARGUMENT, "%s is %d; it must be 16 (or 0), 8, 4 %s", name, *align,
                       element_bytes > 1 ? "or 2" : "2 or 1");
    if (*align < element_bytes)
        return gm_fail(GM_ERROR_INVALID_ARGUMENT, "%s is %d; an element has %d bytes", name, *align, element_bytes);
    return GM_OK;
}
