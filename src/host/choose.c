/* SPDX-License-Identifier: Apache-2.0 */
/* Judges rows against a problem and a device, and chooses among those accepted. */
#include "choose.h"

#include "cost.h"
#include "error.h"
#include "problem.h"
#include "structs.h"
#include "text.h"

#include <inttypes.h>
#include <stdarg.h>
#include <string.h>

#define KNOWN_FLAGS                                                                                                    \
    (GM_PLAN_MODEL_ONLY | GM_PLAN_PLAIN_LAUNCH | GM_PLAN_NO_OVERLAP | GM_PLAN_CONSTANT_B | GM_PLAN_BATCH_INVARIANT)
#define TMA_ALIGN        16
#define TMA_STRIDE_LIMIT (INT64_C(1) << 40)
#define TILES_LIMIT      (INT64_C(1) << 30) /* tiles are numbered with 32 bits */
#define DIVIDED_MARGIN   1.02               /* on what a division is predicted to take: the model knows it less well, */
#define DIVIDED_MORE_US  0.8                /* and short ones take longer than it thinks */
#define OLDER_MARGIN     1.25               /* on sm80's gemm rows where TMA's run too: 1.15 was the least they took */
#define GEMV_MOST_M      8    /* rows of A: beyond, a gemv row reads B more often than tensor cores wait for it */
#define NEIGHBOUR_LIMIT  1.05 /* of the least predicted time: beyond, what the neighbouring M took is not trusted */

struct inquiry {
    const struct gm_kernel *row;
    const struct gm_device *device;
    const struct gm_gemm_problem *problem;
    const struct gm_plan_options *options;
    int kind;       /* of division */
    char *sentence; /* NULL: nobody asks */
    size_t bytes;
};

__attribute__((format(printf, 3, 4))) static enum gm_reason say(const struct inquiry *q, enum gm_reason reason,
                                                                const char *format, ...) {
    if (!q->sentence)
        return reason;
    va_list arguments;
    va_start(arguments, format);
    gm_format(q->sentence, q->bytes, format, arguments);
    va_end(arguments);
    return reason;
}

/* What the caller calls the planned problem's A, or B. */
static const char *letter_of(const struct inquiry *q, int is_b) {
    return is_b != gm_is_transposed(q->options) ? "b" : "a";
}

static const char *arch_name(enum gm_arch arch) {
    return arch == GM_ARCH_SM90 ? "sm90" : "sm80";
}

static int fits_at_once(const struct inquiry *q) {
    const int64_t tiles_m = gm_tiles_m(q->row, q->problem), tiles_n = gm_tiles_n(q->row, q->problem);
    const int64_t at_once = gm_clusters_at_once(q->row, q->device);
    return tiles_n == 0 || tiles_m <= at_once / tiles_n;
}

static enum gm_reason check_device(const struct inquiry *q) {
    const struct gm_kernel *row = q->row;
    const struct gm_device *device = q->device;
    if (q->options && q->options->arch_mask && !(q->options->arch_mask & row->arch))
        return say(q, GM_REASON_MASKED, "%s is not in the arch mask 0x%x", arch_name(row->arch), q->options->arch_mask);
    if (!gm_kernel_runs_on(row, device->cc_major, device->cc_minor))
        return say(q, GM_REASON_NO_IMAGE, "its image (%s) does not run on compute capability %d.%d", row->targets,
                   device->cc_major, device->cc_minor);
    if (row->smem_bytes > device->smem_per_block_bytes)
        return say(q, GM_REASON_SMEM, "needs %d bytes of shared memory per block; the device allows %d",
                   row->smem_bytes, device->smem_per_block_bytes);
    if (gm_reduces(row) && q->options && q->options->sm_budget > 0 && !fits_at_once(q))
        return say(q, GM_REASON_SMS, "every tile has a CTA of its own, and the SM budget is for %" PRId64 " at once",
                   gm_clusters_at_once(row, device));
    if (gm_cluster_size(row) > device->sm_count)
        return say(q, GM_REASON_SMS, "its clusters have %d CTAs, one on an SM each; it may occupy %d SMs",
                   gm_cluster_size(row), device->sm_count);
    return GM_ACCEPTED;
}

static enum gm_reason check_operands(const struct inquiry *q) {
    const struct gm_kernel *row = q->row;
    const int layout = gm_problem_layout(q->problem);
    if (row->type != (int)q->problem->ab_type)
        return say(q, GM_REASON_TYPE, "multiplies %s; the problem is %s", gm_type_name((enum gm_type)row->type),
                   gm_type_name(q->problem->ab_type));
    if (row->layout != layout)
        return say(q, GM_REASON_LAYOUT, "takes layout %s; the problem%s is %s", gm_layout_name(row->layout),
                   gm_is_transposed(q->options) ? ", transposed," : "", gm_layout_name(layout));
    if (row->family == GM_FAMILY_gemv && q->problem->m > GEMV_MOST_M && !(q->options && q->options->kernel))
        return say(q, GM_REASON_SIZE,
                   "M = %" PRId64 ": it reads B for every %d rows of A, and is chosen for %d at most, or by name",
                   q->problem->m, row->tile_m, GEMV_MOST_M);
    const int64_t tiles_m = gm_tiles_m(row, q->problem), tiles_n = gm_tiles_n(row, q->problem);
    if (tiles_m > 0 && tiles_n > TILES_LIMIT / tiles_m)
        return say(q, GM_REASON_SIZE, "%" PRId64 " x %" PRId64 " tiles are more than 2^30", tiles_m, tiles_n);
    return GM_ACCEPTED;
}

static int is_batch_invariant(const struct inquiry *q) {
    return q->options && q->options->flags & GM_PLAN_BATCH_INVARIANT;
}

/* An operand with one row is never stepped, so its stride does not matter; but a batch-invariant plan answers for any
 * number of rows. */
static enum gm_reason check_tma_operand(const struct inquiry *q, const char *letter, struct gm_operand operand,
                                        int align) {
    const int64_t bytes = operand.stride * operand.element_bytes;
    const int64_t step = TMA_ALIGN / operand.element_bytes;
    const int steps = operand.rows > 1 || is_batch_invariant(q);
    if (steps && bytes % TMA_ALIGN)
        return say(q, GM_REASON_STRIDE,
                   "ld%s %" PRId64 " x %d B = %" PRId64 " B is not a multiple of 16: TMA needs it; pad ld%s to %" PRId64
                   ", or an sm80 row takes it",
                   letter, operand.stride, operand.element_bytes, bytes, letter,
                   (operand.stride + step - 1) / step * step);
    if (steps && bytes >= TMA_STRIDE_LIMIT)
        return say(q, GM_REASON_SIZE,
                   "ld%s %" PRId64 " x %d B = %" PRId64
                   " B is not under 2^40: TMA cannot step it; an sm80 row takes it",
                   letter, operand.stride, operand.element_bytes, bytes);
    if (align < TMA_ALIGN)
        return say(q, GM_REASON_ALIGNMENT,
                   "%s_align promises %d bytes: TMA needs 16; align the pointer to 16 and say so, "
                   "or an sm80 row takes it",
                   letter, align);
    return GM_ACCEPTED;
}

static enum gm_reason check_tma(const struct inquiry *q) {
    const struct gm_gemm_problem *p = q->problem;
    if (p->k == 0)
        return say(q, GM_REASON_EMPTY_K, "K = 0 leaves TMA nothing to describe; an sm80 row takes it");
    enum gm_reason reason = check_tma_operand(q, letter_of(q, 0), gm_operand_a(p), p->a_align);
    if (reason == GM_ACCEPTED)
        reason = check_tma_operand(q, letter_of(q, 1), gm_operand_b(p), p->b_align);
    if (reason == GM_ACCEPTED)
        reason = check_tma_operand(q, "d", gm_operand_d(p), p->d_align);
    return reason;
}

/* Whether TMA's rows run the problem, if there is one of its type and layout. */
static int tma_may_load(const struct inquiry *q) {
    const struct inquiry unheard = {q->row, q->device, q->problem, q->options, q->kind, NULL, 0};
    const uint32_t mask = q->options ? q->options->arch_mask : 0;
    return (!mask || mask & GM_ARCH_SM90) && q->device->cc_major == 9 && q->device->cc_minor == 0 &&
           check_tma(&unheard) == GM_ACCEPTED;
}

/* All sm90 gemm rows that take no part of K from each other add up the same 16 products after the same 16, and so do
 * all sm80 gemm rows without slices. */
static enum gm_reason check_order(const struct inquiry *q) {
    const int splits = GM_WARPS_SPLITS(q->row->warps), slices = GM_WARPS_SLICES(q->row->warps);
    if (!is_batch_invariant(q))
        return GM_ACCEPTED;
    if (splits > 1)
        return say(q, GM_REASON_ORDER, "%d CTAs share the K of a tile; a batch-invariant plan sums it in one", splits);
    if (slices > 1)
        return say(q, GM_REASON_ORDER, "%d warps share the K of a tile; a batch-invariant plan sums it in one", slices);
    if (gm_reduces(q->row))
        return say(q, GM_REASON_ORDER, "its CTAs share the K of a tile; a batch-invariant plan sums it in one");
    if (q->row->family == GM_FAMILY_gemv) /* named too: one row of A may be loaded more widely than several */
        return say(q, GM_REASON_ORDER,
                   "lanes share the K of an element; a batch-invariant plan sums it as the tensor cores do");
    if (q->row->arch == GM_ARCH_SM80 && !q->options->kernel && tma_may_load(q))
        return say(q, GM_REASON_ORDER, "a batch-invariant plan takes wgmma's order of K wherever TMA can load");
    return GM_ACCEPTED;
}

/* "..., 132 at once; 116 of them divided by k-blocks among 132 CTAs, in 17302560 bytes of workspace", or "... divided
 * by k-blocks, 3 pieces each, among ..." */
static void describe_split(const struct inquiry *q, const struct gm_split *split, char *text, size_t bytes) {
    const int64_t tiles = gm_tiles_m(q->row, q->problem) * gm_tiles_n(q->row, q->problem);
    char pieces[48] = "";
    text[0] = 0;
    if (split->pieces > 0)
        gm_print(pieces, sizeof pieces, ", %" PRId64 " pieces each,", split->pieces);
    if (split->shares > 0)
        gm_print(text, bytes,
                 "; %" PRId64 " of them divided by k-blocks%s among %" PRId64 " CTAs, in %zu bytes of workspace",
                 tiles - split->whole, pieces, split->shares, split->workspace_bytes);
}

/* Whether it is the row's name; then `*kind` (may be NULL) is the division that it says, if it does. */
static int is_named(const char *named, const struct gm_kernel *row, int *kind) {
    size_t bytes = strlen(named);
    const int said = gm_take_kind(named, &bytes), is = gm_is_named(row, named, bytes);
    if (kind && is && said != GM_KIND_WHOLE)
        *kind = said;
    return is;
}

static size_t workspace_limit(const struct inquiry *q) {
    return q->options && !is_batch_invariant(q) ? q->options->workspace_limit : 0;
}

static enum gm_reason refuse_division(const struct inquiry *q) {
    char suffix[GM_KIND_SUFFIX_BYTES];
    return say(q, GM_REASON_DIVISION,
               "its tiles cannot be divided as %s%s says: %" PRId64 " x %" PRId64 " tiles, %" PRId64
               " at once, %zu bytes of workspace allowed",
               q->row->name, gm_kind_suffix(q->kind, suffix), gm_tiles_m(q->row, q->problem),
               gm_tiles_n(q->row, q->problem), gm_clusters_at_once(q->row, q->device), workspace_limit(q));
}

static enum gm_reason refuse_whole(const struct inquiry *q) {
    return say(q, GM_REASON_DIVISION,
               "made to cut tiles into pieces, which does not pay here, or not in %zu bytes of workspace; %" PRId64
               " x %" PRId64 " tiles, %" PRId64 " at once",
               workspace_limit(q), gm_tiles_m(q->row, q->problem), gm_tiles_n(q->row, q->problem),
               gm_clusters_at_once(q->row, q->device));
}

static struct gm_judgement accept(const struct inquiry *q) {
    const struct gm_gemm_problem *p = q->problem;
    struct gm_judgement judgement = {.reason = GM_ACCEPTED};
    char divided[176];
    if (p->m > 0 && p->n > 0)
        judgement.split = gm_split_choose(q->row, p, q->device, workspace_limit(q), q->kind);
    if (q->kind != GM_KIND_BEST && q->kind != gm_split_kind(&judgement.split))
        return (struct gm_judgement){.reason = refuse_division(q)};
    const char *named = q->options ? q->options->kernel : NULL;
    if (!named && gm_reduces(q->row) && judgement.split.pieces == 0)
        return (struct gm_judgement){.reason = refuse_whole(q)};
    judgement.predicted_us = judgement.split.predicted_us;
    describe_split(q, &judgement.split, divided, sizeof divided);
    if (named && !is_named(named, q->row, NULL))
        judgement.reason =
            say(q, GM_REASON_NOT_NAMED, "legal, predicted %.2f us; %s was asked for", judgement.predicted_us, named);
    else if (!named && !q->row->production)
        judgement.reason = say(q, GM_REASON_NOT_PRODUCTION, "legal, predicted %.2f us; a test row, chosen only by name",
                               judgement.predicted_us);
    else
        say(q, GM_ACCEPTED, "predicted %.2f us: %" PRId64 " x %" PRId64 " tiles%s, %" PRId64 " at once%s",
            judgement.predicted_us, gm_tiles_m(q->row, p), gm_tiles_n(q->row, p),
            gm_is_transposed(q->options) ? " of D^T = B^T A^T" : "", gm_clusters_at_once(q->row, q->device), divided);
    return judgement;
}

struct gm_judgement gm_judge_as(const struct gm_kernel *row, const struct gm_device *device,
                                const struct gm_gemm_problem *problem, const struct gm_plan_options *options, int kind,
                                char *sentence, size_t sentence_bytes) {
    const struct inquiry q = {row, device, problem, options, kind, sentence, sentence_bytes};
    enum gm_reason reason = check_device(&q);
    if (reason == GM_ACCEPTED)
        reason = check_operands(&q);
    if (reason == GM_ACCEPTED && gm_uses_tma(row))
        reason = check_tma(&q);
    if (reason == GM_ACCEPTED)
        reason = check_order(&q);
    if (reason != GM_ACCEPTED)
        return (struct gm_judgement){.reason = reason};
    return accept(&q);
}

struct gm_judgement gm_judge(const struct gm_kernel *row, const struct gm_device *device,
                             const struct gm_gemm_problem *problem, const struct gm_plan_options *options,
                             char *sentence, size_t sentence_bytes) {
    int kind = GM_KIND_BEST;
    if (options && options->kernel)
        is_named(options->kernel, row, &kind);
    return gm_judge_as(row, device, problem, options, kind, sentence, sentence_bytes);
}

double gm_counted_us(const struct gm_kernel *row, const struct gm_device *device, const struct gm_gemm_problem *problem,
                     const struct gm_plan_options *options, const struct gm_judgement *judgement) {
    const struct inquiry q = {row, device, problem, options, GM_KIND_BEST, NULL, 0};
    const int is_older = row->family == GM_FAMILY_gemm && row->arch == GM_ARCH_SM80 && tma_may_load(&q);
    const double us = judgement->predicted_us * (is_older ? OLDER_MARGIN : 1);
    return judgement->split.shares > 0 ? us * DIVIDED_MARGIN + DIVIDED_MORE_US : us;
}

/* The accepted row with the least predicted time. */
static int choose_by_model(const struct gm_kernel *rows, size_t count, const struct gm_device *device,
                           const struct gm_gemm_problem *problem, const struct gm_plan_options *options,
                           struct gm_judgement *chosen) {
    int best = -1;
    double least_us = 0;
    *chosen = (struct gm_judgement){.reason = GM_REASON_NO_IMAGE};
    for (size_t i = 0; i < count; i++) {
        struct gm_judgement judgement = gm_judge(&rows[i], device, problem, options, NULL, 0);
        if (judgement.reason != GM_ACCEPTED)
            continue;
        const double us = gm_counted_us(&rows[i], device, problem, options, &judgement);
        if (best < 0 || us < least_us) {
            best = (int)i;
            least_us = us;
            *chosen = judgement;
        }
    }
    if (best >= 0)
        chosen->source = options && options->kernel ? GM_SOURCE_NAME : GM_SOURCE_MODEL;
    return best;
}

/* The row that is `row` for another type of A and B; -1: there is none. */
static int twin_of(const struct gm_kernel *rows, size_t count, int row, enum gm_type type) {
    const struct gm_kernel *x = &rows[row];
    for (size_t i = 0; i < count; i++) {
        const struct gm_kernel *y = &rows[i];
        if (y->type == (int)type && y->family == x->family && y->arch == x->arch && y->layout == x->layout &&
            y->tile_m == x->tile_m && y->tile_n == x->tile_n && y->tile_k == x->tile_k && y->stages == x->stages &&
            y->cluster_m == x->cluster_m && y->cluster_n == x->cluster_n && y->warps == x->warps &&
            y->smem_map == x->smem_map)
            return (int)i;
    }
    return -1;
}

/* The row of a pick, if it is accepted and divides its tiles as the pick says; else -1. */
static int choose_pick(const struct gm_kernel *rows, size_t count, const struct gm_device *device,
                       const struct gm_gemm_problem *problem, const struct gm_plan_options *options,
                       const struct gm_ledger_pick *pick, struct gm_judgement *chosen) {
    int row = gm_ledger_row(pick, rows, count);
    if (row >= 0 && rows[row].type != (int)problem->ab_type)
        row = twin_of(rows, count, row, problem->ab_type);
    if (row < 0)
        return -1;
    *chosen = gm_judge_as(&rows[row], device, problem, options, pick->kind, NULL, 0);
    return chosen->reason == GM_ACCEPTED ? row : -1;
}

/* The row that an answer of the ledger means; -1: none that is accepted. Where there is no workspace for the fastest,
 * the fastest that needs none; where K is to be summed in one CTA, the fastest that does. */
static int choose_by_ledger(const struct gm_kernel *rows, size_t count, const struct gm_device *device,
                            const struct gm_gemm_problem *problem, const struct gm_plan_options *options,
                            const struct gm_ledger_answer *answer, struct gm_judgement *chosen) {
    const struct gm_ledger_entry *entry = answer->exact ? answer->exact : answer->below;
    if (!entry)
        return -1;
    const struct gm_ledger_pick *pick = &entry->choice;
    int row = choose_pick(rows, count, device, problem, options, pick, chosen);
    if (row < 0 && pick->kind != GM_KIND_WHOLE) {
        pick = &entry->whole;
        row = choose_pick(rows, count, device, problem, options, pick, chosen);
    }
    if (row < 0 && options && options->flags & GM_PLAN_BATCH_INVARIANT) {
        pick = &entry->alone;
        row = choose_pick(rows, count, device, problem, options, pick, chosen);
    }
    chosen->source = answer->exact ? GM_SOURCE_LEDGER : GM_SOURCE_NEIGHBOURS;
    chosen->answer = *answer;
    chosen->measured_us = answer->exact ? pick->us : 0;
    return row;
}

int gm_choose(const struct gm_kernel *rows, size_t count, const struct gm_device *device,
              const struct gm_gemm_problem *problem, const struct gm_plan_options *options,
              struct gm_judgement *chosen) {
    struct gm_judgement by_ledger, by_model;
    struct gm_judgement *const into = chosen ? chosen : &by_model;
    const gm_ledger *ledger = gm_ledger_to_ask(options, device);
    const struct gm_ledger_answer answer = ledger ? gm_ledger_find(ledger, problem) : (struct gm_ledger_answer){0};
    const int tuned = choose_by_ledger(rows, count, device, problem, options, &answer, &by_ledger);
    if (tuned >= 0 && answer.exact) {
        *into = by_ledger;
        return tuned;
    }
    const int best = choose_by_model(rows, count, device, problem, options, into);
    if (tuned >= 0 && by_ledger.predicted_us <= NEIGHBOUR_LIMIT * into->predicted_us) {
        *into = by_ledger;
        return tuned;
    }
    return best;
}

int gm_find_kernel(const struct gm_kernel *rows, size_t count, const char *name) {
    for (size_t i = 0; i < count; i++)
        if (is_named(name, &rows[i], NULL))
            return (int)i;
    return -1;
}

struct gm_gemm_problem gm_problem_planned(const struct gm_gemm_problem *problem,
                                          const struct gm_plan_options *options) {
    const int is_column = gm_problem_is_column(problem);
    const struct gm_gemm_problem turned = is_column ? gm_problem_transposed(problem) : *problem;
    const struct gm_gemm_problem forms[] = {gm_problem_straight(&turned), gm_problem_straight(problem)};
    if (options && options->flags & GM_PLAN_BATCH_INVARIANT)
        return *problem;
    if (!options || !options->kernel)
        return forms[0];
    const int named = gm_find_kernel(gm_kernels, gm_kernel_count(), options->kernel);
    for (int i = 0; i < 2 && named >= 0; i++)
        if (gm_kernels[named].layout == gm_problem_layout(&forms[i]))
            return forms[i];
    return *problem;
}

struct gm_plan_options gm_options_planned(const struct gm_plan_options *options, const struct gm_gemm_problem *problem,
                                          const struct gm_gemm_problem *planned) {
    struct gm_plan_options o = {.size = sizeof o};
    if (options)
        o = *options;
    if (planned->m != problem->m)
        o.flags = (o.flags & ~(uint32_t)GM_PLAN_CONSTANT_B) | GM_PLAN_TRANSPOSED;
    return o;
}

struct gm_device gm_device_within(const struct gm_device *device, const struct gm_plan_options *options) {
    struct gm_device within = *device;
    if (options && options->sm_budget > 0 && options->sm_budget < within.sm_count) {
        within.sm_count = options->sm_budget;
        within.max_threads_per_sm = 1; /* one CTA per SM of the budget: the driver spreads them over all SMs */
    }
    return within;
}

enum gm_status gm_device_check(const struct gm_device *device) {
    if (device->sm_count <= 0 || device->smem_per_block_bytes <= 0 || device->cc_major <= 0)
        return gm_fail(GM_ERROR_INVALID_ARGUMENT,
                       "the device has %d SMs, %d bytes of shared memory per block, compute capability %d.%d",
                       device->sm_count, device->smem_per_block_bytes, device->cc_major, device->cc_minor);
    return GM_OK;
}

static enum gm_status check_options(const struct gm_plan_options *options) {
    if (options->arch_mask & ~(uint32_t)(GM_ARCH_SM80 | GM_ARCH_SM90))
        return gm_fail(GM_ERROR_INVALID_ARGUMENT, "arch_mask is 0x%x; known bits are 0x%x", options->arch_mask,
                       (unsigned)(GM_ARCH_SM80 | GM_ARCH_SM90));
    if (options->flags & ~(uint32_t)KNOWN_FLAGS)
        return gm_fail(GM_ERROR_INVALID_ARGUMENT, "flags is 0x%x; known bits are 0x%x", options->flags, KNOWN_FLAGS);
    if (options->sm_budget < 0)
        return gm_fail(GM_ERROR_INVALID_ARGUMENT, "sm_budget is %d; it is a number of SMs, 0 for all",
                       options->sm_budget);
    if (options->argument_sets < 0 || options->argument_sets > GM_ARGUMENT_SETS_MAX)
        return gm_fail(GM_ERROR_INVALID_ARGUMENT, "argument_sets is %d; it is a number from 1 to %d, 0 for 1",
                       options->argument_sets, GM_ARGUMENT_SETS_MAX);
    if (options->kernel && gm_find_kernel(gm_kernels, gm_kernel_count(), options->kernel) < 0)
        return gm_fail(GM_ERROR_UNKNOWN_KERNEL, "the table has no kernel named %.120s", options->kernel);
    return GM_OK;
}

enum gm_status gm_options_take(const struct gm_plan_options **options, struct gm_plan_options *today) {
    if (!*options)
        return GM_OK;
    const enum gm_status status = GM_TAKE(*options, today, "options");
    return status == GM_OK ? check_options(*options) : status;
}
