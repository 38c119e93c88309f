/* SPDX-License-Identifier: Apache-2.0 */
/* Checks the pointers of one execute against its plan. */
#include "arguments.h"

#include "choose.h"
#include "common/stream_k.h"
#include "error.h"

#include <inttypes.h>
#include <string.h>

/* An operand at its address. */
struct placed {
    const char *name;
    gm_device_ptr address;
    struct gm_operand operand;
    int used;       /* 0: this call neither reads nor writes it */
    int32_t align;  /* what the plan was promised, or the type's own alignment */
};

enum { A, B, C, BIAS, D, OPERANDS };

static void place(const gm_plan *plan, const struct gm_gemm_args *args, float beta, struct placed placed[OPERANDS]) {
    const struct gm_gemm_problem *p = &plan->problem;
    const int bias_bytes = gm_type_bytes(p->bias_type);
    const int64_t bias_elems = p->bias == GM_BIAS_M ? p->m : p->n;
    const struct gm_operand c = gm_operand_c(p);
    placed[A] = (struct placed){"a", args->a, gm_operand_a(p), p->k > 0, p->a_align};
    placed[B] = (struct placed){"b", args->b, gm_operand_b(p), p->k > 0, p->b_align};
    placed[C] = (struct placed){"c", args->c, c, beta != 0, c.element_bytes};
    placed[BIAS] = (struct placed){"bias", args->bias, {1, bias_elems, bias_elems, bias_bytes},
                                   p->bias != GM_BIAS_NONE, bias_bytes};
    placed[D] = (struct placed){"d", args->d, gm_operand_d(p), 1, p->d_align};
}

/* What the caller calls it: of a transposed problem A is the caller's B, and the reverse. */
static const char *name_of(const gm_plan *plan, const struct placed *x) {
    const int is_a = strcmp(x->name, "a") == 0, is_b = strcmp(x->name, "b") == 0;
    if (!(plan->flags & GM_PLAN_TRANSPOSED) || !(is_a || is_b))
        return x->name;
    return is_a ? "b" : "a";
}

static enum gm_status check_pointer(const gm_plan *plan, const struct placed *x) {
    if (!x->used)
        return GM_OK;
    if (!x->address)
        return gm_fail(GM_ERROR_INVALID_ARGUMENT, "%s is NULL", name_of(plan, x));
    if (x->address % (uint64_t)x->align)
        return gm_fail(GM_ERROR_MISALIGNED, "%s is 0x%" PRIx64 ", not a multiple of %d bytes%s", name_of(plan, x),
                       x->address, x->align,
                       x->align > x->operand.element_bytes ? ": the plan was promised that; plan with a smaller align"
                                                           : ", its element's size");
    if ((uint64_t)gm_operand_bytes(&x->operand) > UINT64_MAX - x->address)
        return gm_fail(GM_ERROR_INVALID_ARGUMENT, "%s at 0x%" PRIx64 " with %" PRId64 " bytes passes 2^64",
                       name_of(plan, x), x->address, gm_operand_bytes(&x->operand));
    return GM_OK;
}

/* Whether two operands share a byte. Rows of equal pitch may interleave without touching (two column ranges of one
 * matrix); otherwise the ranges from first to last byte decide. */
static int overlap(const struct placed *x, const struct placed *y) {
    const uint64_t x_bytes = (uint64_t)gm_operand_bytes(&x->operand), y_bytes = (uint64_t)gm_operand_bytes(&y->operand);
    if (x->address + x_bytes <= y->address || y->address + y_bytes <= x->address)
        return 0;
    const uint64_t pitch = (uint64_t)(x->operand.stride * x->operand.element_bytes);
    if (pitch != (uint64_t)(y->operand.stride * y->operand.element_bytes))
        return 1;
    const struct placed *low = x->address <= y->address ? x : y, *high = low == x ? y : x;
    const uint64_t offset = (high->address - low->address) % pitch;
    return offset < (uint64_t)(low->operand.columns * low->operand.element_bytes) ||
           offset + (uint64_t)(high->operand.columns * high->operand.element_bytes) > pitch;
}

static enum gm_status check_overlap(const gm_plan *plan, const struct placed *x, const struct placed *d) {
    if (!x->used || !overlap(x, d))
        return GM_OK;
    const int in_place = x->name[0] == 'c' && x->address == d->address && x->operand.stride == d->operand.stride;
    if (in_place)
        return GM_OK;
    return gm_fail(GM_ERROR_OVERLAP,
                   "d (0x%" PRIx64 ", %" PRId64 " bytes) overlaps %s (0x%" PRIx64 ", %" PRId64 " bytes)%s", d->address,
                   gm_operand_bytes(&d->operand), name_of(plan, x), x->address, gm_operand_bytes(&x->operand),
                   x->name[0] == 'c' ? "; only c = d with ldc = ldd may" : "");
}

/* The kernel writes it, so it is apart from all operands. */
static enum gm_status check_workspace(const gm_plan *plan, const struct gm_gemm_args *args,
                                      const struct placed placed[OPERANDS]) {
    const uint64_t begin = args->workspace, bytes = plan->workspace_bytes;
    if (bytes == 0)
        return GM_OK;
    if (!begin || args->workspace_bytes < bytes)
        return gm_fail(GM_ERROR_WORKSPACE, "the workspace has %zu bytes at 0x%" PRIx64 "; the plan needs %zu",
                       args->workspace_bytes, begin, plan->workspace_bytes);
    if (begin % GM_STREAM_K_ALIGN)
        return gm_fail(GM_ERROR_MISALIGNED, "the workspace is at 0x%" PRIx64 ", not a multiple of %d bytes", begin,
                       GM_STREAM_K_ALIGN);
    if (bytes > UINT64_MAX - begin)
        return gm_fail(GM_ERROR_INVALID_ARGUMENT, "the workspace at 0x%" PRIx64 " with %" PRIu64 " bytes passes 2^64",
                       begin, bytes);
    for (const struct placed *x = placed; x < placed + OPERANDS; x++)
        if (x->used && x->address < begin + bytes && begin < x->address + (uint64_t)gm_operand_bytes(&x->operand))
            return gm_fail(GM_ERROR_OVERLAP,
                           "the workspace (0x%" PRIx64 ", %" PRIu64 " bytes) overlaps %s (0x%" PRIx64 ", %" PRId64
                           " bytes)",
                           begin, bytes, name_of(plan, x), x->address, gm_operand_bytes(&x->operand));
    return GM_OK;
}

enum gm_status gm_arguments_check(const gm_plan *plan, const struct gm_gemm_args *args, float beta) {
    struct placed placed[OPERANDS];
    place(plan, args, beta, placed);
    enum gm_status status = GM_OK;
    for (int i = 0; i < OPERANDS && status == GM_OK; i++)
        status = check_pointer(plan, &placed[i]);
    for (int i = 0; i < D && status == GM_OK; i++)
        status = check_overlap(plan, &placed[i], &placed[D]);
    return status == GM_OK ? check_workspace(plan, args, placed) : status;
}
