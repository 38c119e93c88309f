/* SPDX-License-Identifier: Apache-2.0 */
/* Makes of a permutation the simplest one that moves the same bytes, and says what accesses reach its elements. */
#include "host/permute/permute.h"

#include "host/types.h"

#include <inttypes.h>

enum { RANK = GM_PERMUTE_RANK };

/* ---- dimensions ----------------------------------------------------------------------------------------- */

struct dimension {
    int64_t extent, x_stride, out_stride; /* elements */
};

struct dimensions {
    struct dimension d[RANK]; /* the largest stride of out first */
    int count;
};

/* Those with extents above 1, sorted. */
static struct dimensions dimensions_of(const struct gm_permute_problem *p) {
    struct dimensions found = {.count = 0};
    for (int k = 0; k < p->rank; k++) {
        const struct dimension d = {gm_permute_extent(p, k), gm_permute_x_stride(p, k), p->out_strides[k]};
        if (d.extent == 1)
            continue;
        int at = found.count++;
        for (; at > 0 && found.d[at - 1].out_stride < d.out_stride; at--)
            found.d[at] = found.d[at - 1];
        found.d[at] = d;
    }
    return found;
}

/* Two that follow each other without a gap on both sides are one. */
static void merge(struct dimensions *all) {
    int count = 0;
    for (int k = 0; k < all->count; k++) {
        const struct dimension *inner = &all->d[k];
        struct dimension *outer = count ? &all->d[count - 1] : NULL;
        if (outer && outer->x_stride == inner->extent * inner->x_stride &&
            outer->out_stride == inner->extent * inner->out_stride && outer->extent <= INT32_MAX / inner->extent)
            *outer = (struct dimension){outer->extent * inner->extent, inner->x_stride, inner->out_stride};
        else
            all->d[count++] = *inner;
    }
    all->count = count;
}

/* ---- elements ------------------------------------------------------------------------------------------- */

static int64_t multiple_of(int64_t value, int64_t unit) {
    return value % unit == 0;
}

/* How many neighbouring elements always stay neighbours, aligned to their bytes: a power of 2, up to 16 bytes of them. */
static int joined_elements(const struct dimensions *all, const struct gm_permute_problem *p) {
    const struct dimension *inner = all->count ? &all->d[all->count - 1] : NULL;
    const int bytes = p->element_bytes, align = p->x_align < p->out_align ? p->x_align : p->out_align;
    int elements = 1;
    if (!inner || inner->x_stride != 1 || inner->out_stride != 1)
        return 1;
    while (2 * elements * bytes <= align && multiple_of(inner->extent, 2 * elements)) {
        for (int k = 0; k < all->count - 1; k++)
            if (!multiple_of(all->d[k].x_stride, 2 * elements) || !multiple_of(all->d[k].out_stride, 2 * elements))
                return elements;
        elements *= 2;
    }
    return elements;
}

static void join(struct dimensions *all, int elements) {
    for (int k = 0; k < all->count - 1; k++) {
        all->d[k].x_stride /= elements;
        all->d[k].out_stride /= elements;
    }
    if (all->count && (all->d[all->count - 1].extent /= elements) == 1)
        all->count--;
}

/* The type that kernels of so many bytes have in the table. */
static enum gm_type carrier(int bytes) {
    return bytes == 1 ? GM_UINT8 : bytes == 2 ? GM_BF16 : bytes == 4 ? GM_FP32 : GM_INT64;
}

/* ---- the problem ---------------------------------------------------------------------------------------- */

/* x's dimensions are out's, sorted by x's strides. */
static void write_dimensions(struct gm_permute_problem *p, struct dimensions *all) {
    int by_x[RANK];
    if (all->count == 0)
        all->d[all->count++] = (struct dimension){1, 1, 1};
    for (int k = 0; k < all->count; k++) {
        int at = k;
        for (; at > 0 && all->d[by_x[at - 1]].x_stride < all->d[k].x_stride; at--)
            by_x[at] = by_x[at - 1];
        by_x[at] = k;
    }
    p->rank = all->count;
    for (int d = 0; d < RANK; d++) {
        const int exists = d < all->count;
        p->extents[d] = exists ? all->d[by_x[d]].extent : 1;
        p->x_strides[d] = exists ? all->d[by_x[d]].x_stride : 0;
        p->out_strides[d] = exists ? all->d[d].out_stride : 0;
        p->order[d] = 0;
    }
    for (int d = 0; d < all->count; d++)
        p->order[by_x[d]] = d;
}

void gm_permute_simplify(void *problem, const struct gm_plan_options *options) {
    struct gm_permute_planned *planned = problem;
    struct gm_permute_problem *p = &planned->problem;
    (void)options;
    planned->caller_bytes = gm_permute_x_bytes(p);
    planned->from = planned->to = GM_BF16;
    if (p->element_bytes == 0 && p->type == p->out_type)
        p->element_bytes = gm_permute_x_bytes(p);
    if (p->element_bytes == 0) {
        planned->from = p->type;
        planned->to = p->out_type;
    }
    for (int d = 0; d < p->rank; d++)
        if (p->extents[d] == 0)
            return;
    struct dimensions all = dimensions_of(p);
    merge(&all);
    if (p->element_bytes) {
        const int elements = joined_elements(&all, p);
        join(&all, elements);
        p->element_bytes *= elements;
    }
    write_dimensions(p, &all);
    p->type = carrier(gm_permute_x_bytes(p));
    p->out_type = carrier(gm_permute_out_bytes(p));
}

/* ---- what accesses reach -------------------------------------------------------------------------------- */

int gm_permute_x_innermost(const struct gm_permute_problem *p) {
    for (int k = (int)p->rank - 1; k >= 0; k--)
        if (gm_permute_x_stride(p, k) == 1)
            return k;
    return -1;
}

enum gm_reason gm_permute_check_bytes(const struct gm_permute_problem *p, int x_bytes, int out_bytes,
                                      const struct gm_sentence *why) {
    if (gm_permute_x_bytes(p) == x_bytes && gm_permute_out_bytes(p) == out_bytes)
        return GM_ACCEPTED;
    return gm_say(why, GM_REASON_TYPE, "reads elements of %d B and writes %d B; what stays together here has %d and %d",
                  x_bytes, out_bytes, gm_permute_x_bytes(p), gm_permute_out_bytes(p));
}

/* One side of a problem, by out's dimensions; accesses are along one of them. */
struct side {
    const char *name;
    int64_t stride[RANK];
    int along, bytes;
    int32_t align;
};

static enum gm_reason check_side(const struct gm_permute_problem *p, const struct side *s, int elements,
                                 const struct gm_sentence *why) {
    const int access = elements * s->bytes;
    const int64_t row = gm_permute_extent(p, s->along);
    if (s->stride[s->along] != 1)
        return gm_say(why, GM_REASON_LAYOUT,
                      "a stride of %s is %" PRId64 " elements, where it accesses %d neighbours at once", s->name,
                      s->stride[s->along], elements);
    if (s->align < 16)
        return gm_say(why, GM_REASON_ALIGNMENT,
                      "%s_align promises %d bytes: it accesses 16 at once; align the pointer to that and say so, or a "
                      "kernel of single elements takes it",
                      s->name, s->align);
    if (row % elements)
        return gm_say(why, GM_REASON_SIZE,
                      "%s has rows of %" PRId64 " x %d B, which are no multiples of the %d B that it accesses at once",
                      s->name, row, s->bytes, access);
    for (int k = 0; k < p->rank; k++)
        if (k != s->along && s->stride[k] * s->bytes % 16)
            return gm_say(why, GM_REASON_STRIDE,
                          "a stride of %s, %" PRId64 " x %d B, is no multiple of the 16 B that it accesses at once",
                          s->name, s->stride[k], s->bytes);
    return GM_ACCEPTED;
}

enum gm_reason gm_permute_check_x(const struct gm_permute_problem *p, int along, int elements,
                                  const struct gm_sentence *why) {
    struct side s = {.name = "x", .along = along, .bytes = gm_permute_x_bytes(p), .align = p->x_align};
    for (int k = 0; k < p->rank; k++)
        s.stride[k] = gm_permute_x_stride(p, k);
    return elements == 1 ? GM_ACCEPTED : check_side(p, &s, elements, why);
}

enum gm_reason gm_permute_check_out(const struct gm_permute_problem *p, int elements, const struct gm_sentence *why) {
    struct side s = {.name = "out", .along = (int)p->rank - 1, .bytes = gm_permute_out_bytes(p), .align = p->out_align};
    for (int k = 0; k < p->rank; k++)
        s.stride[k] = p->out_strides[k];
    return elements == 1 ? GM_ACCEPTED : check_side(p, &s, elements, why);
}

/* ---- a walk --------------------------------------------------------------------------------------------- */

struct gm_permute_walk gm_permute_walk_of(const struct gm_permute_problem *p, const int *dimensions, int count) {
    struct gm_permute_walk walk = {.rank = count > 0 ? count : 1};
    for (int i = 0; i < RANK; i++) {
        const int exists = i < count, k = exists ? dimensions[i] : 0;
        walk.extent[i] = gm_divisor_of(exists ? (uint32_t)gm_permute_extent(p, k) : 1);
        walk.x_pitch[i] = exists ? gm_permute_x_stride(p, k) * gm_permute_x_bytes(p) : 0;
        walk.out_pitch[i] = exists ? p->out_strides[k] * gm_permute_out_bytes(p) : 0;
    }
    return walk;
}
