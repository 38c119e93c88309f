/* SPDX-License-Identifier: Apache-2.0 */
/* Checks the ranges of one call, and its workspace. */
#include "host/check_args.h"

#include "host/error.h"
#include "host/text.h"

#include <inttypes.h>

/* From the first byte to the last. */
static uint64_t span(const struct gm_range *r) {
    if (r->rows == 0 || r->row_bytes == 0)
        return 0;
    return (uint64_t)((r->rows - 1) * r->pitch_bytes + r->row_bytes);
}

static enum gm_status check_address(const struct gm_range *r) {
    if (span(r) == 0)
        return GM_OK;
    if (!r->address)
        return gm_fail(GM_ERROR_INVALID_ARGUMENT, "%s is NULL", r->name);
    if (r->address & (uint64_t)(r->align - 1))
        return gm_fail(GM_ERROR_MISALIGNED, "%s is 0x%" PRIx64 ", not a multiple of %d bytes%s", r->name, r->address,
                       r->align,
                       r->align > r->element_bytes ? ": the plan was promised that; plan with a smaller align"
                                                   : ", its element's size");
    if (span(r) > UINT64_MAX - r->address)
        return gm_fail(GM_ERROR_INVALID_ARGUMENT, "%s at 0x%" PRIx64 " with %" PRIu64 " bytes passes 2^64", r->name,
                       r->address, span(r));
    return GM_OK;
}

/* Whether two ranges share a byte. Rows of equal pitch may interleave without touching (two column ranges of one
 * matrix); otherwise the ranges from first to last byte decide. */
static int overlap(const struct gm_range *x, const struct gm_range *y) {
    const uint64_t x_bytes = span(x), y_bytes = span(y);
    if (x_bytes == 0 || y_bytes == 0 || x->address + x_bytes <= y->address || y->address + y_bytes <= x->address)
        return 0;
    const uint64_t pitch = (uint64_t)x->pitch_bytes;
    if (x->pitch_bytes != y->pitch_bytes || pitch == 0)
        return 1;
    const struct gm_range *low = x->address <= y->address ? x : y, *high = low == x ? y : x;
    const uint64_t offset = (high->address - low->address) % pitch;
    return offset < (uint64_t)low->row_bytes || offset + (uint64_t)high->row_bytes > pitch;
}

/* A range that is written shares no byte with another, unless both are declared to be able to be the same. */
static enum gm_status check_pair(const struct gm_range *ranges, int written, int other) {
    const struct gm_range *w = &ranges[written], *x = &ranges[other];
    if (!overlap(x, w))
        return GM_OK;
    const int may_equal = w->may_equal == other || x->may_equal == written;
    if (may_equal && w->address == x->address && w->rows == x->rows && w->pitch_bytes == x->pitch_bytes &&
        w->row_bytes == x->row_bytes)
        return GM_OK;
    char hint[80] = "";
    if (may_equal)
        gm_print(hint, sizeof hint, "; only %s = %s with the same rows and row stride may", x->name, w->name);
    return gm_fail(GM_ERROR_OVERLAP,
                   "%s (0x%" PRIx64 ", %" PRIu64 " bytes) overlaps %s (0x%" PRIx64 ", %" PRIu64 " bytes)%s", w->name,
                   w->address, span(w), x->name, x->address, span(x), hint);
}

/* Kernels write the workspace, so it is apart from all ranges. */
static enum gm_status check_workspace(const struct gm_range *ranges, int count, const struct gm_workspace *w) {
    if (w->needed == 0)
        return GM_OK;
    if (!w->address || w->bytes < w->needed)
        return gm_fail(GM_ERROR_WORKSPACE, "the workspace has %zu bytes at 0x%" PRIx64 "; the plan needs %zu", w->bytes,
                       w->address, w->needed);
    if (w->address % GM_WORKSPACE_ALIGN)
        return gm_fail(GM_ERROR_MISALIGNED, "the workspace is at 0x%" PRIx64 ", not a multiple of %d bytes", w->address,
                       GM_WORKSPACE_ALIGN);
    if (w->needed > UINT64_MAX - w->address)
        return gm_fail(GM_ERROR_INVALID_ARGUMENT, "the workspace at 0x%" PRIx64 " with %zu bytes passes 2^64",
                       w->address, w->needed);
    for (const struct gm_range *x = ranges; x < ranges + count; x++)
        if (span(x) > 0 && x->address < w->address + w->needed && w->address < x->address + span(x))
            return gm_fail(GM_ERROR_OVERLAP,
                           "the workspace (0x%" PRIx64 ", %zu bytes) overlaps %s (0x%" PRIx64 ", %" PRIu64 " bytes)",
                           w->address, w->needed, x->name, x->address, span(x));
    return GM_OK;
}

enum gm_status gm_check_args(const struct gm_range *ranges, int count, const struct gm_workspace *workspace) {
    enum gm_status status = GM_OK;
    for (int i = 0; i < count && status == GM_OK; i++)
        status = check_address(&ranges[i]);
    for (int i = 0; i < count && status == GM_OK; i++) {
        if (!ranges[i].written)
            continue;
        for (int j = 0; j < count && status == GM_OK; j++)
            if (j != i && (j < i || !ranges[j].written)) /* a pair of two that are written, once */
                status = check_pair(ranges, i, j);
    }
    return status == GM_OK ? check_workspace(ranges, count, workspace) : status;
}
