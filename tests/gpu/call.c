/* SPDX-License-Identifier: Apache-2.0 */
/* Plan and execute one placed call through the public API, hold explain to what plan does, and check the output. */
#include <stdlib.h>
#include <string.h>

#include "gpu_tests.h"

/* Why nothing accepts: the reason that says most, since every row of another type or layout has one too. */
static enum gm_reason first_of(const int votes[REASONS]) {
    static const enum gm_reason telling[] = {
        GM_ACCEPTED,        GM_REASON_NOT_PRODUCTION, GM_REASON_SMEM, GM_REASON_EMPTY_K,
        GM_REASON_STRIDE,   GM_REASON_ALIGNMENT,      GM_REASON_SIZE, GM_REASON_NO_IMAGE,
        GM_REASON_EPILOGUE, GM_REASON_LAYOUT,         GM_REASON_TYPE};
    for (size_t i = 0; i < COUNT(telling); i++)
        if (votes[telling[i]])
            return telling[i];
    return GM_REASON_MASKED;
}

static bool is_named(int index, const char *name) {
    struct gm_kernel_info info = {.size = sizeof info};
    return !name || (gm_kernel_get((size_t)index, &info) == GM_OK && strcmp(info.name, name) == 0);
}

/* GM_ACCEPTED, or the reason of the named row, or else the most telling one of all rows. */
static enum gm_reason explained(struct result *result, const struct call *call, const struct gm_plan_options *options) {
    const size_t capacity = gm_kernel_count();
    struct gm_candidate *candidates = calloc(capacity + 1, sizeof *candidates);
    size_t count = 0;
    int votes[REASONS] = {0}, chosen = 0;
    if (check_ok(result, call->operation->explain(&env.device, call->problem, options, candidates, capacity, &count),
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

/* ---- the region around the output ------------------------------------------------------------------ */

static uint8_t *region_of(const struct call *call) {
    uint8_t *region = malloc(call->region_bytes);
    if (!region)
        exit(2);
    return region;
}

/* Copies and fills on the default stream are not ordered with env.stream and need not be done when they return, so wait
 * for these and for the inputs' before them. */
bool poison_output(struct result *result, const struct call *call) {
    if (!call->in_place)
        return check_cuda(result, env.drv->cuMemsetD8(call->region, POISON, call->region_bytes), "cuMemsetD8") &&
               check_cuda(result, env.drv->cuCtxSynchronize(), "cuCtxSynchronize");
    uint8_t *region = region_of(call);
    memset(region, POISON, call->region_bytes);
    call->operation->fill_region(call, region);
    const bool ok = to_device(result, call->region, region, call->region_bytes);
    free(region);
    return ok;
}

static bool download(struct result *result, const struct call *call, uint8_t *region, const char *what) {
    return check_cuda(result, env.drv->cuMemcpyDtoH(region, call->region, call->region_bytes), what);
}

bool check_output(struct result *result, const struct call *call, const char *what) {
    uint8_t *region = region_of(call);
    const bool ok = download(result, call, region, what) && call->operation->compare(result, call, region, what);
    free(region);
    return ok;
}

void check_unwritten(struct result *result, const struct call *call, const char *what) {
    uint8_t *region = region_of(call);
    size_t at = 0;
    check_cuda(result, env.drv->cuStreamSynchronize(env.stream), what);
    download(result, call, region, what);
    while (at < call->region_bytes && region[at] == POISON)
        at++;
    if (at < call->region_bytes)
        fail(result, "%s: byte %zu around the output was written", what, at);
    free(region);
}

/* ---- the call -------------------------------------------------------------------------------------- */

static bool run_once(struct result *result, const struct call *call, const gm_plan *plan, const char *what) {
    return check_ok(result, call->operation->execute(plan, call->args, env.stream), what) &&
           check_cuda(result, env.drv->cuStreamSynchronize(env.stream), what);
}

/* The bits of repeated runs are compared with each other, whatever the tolerance against the reference. */
static bool same_bits(struct result *result, const struct call *call, const gm_plan *plan, int repeats,
                      const char *what) {
    uint8_t *first = region_of(call), *again = region_of(call);
    bool ok = true;
    for (int run = 0; run <= repeats && ok; run++) {
        ok = poison_output(result, call) && run_once(result, call, plan, what) &&
             download(result, call, run ? again : first, what);
        if (ok && run > 0 && memcmp(first, again, call->region_bytes) != 0) {
            fail(result, "%s: run %d gave other bits than run 0", what, run);
            ok = false;
        }
    }
    free(first);
    free(again);
    return ok;
}

static bool refused_as_expected(struct result *result, uint32_t may_refuse, enum gm_reason reason, const char *what) {
    if (may_refuse & BIT((int)reason)) {
        result->refused[reason]++;
        return true;
    }
    fail(result, "%s: refused (%s): %s", what, gm_reason_name(reason), gm_last_error());
    return false;
}

bool run_call(struct result *result, const struct call *call, const struct gm_plan_options *options, int repeats,
              uint32_t may_refuse, const char *what) {
    const enum gm_reason reason = explained(result, call, options);
    gm_plan *plan = NULL;
    const enum gm_status status = call->operation->plan(env.context, call->problem, options, &plan);
    if ((status == GM_OK) != (reason == GM_ACCEPTED) || (status != GM_OK && status != GM_ERROR_NO_KERNEL)) {
        fail(result, "%s: explain says %s, plan says %s: %s", what, gm_reason_name(reason), gm_status_name(status),
             gm_last_error());
        gm_plan_destroy(plan);
        return false;
    }
    if (status != GM_OK)
        return refused_as_expected(result, may_refuse, reason, what);
    const bool ran = repeats ? same_bits(result, call, plan, repeats, what) : run_once(result, call, plan, what);
    const bool ok = ran && check_output(result, call, what);
    gm_plan_destroy(plan);
    result->cases++;
    return ok;
}

bool check_refusal(struct result *result, enum gm_status got, enum gm_status want, const char *what) {
    result->cases++;
    if (got != want)
        fail(result, "%s: %s, want %s (%s)", what, gm_status_name(got), gm_status_name(want), gm_last_error());
    else if (strlen(gm_last_error()) < 8)
        fail(result, "%s: %s has no sentence: \"%s\"", what, gm_status_name(got), gm_last_error());
    return got == want;
}
