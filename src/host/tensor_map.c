/* SPDX-License-Identifier: Apache-2.0 */
/* Tensor maps: what gm_tensor_map_explain() shows of a request, what a box delivers, and the driver's call. */
#include "host/tensor_map.h"

#include "host/structs.h"

#include <string.h>

struct gm_map_desc gm_map_desc_of(const struct gm_tensor_map_request *request) {
    struct gm_map_desc d = {.type = request->type,
                            .rank = request->rank,
                            .address = request->address,
                            .interleave = request->interleave,
                            .swizzle = (int)request->swizzle,
                            .l2_promotion = request->l2_promotion,
                            .oob_fill = request->oob_fill};
    for (unsigned i = 0; i < sizeof d.dims / sizeof *d.dims; i++) {
        d.dims[i] = request->dims[i];
        d.box[i] = request->box[i];
        d.element_strides[i] = request->element_strides[i] ? request->element_strides[i] : 1;
    }
    memcpy(d.strides, request->strides, sizeof d.strides);
    return d;
}

/* An element of the caller's array, whose first element's size is that of all. */
static void write_rule(struct gm_rule *out, size_t index, const struct gm_rule *rule) {
    struct gm_rule *to = (struct gm_rule *)((char *)out + index * out->size);
    to->size = out->size;
    GM_OUTPUT(to, rule);
}

enum gm_status gm_tensor_map_explain(const struct gm_tensor_map_request *request, struct gm_rule *out, size_t capacity,
                                     size_t *count, int *legal) {
    struct gm_tensor_map_request today;
    enum gm_status status = GM_TAKE(request, &today, "request");
    if (status == GM_OK && capacity)
        status = GM_CHECK_OUTPUT(out, "rules[0]");
    if (status != GM_OK)
        return status;
    if (!count || !legal)
        return gm_fail(GM_ERROR_INVALID_ARGUMENT, "%s is NULL", count ? "legal" : "count");
    const struct gm_map_desc desc = gm_map_desc_of(request);
    *count = gm_tensor_map_rule_count();
    *legal = 1;
    for (size_t i = 0; i < *count; i++) {
        const struct gm_rule rule = gm_tensor_map_rule(&desc, i);
        *legal &= rule.holds != 0;
        if (i < capacity)
            write_rule(out, i, &rule);
    }
    return GM_OK;
}

/* An element stride of s takes every s-th element. */
uint32_t gm_tensor_map_delivered(const struct gm_map_desc *d, unsigned dimension) {
    if (dimension == 0 && d->interleave == CU_TENSOR_MAP_INTERLEAVE_NONE)
        return d->box[0]; /* its element stride is ignored */
    return (d->box[dimension] + d->element_strides[dimension] - 1) / d->element_strides[dimension];
}

/* A swizzled row takes a whole span even when it is narrower; what lies behind it is left as it was. Measured on an
 * H200: experiment tma-narrow. */
uint32_t gm_tensor_map_row_pitch(const struct gm_map_desc *d) {
    if (d->swizzle != CU_TENSOR_MAP_SWIZZLE_NONE)
        return gm_swizzle_span_bytes((enum gm_swizzle_mode)d->swizzle);
    return gm_tensor_map_delivered(d, 0) * gm_tensor_map_element_bytes(d->type);
}

uint32_t gm_tensor_map_box_bytes(const struct gm_tensor_map_request *request) {
    struct gm_tensor_map_request today;
    if (GM_TAKE(request, &today, "request") != GM_OK)
        return 0;
    const struct gm_map_desc d = gm_map_desc_of(request);
    char sentence[sizeof((struct gm_rule *)0)->sentence];
    if (!gm_tensor_map_check(&d, sentence, sizeof sentence))
        return 0;
    uint32_t bytes = gm_tensor_map_element_bytes(d.type);
    for (unsigned i = 0; i < d.rank; i++)
        bytes *= gm_tensor_map_delivered(&d, i);
    return bytes;
}

CUresult gm_tensor_map_encode(const struct gm_driver *driver, const struct gm_map_desc *d, struct gm_tensor_map *map) {
    return driver->cuTensorMapEncodeTiled(map->bytes, d->type, d->rank, (void *)(uintptr_t)d->address, d->dims,
                                          d->strides, d->box, d->element_strides, d->interleave, d->swizzle,
                                          d->l2_promotion, d->oob_fill);
}
