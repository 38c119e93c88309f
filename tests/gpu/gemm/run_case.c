/* SPDX-License-Identifier: Apache-2.0 */
/* Plan and execute one placed case through the public API, and hold explain to what plan does. */
#include <stdlib.h>
#include <string.h>

#include "gemm_tests.h"

/* Why nothing accepts: the reason that says most, since every row of another type or layout has one too. */
static enum gm_reason first_of(const int votes[REASONS]) {
    static const enum gm_reason telling[] = {
        GM_ACCEPTED,         GM_REASON_NOT_PRODUCTION, GM_REASON_SMEM,     GM_REASON_EMPTY_K, GM_REASON_STRIDE,
        GM_REASON_ALIGNMENT, GM_REASON_SIZE,           GM_REASON_NO_IMAGE, GM_REASON_LAYOUT,  GM_REASON_TYPE};
    for (size_t i = 0; i < COUNT(telling); i++)
        if (votes[telling[i]])
            return telling[i];
    return GM_REASON_MASKED;
}

static bool is_named(int index, const char *name) {
    struct kernel info;
    return !name || (read_kernel((size_t)index, &info) && strcmp(info.name, name) == 0);
}

/* GM_ACCEPTED, or the reason of the named row, or else the most telling one of all rows. */
static enum gm_reason explained(struct result *result, const struct placed *placed,
                                const struct gm_plan_options *options) {
    const size_t capacity = gm_kernel_count();
    struct gm_candidate *candidates = calloc(capacity + 1, sizeof *candidates);
    size_t count = 0;
    int votes[REASONS] = {0}, chosen = 0;
    if (check_ok(result, gm_gemm_explain(&env.device, &placed->problem, options, candidates, capacity, &count),
                 "explain"))
        for (size_t i = 0; i < count; i++) {
            chosen += candidates[i].chosen;
            votes[candidates[i].reason] += is_named(candidates[i].kernel, options->kernel);
        }
    free(candidates);
    if (chosen != (votes[GM_ACCEPTED] > 0))
        fail(result, "explain chose %d of %d accepted rows", chosen, votes[GM_ACCEPTED]);
    return first_of(votes);
}

static bool run_once(struct result *result, const struct placed *placed, const gm_plan *plan, const char *what) {
    return check_ok(result, gm_gemm_execute(plan, &placed->args, env.stream), what) &&
           check_cuda(result, env.drv->cuStreamSynchronize(env.stream), what);
}

/* The bits of repeated runs are compared with each other, whatever the tolerance against the reference. */
static bool same_bits(struct result *result, const struct placed *placed, const gm_plan *plan, const char *what) {
    uint8_t *first = malloc(placed->d_bytes), *again = malloc(placed->d_bytes);
    bool ok = first && again;
    for (int run = 0; run <= placed->gc->repeats && ok; run++) {
        ok = poison_output(result, placed) && run_once(result, placed, plan, what) &&
             check_cuda(result, env.drv->cuMemcpyDtoH(run ? again : first, placed->d_base, placed->d_bytes), what);
        if (ok && run > 0 && memcmp(first, again, placed->d_bytes) != 0) {
            fail(result, "%s: run %d gave other bits than run 0", what, run);
            ok = false;
        }
    }
    free(first);
    free(again);
    return ok;
}

static bool refused_as_expected(struct result *result, const struct gemm_case *gc, enum gm_reason reason,
                                const char *what) {
    if (gc->may_refuse & BIT((int)reason)) {
        result->refused[reason]++;
        return true;
    }
    fail(result, "%s: refused (%s): %s", what, gm_reason_name(reason), gm_last_error());
    return false;
}

bool run_case(struct result *result, const struct gemm_case *gc, const char *kernel, uint32_t mask,
              struct buffers *buffers) {
    char what[320];
    describe_case(gc, what, sizeof what);
    heartbeat(what);
    struct placed placed;
    if (!place_case(result, gc, buffers, &placed))
        return false;
    const struct gm_plan_options options = {.size = sizeof options, .kernel = kernel, .arch_mask = mask};
    const enum gm_reason reason = explained(result, &placed, &options);
    gm_plan *plan = NULL;
    const enum gm_status status = gm_gemm_plan_create(env.context, &placed.problem, &options, &plan);
    if ((status == GM_OK) != (reason == GM_ACCEPTED) || (status != GM_OK && status != GM_ERROR_NO_KERNEL)) {
        fail(result, "%s: explain says %s, plan says %s: %s", what, gm_reason_name(reason), gm_status_name(status),
             gm_last_error());
        gm_plan_destroy(plan);
        return false;
    }
    if (status != GM_OK)
        return refused_as_expected(result, gc, reason, what);
    const bool ran = gc->repeats ? same_bits(result, &placed, plan, what) : run_once(result, &placed, plan, what);
    const bool ok = ran && check_output(result, &placed, what);
    gm_plan_destroy(plan);
    result->cases++;
    return ok;
}
