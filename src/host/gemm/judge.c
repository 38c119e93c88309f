/* SPDX-License-Identifier: Apache-2.0 */
/* Judges the kernels of all GEMM families against a problem. */
#include "host/gemm/judge.h"

#include "common/gemm/tokens.h"
#include "host/gemm/variant.h"
#include "host/occupancy.h"
#include "host/text.h"

#include <inttypes.h>

#define TILES_LIMIT     (INT64_C(1) << 30) /* tiles are numbered with 32 bits */
#define DIVIDED_MARGIN  1.02               /* on what a division is predicted to take: the model knows it less well, */
#define DIVIDED_MORE_US 0.8                /* and short ones take longer than it thinks */

static int64_t at_once(const struct gm_gemm_inquiry *q) {
    return gm_clusters_at_once(q->variant->kernel, q->question->device);
}

/* ---- what every family checks ------------------------------------------------------------------------- */

/* Tiles of all matrices; more than 2^30 as 2^30 + 1. */
static int64_t limited_tiles(const struct gm_gemm_inquiry *q) {
    const int64_t tiles_m = gm_tiles_m(q->variant, q->problem), tiles_n = gm_tiles_n(q->variant, q->problem);
    const int too_many = tiles_m > 0 && tiles_n > 0 &&
                         (tiles_n > TILES_LIMIT / tiles_m || q->problem->batch > TILES_LIMIT / (tiles_m * tiles_n));
    return too_many ? TILES_LIMIT + 1 : gm_tiles(q->variant, q->problem);
}

/* One product, or a batch of them, or their pointers. */
static enum gm_reason check_batch(const struct gm_gemm_inquiry *q) {
    const int is_batch = gm_gemm_is_batch(q->problem);
    if (!q->variant->batch && is_batch)
        return gm_say(q->why, GM_REASON_BATCH, "computes one product; the problem is a batch of %" PRId64,
                      q->problem->batch);
    if (q->variant->batch && !is_batch && !q->question->options->kernel)
        return gm_say(q->why, GM_REASON_BATCH,
                      "finds the matrices of a batch; the problem is one product, which it takes by name");
    return GM_ACCEPTED;
}

/* Packing turns operands of types that wgmma takes K-major alone. */
static enum gm_reason refuse_layout(const struct gm_gemm_inquiry *q, int layout) {
    const int is_turned = gm_needs_k_major(q->problem) && q->variant->layout == GM_LAYOUT_tn;
    return gm_say(q->why, GM_REASON_LAYOUT, "takes layout %s; the problem%s is %s%s",
                  gm_gemm_layout_name(q->variant->layout), q->transposed ? ", transposed," : "",
                  gm_gemm_layout_name(layout),
                  is_turned ? ", which gm_gemm_pack() turns once, and a workspace_limit in every call" : "");
}

static enum gm_reason check_tiles(const struct gm_gemm_inquiry *q) {
    const int layout = gm_gemm_layout(q->problem);
    if (q->variant->split_k && q->question->options->sm_budget > 0 && limited_tiles(q) > at_once(q))
        return gm_say(q->why, GM_REASON_SMS,
                      "every tile has a CTA of its own, and the SM budget is for %" PRId64 " at once", at_once(q));
    if (q->variant->layout != layout)
        return refuse_layout(q, layout);
    if (q->variant->gate != (q->problem->gate != GM_GATE_NONE))
        return gm_say(q->why, GM_REASON_EPILOGUE, "%s",
                      q->variant->gate ? "makes D of gates and ups; the problem has none"
                      : q->problem->batch > 1
                          ? "makes D of every column of A B; no kernel has a gate for batches that are not one product"
                          : "makes D of every column of A B; the problem has a gate, which kernels with a g "
                            "in their name take, or this one and a GLU behind it, with a workspace_limit");
    if (!q->variant->sum_scales != !gm_has_scales_of_sums(q->problem))
        return gm_say(q->why, GM_REASON_EPILOGUE, "%s",
                      q->variant->sum_scales ? "scales the sums of each 128 of K; the problem has no such scales"
                                             : "has no scales of each 128 of K; kernels with an x in their name have");
    if (q->variant->extended != gm_gemm_is_extended(q->problem))
        return gm_say(q->why, GM_REASON_EPILOGUE, "%s",
                      q->variant->extended
                          ? "has an extended epilogue; the problem has none"
                          : "has no extended epilogue (scales, c_type, residual, amax, D of 8 bits); kernels with an e "
                            "in their name have one, and for scales of rows a workspace_limit allows a quantiser");
    if (limited_tiles(q) > TILES_LIMIT)
        return gm_say(q->why, GM_REASON_SIZE,
                      "%" PRId64 " x %" PRId64 " tiles of %" PRId64 " matrices are more than 2^30",
                      gm_tiles_m(q->variant, q->problem), gm_tiles_n(q->variant, q->problem), q->problem->batch);
    return check_batch(q);
}

/* All kernels of gemm_sm90 that take no part of K from each other add up the same 16 products after the same 16, and so
 * do all of gemm_sm80 without warp-k. */
static enum gm_reason check_order(const struct gm_gemm_inquiry *q) {
    const struct gm_gemm_variant *v = q->variant;
    if (!gm_is_batch_invariant(q->question))
        return GM_ACCEPTED;
    if (v->cluster_k > 1)
        return gm_say(q->why, GM_REASON_ORDER, "%d CTAs share the K of a tile; a batch-invariant plan sums it in one",
                      v->cluster_k);
    if (v->warp_k > 1)
        return gm_say(q->why, GM_REASON_ORDER, "%d warps share the K of a tile; a batch-invariant plan sums it in one",
                      v->warp_k);
    if (v->split_k)
        return gm_say(q->why, GM_REASON_ORDER, "its CTAs share the K of a tile; a batch-invariant plan sums it in one");
    return GM_ACCEPTED;
}

/* ---- TMA ------------------------------------------------------------------------------------------------ */

/* An operand with one row is never stepped, so its stride does not matter; but a batch-invariant plan answers for any
 * number of rows. */
static enum gm_reason check_tma_operand(const struct gm_gemm_inquiry *q, const char *letter, struct gm_operand operand,
                                        int align) {
    const int64_t bytes = operand.stride * operand.element_bytes;
    const int64_t step = GM_TMA_ALIGN / operand.element_bytes;
    const int steps = operand.rows > 1 || gm_is_batch_invariant(q->question);
    if (steps && bytes % GM_TMA_ALIGN)
        return gm_say(q->why, GM_REASON_STRIDE,
                      "ld%s %" PRId64 " x %d B = %" PRId64
                      " B is not a multiple of 16: TMA needs it; pad ld%s to %" PRId64 ", or an sm80 kernel takes it",
                      letter, operand.stride, operand.element_bytes, bytes, letter,
                      (operand.stride + step - 1) / step * step);
    if (steps && bytes >= GM_TMA_STRIDE_LIMIT)
        return gm_say(q->why, GM_REASON_SIZE,
                      "ld%s %" PRId64 " x %d B = %" PRId64
                      " B is not under 2^40: TMA cannot step it; an sm80 kernel takes it",
                      letter, operand.stride, operand.element_bytes, bytes);
    if (align < GM_TMA_ALIGN)
        return gm_say(q->why, GM_REASON_ALIGNMENT,
                      "%s_align promises %d bytes: TMA needs 16; align the pointer to 16 and say so, "
                      "or an sm80 kernel takes it",
                      letter, align);
    return GM_ACCEPTED;
}

/* The step from a matrix to the next. */
static enum gm_reason check_tma_batch(const struct gm_gemm_inquiry *q, const char *letter, int64_t stride,
                                      int element_bytes) {
    const int64_t bytes = stride * element_bytes;
    if (bytes % GM_TMA_ALIGN)
        return gm_say(q->why, GM_REASON_STRIDE,
                      "%s_batch_stride %" PRId64 " x %d B = %" PRId64
                      " B is not a multiple of 16: TMA needs it, or an sm80 kernel takes it",
                      letter, stride, element_bytes, bytes);
    if (bytes >= GM_TMA_STRIDE_LIMIT)
        return gm_say(q->why, GM_REASON_SIZE,
                      "%s_batch_stride %" PRId64 " x %d B = %" PRId64
                      " B is not under 2^40: TMA cannot step it; an sm80 kernel takes it",
                      letter, stride, element_bytes, bytes);
    return GM_ACCEPTED;
}

static enum gm_reason check_tma_batches(const struct gm_gemm_inquiry *q) {
    const int bytes = gm_type_bytes(q->problem->ab_type);
    if (q->problem->pointer_arrays)
        return gm_say(q->why, GM_REASON_BATCH,
                      "the matrices are in pointer_arrays: TMA knows one base; an sm80 kernel takes them");
    const enum gm_reason reason = check_tma_batch(q, "a", q->problem->a_batch_stride, bytes);
    return reason == GM_ACCEPTED ? check_tma_batch(q, "b", q->problem->b_batch_stride, bytes) : reason;
}

enum gm_reason gm_gemm_check_tma(const struct gm_gemm_inquiry *q) {
    const struct gm_gemm_problem *p = q->problem;
    if (gm_needs_k_major(p) && gm_gemm_layout(p) != GM_LAYOUT_tn)
        return gm_say(q->why, GM_REASON_LAYOUT, "wgmma takes %s K-major only", gm_type_name(p->ab_type));
    if (p->k == 0)
        return gm_say(q->why, GM_REASON_EMPTY_K, "K = 0 leaves TMA nothing to describe; an sm80 kernel takes it");
    enum gm_reason reason = check_tma_batches(q);
    if (reason == GM_ACCEPTED)
        reason = check_tma_operand(q, q->transposed ? "b" : "a", gm_operand_a(p), p->a_align);
    if (reason != GM_ACCEPTED)
        return reason;
    return check_tma_operand(q, q->transposed ? "a" : "b", gm_operand_b(p), p->b_align);
}

int gm_gemm_tma_may_load(const struct gm_gemm_inquiry *q) {
    struct gm_gemm_inquiry silent = *q;
    const uint32_t mask = q->question->options->arch_mask;
    const struct gm_device *device = q->question->device;
    silent.why = NULL;
    return (!mask || mask & GM_ARCH_SM90) && device->cc_major == 9 && device->cc_minor == 0 &&
           gm_gemm_check_tma(&silent) == GM_ACCEPTED;
}

/* ---- the division ---------------------------------------------------------------------------------------- */

static size_t workspace_limit(const struct gm_gemm_inquiry *q) {
    return gm_is_batch_invariant(q->question) ? 0 : q->question->options->workspace_limit;
}

static enum gm_reason refuse_division(const struct gm_gemm_inquiry *q) {
    char suffix[16];
    return gm_say(q->why, GM_REASON_DIVISION,
                  "its tiles cannot be divided as %s%s says: %" PRId64 " x %" PRId64 " tiles, %" PRId64
                  " at once, %zu bytes of workspace allowed",
                  q->variant->kernel->name, gm_division_suffix(q->question->division, suffix),
                  gm_tiles_m(q->variant, q->problem), gm_tiles_n(q->variant, q->problem), at_once(q),
                  workspace_limit(q));
}

static enum gm_reason refuse_whole(const struct gm_gemm_inquiry *q) {
    return gm_say(q->why, GM_REASON_DIVISION,
                  "made to cut tiles into pieces, which does not pay here, or not in %zu bytes of workspace; %" PRId64
                  " x %" PRId64 " tiles, %" PRId64 " at once",
                  workspace_limit(q), gm_tiles_m(q->variant, q->problem), gm_tiles_n(q->variant, q->problem),
                  at_once(q));
}

static enum gm_reason divide(const struct gm_gemm_inquiry *q, struct gm_gemm_division *d) {
    const int wanted = q->question->division;
    *d = (struct gm_gemm_division){0};
    if (q->problem->m > 0 && q->problem->n > 0)
        *d = gm_divide(q->variant, q->problem, q->question->device, workspace_limit(q), wanted);
    if (wanted != GM_DIVISION_BEST && wanted != gm_division_number(d))
        return refuse_division(q);
    if (!q->question->options->kernel && q->variant->split_k && d->pieces == 0)
        return refuse_whole(q);
    return GM_ACCEPTED;
}

/* "..., 132 at once; 116 of them divided by k-blocks among 132 CTAs, in 17302560 bytes of workspace", or "... divided
 * by k-blocks, 3 pieces each, among ..." */
static void describe_division(const struct gm_gemm_inquiry *q, const struct gm_gemm_division *d, char *text,
                              size_t bytes) {
    const int64_t tiles = gm_tiles(q->variant, q->problem);
    char pieces[48] = "";
    if (d->pieces > 0)
        gm_print(pieces, sizeof pieces, ", %" PRId64 " pieces each,", d->pieces);
    if (d->shares > 0)
        gm_print(text, bytes,
                 "; %" PRId64 " of them divided by k-blocks%s among %" PRId64 " CTAs, in %zu bytes of workspace",
                 tiles - d->whole, pieces, d->shares, d->workspace_bytes);
}

/* ---- the verdict ----------------------------------------------------------------------------------------- */

static struct gm_verdict accept(const struct gm_gemm_inquiry *q, const struct gm_gemm_division *d) {
    char divided[176] = "", matrices[48] = "";
    if (gm_is_wanted(q->why))
        describe_division(q, d, divided, sizeof divided);
    if (gm_is_wanted(q->why) && q->problem->batch > 1)
        gm_print(matrices, sizeof matrices, "%" PRId64 " matrices of ", q->problem->batch);
    gm_say(q->why, GM_ACCEPTED, "predicted %.2f us: %s%" PRId64 " x %" PRId64 " tiles%s, %" PRId64 " at once%s",
           d->predicted_us, matrices, gm_tiles_m(q->variant, q->problem), gm_tiles_n(q->variant, q->problem),
           q->transposed ? " of D^T = B^T A^T" : "", at_once(q), divided);
    const struct gm_gemm_family *family = gm_gemm_family_of(q->variant->kernel);
    const double us = d->predicted_us * (family->margin ? family->margin(q) : 1);
    return (struct gm_verdict){
        .reason = GM_ACCEPTED,
        .predicted_us = d->predicted_us,
        .ranking_us = d->shares > 0 ? us * DIVIDED_MARGIN + DIVIDED_MORE_US : us,
        .workspace_bytes = d->workspace_bytes,
        .division = gm_division_number(d),
        .detail = {d->whole, d->shares, d->pieces},
    };
}

struct gm_verdict gm_gemm_judge(const struct gm_kernel *kernel, const struct gm_question *question,
                                const struct gm_sentence *why) {
    const struct gm_gemm_planned *planned = question->problem;
    const struct gm_gemm_variant v = gm_gemm_variant(kernel);
    const struct gm_gemm_inquiry q = {&v, question, &planned->problem, planned->transposed, why};
    struct gm_gemm_division d;
    enum gm_reason reason = check_tiles(&q);
    if (reason == GM_ACCEPTED)
        reason = gm_gemm_family_of(kernel)->check(&q);
    if (reason == GM_ACCEPTED)
        reason = check_order(&q);
    if (reason == GM_ACCEPTED)
        reason = divide(&q, &d);
    return reason == GM_ACCEPTED ? accept(&q, &d) : (struct gm_verdict){.reason = reason};
}

struct gm_gemm_division gm_gemm_division_of(const struct gm_verdict *verdict) {
    return (struct gm_gemm_division){
        .whole = verdict->detail[0],
        .shares = verdict->detail[1],
        .pieces = verdict->detail[2],
        .workspace_bytes = verdict->workspace_bytes,
        .predicted_us = verdict->predicted_us,
    };
}
