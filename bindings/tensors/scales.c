/* SPDX-License-Identifier: Apache-2.0 */
#include "scales.h"

int64_t scales_spans(int64_t elements) {
    return (elements + SCALES_SPAN - 1) / SCALES_SPAN;
}

bool scales_fit_rows(const struct tensor *scales, const struct tensor *x, int64_t last) {
    bool fit = scales->rank == x->rank && scales->size[scales->rank - 1] == last;
    for (int i = 0; fit && i < x->rank - 1; i++) {
        fit = scales->size[i] == x->size[i];
    }
    return fit;
}

bool scales_of_rows(struct call *call, const char *name, const struct tensor *scales) {
    return tensor_is_contiguous(scales) ||
           call_fail(call, GM_ERROR_INVALID_ARGUMENT,
                     "%s has scales of rows that are no neighbours: contiguous() puts them side by side", name);
}

bool scales_of_grid(struct call *call, const char *name, const struct tensor *scales, enum gm_scale_order *order,
                    int64_t *stride) {
    const int last = scales->rank - 1;
    struct leading rows;
    if (!tensor_leading(scales, last, &rows)) {
        return call_fail(call, GM_ERROR_INVALID_ARGUMENT,
                         "the first dimensions of %s do not lie one stride apart: contiguous() puts them so", name);
    }
    if (tensor_is_dense_last(scales)) {
        *order = GM_SCALES_BY_ROW;
        *stride = leading_stride(rows);
        return true;
    }
    *order = GM_SCALES_BY_COLUMN;
    *stride = scales->stride[last];
    return leading_stride(rows) <= 1 ||
           call_fail(call, GM_ERROR_INVALID_ARGUMENT, "%s has strides %lld and %lld and one must be 1", name,
                     (long long)rows.stride, (long long)scales->stride[last]);
}
