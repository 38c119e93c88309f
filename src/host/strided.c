/* SPDX-License-Identifier: Apache-2.0 */
/* Operands of several dimensions. */
#include "host/strided.h"

#include "host/check_problem.h"
#include "host/error.h"
#include "host/text.h"

#include <inttypes.h>

static int is_empty(const struct gm_strided *s) {
    for (int i = 0; i < s->dimensions; i++)
        if (s->dimension[i].count == 0)
            return 1;
    return 0;
}

/* The dimensions of more than one index, the largest stride first; returns how many. */
static int sort(const struct gm_strided *s, struct gm_dimension sorted[GM_DIMENSIONS_MAX]) {
    int count = 0;
    for (int i = 0; i < s->dimensions; i++) {
        int at = count;
        if (s->dimension[i].count <= 1)
            continue;
        for (; at > 0 && sorted[at - 1].stride < s->dimension[i].stride; at--)
            sorted[at] = sorted[at - 1];
        sorted[at] = s->dimension[i];
        count++;
    }
    return count;
}

/* ---- strides -------------------------------------------------------------------------------------------- */

static enum gm_status fail_bytes(const struct gm_strided *s, const struct gm_dimension *d) {
    return gm_fail(GM_ERROR_INVALID_ARGUMENT, "%s_%s_stride is %" PRId64 "; %" PRId64 " of it exceed 2^63 bytes",
                   s->name, d->name, d->stride, d->count);
}

static enum gm_status fill_packed(struct gm_strided *s) {
    int64_t packed = s->columns;
    for (int i = s->dimensions - 1; i >= 0; i--) {
        struct gm_dimension *d = &s->dimension[i];
        if (d->stride == 0)
            d->stride = packed;
        if (d->stride < 0)
            return gm_fail(GM_ERROR_INVALID_ARGUMENT, "%s_%s_stride is %" PRId64 "; it must be 0 or more", s->name,
                           d->name, d->stride);
        if (__builtin_mul_overflow(d->stride, d->count > 0 ? d->count : 1, &packed))
            return fail_bytes(s, d);
    }
    return GM_OK;
}

enum gm_status gm_fill_strided(struct gm_strided *s) {
    struct gm_dimension sorted[GM_DIMENSIONS_MAX];
    char name[64];
    int64_t extent = s->columns, part, bytes;
    enum gm_status status = fill_packed(s);
    if (status != GM_OK)
        return status;
    for (int i = is_empty(s) ? -1 : sort(s, sorted) - 1; i >= 0; i--) {
        const struct gm_dimension *d = &sorted[i];
        if (d->stride < extent)
            return gm_fail(GM_ERROR_INVALID_ARGUMENT,
                           "%s_%s_stride is %" PRId64 "; what lies within it has %" PRId64 " elements", s->name,
                           d->name, d->stride, extent);
        if (__builtin_mul_overflow(d->stride, d->count - 1, &part) || __builtin_add_overflow(extent, part, &extent) ||
            __builtin_mul_overflow(extent, s->element_bytes, &bytes))
            return fail_bytes(s, d);
    }
    gm_print(name, sizeof name, "%s_align", s->name);
    return gm_fill_alignment(name, &s->align, s->element_bytes);
}

/* ---- as rows -------------------------------------------------------------------------------------------- */

struct gm_matrix gm_matrix_of(const struct gm_strided *s) {
    struct gm_matrix m = {s->name, 1, s->columns, s->columns, s->element_bytes, s->align};
    struct gm_dimension d[GM_DIMENSIONS_MAX];
    const int count = sort(s, d);
    int rows = 0;
    for (; rows < count && (rows == 0 || d[rows - 1].stride == d[rows].count * d[rows].stride); rows++) {
        m.rows *= d[rows].count;
        m.stride = d[rows].stride;
    }
    for (int i = rows; i < count; i++)
        m.columns += (d[i].count - 1) * d[i].stride;
    if (is_empty(s))
        m.rows = 0;
    return m;
}

/* ---- chunks --------------------------------------------------------------------------------------------- */

enum gm_reason gm_check_strided_vectors(const struct gm_strided *s, int vector_bytes, const struct gm_sentence *why) {
    const struct gm_matrix row = {s->name, !is_empty(s), s->columns, s->columns, s->element_bytes, s->align};
    const enum gm_reason reason = gm_check_vectors(&row, vector_bytes, why);
    for (int i = 0; i < s->dimensions && reason == GM_ACCEPTED && row.rows; i++) {
        const struct gm_dimension *d = &s->dimension[i];
        if (d->count > 1 && d->stride * s->element_bytes % vector_bytes)
            return gm_say(why, GM_REASON_STRIDE,
                          "%s_%s_stride %" PRId64 " x %d B = %" PRId64
                          " B is not a multiple of the %d that it loads at once",
                          s->name, d->name, d->stride, s->element_bytes, d->stride * s->element_bytes, vector_bytes);
    }
    return reason;
}
