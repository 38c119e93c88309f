/* SPDX-License-Identifier: Apache-2.0 */
/* gm_gemm_explain: the planner's judgement of every row. */
#include "choose.h"
#include "device.h"
#include "error.h"
#include "problem.h"
#include "text.h"

#include <inttypes.h>
#include <string.h>

/* NULL: no such reason. There is no default, so that the compiler names a reason that is missing here. */
static const char *name_of(enum gm_reason reason) {
#define NAME(reason_)                                                                                                  \
    case reason_:                                                                                                      \
        return #reason_
    switch (reason) {
        NAME(GM_ACCEPTED);
        NAME(GM_REASON_MASKED);
        NAME(GM_REASON_NO_IMAGE);
        NAME(GM_REASON_TYPE);
        NAME(GM_REASON_LAYOUT);
        NAME(GM_REASON_SMEM);
        NAME(GM_REASON_STRIDE);
        NAME(GM_REASON_ALIGNMENT);
        NAME(GM_REASON_SIZE);
        NAME(GM_REASON_EMPTY_K);
        NAME(GM_REASON_NOT_PRODUCTION);
        NAME(GM_REASON_NOT_NAMED);
        NAME(GM_REASON_SMS);
        NAME(GM_REASON_ORDER);
        NAME(GM_REASON_DIVISION);
    }
#undef NAME
    return NULL;
}

const char *gm_reason_name(enum gm_reason reason) {
    const char *name = name_of(reason);
    return name ? name : "GM_REASON_UNKNOWN";
}

int gm_reason_count(void) {
    int count = 0;
    while (name_of((enum gm_reason)count))
        count++;
    return count;
}

/* Adds to the chosen row's sentence where the choice is from. */
static void tell_source(struct gm_candidate *c, const struct gm_judgement *chosen) {
    const struct gm_ledger_answer *answer = &chosen->answer;
    char *const at = c->sentence + strlen(c->sentence);
    const size_t room = sizeof c->sentence - strlen(c->sentence);
    const char *type = answer->of_bf16 ? " for bf16" : "";
    c->source = chosen->source;
    c->measured_us = chosen->measured_us;
    switch (chosen->source) {
    case GM_SOURCE_LEDGER:
        gm_print(at, room, "; the ledger's choice%s: measured %.2f us, the model's pick %.2f us", type,
                 chosen->measured_us, answer->exact->model_us);
        return;
    case GM_SOURCE_NEIGHBOURS:
        gm_print(at, room, "; the ledger's choice%s for M = %" PRId64 " and M = %" PRId64, type, answer->below->key.m,
                 answer->above->key.m);
        return;
    case GM_SOURCE_MODEL:
        gm_print(at, room, "; the model's choice");
        return;
    case GM_SOURCE_NAME:
        gm_print(at, room, "; asked for by name");
        return;
    case GM_SOURCE_NONE:
        return;
    }
}

/* `choice`: the judgement of the chosen row; NULL: the row is another one. */
static void explain_row(const struct gm_kernel *row, const struct gm_device *device, const struct gm_gemm_problem *p,
                        const struct gm_plan_options *options, const struct gm_judgement *choice,
                        struct gm_candidate *c) {
    const struct gm_judgement judgement =
        choice /* the ledger may have found another division of it the fastest */
            ? gm_judge_as(row, device, p, options, gm_split_kind(&choice->split), c->sentence, sizeof c->sentence)
            : gm_judge(row, device, p, options, c->sentence, sizeof c->sentence);
    c->kernel = (int32_t)(row - gm_kernels);
    c->chosen = choice != NULL;
    c->reason = judgement.reason;
    c->predicted_us = judgement.predicted_us;
    c->source = GM_SOURCE_NONE;
    c->measured_us = 0;
    if (choice)
        tell_source(c, choice);
}

enum gm_status gm_gemm_explain(const struct gm_device *device, const struct gm_gemm_problem *problem,
                               const struct gm_plan_options *options, struct gm_candidate *candidates,
                               size_t capacity, size_t *count) {
    struct gm_gemm_problem p;
    struct gm_device device_today;
    struct gm_plan_options options_today;
    enum gm_status status = gm_device_take(&device, &device_today);
    if (status == GM_OK)
        status = gm_device_check(device);
    if (status == GM_OK)
        status = gm_problem_normalize(problem, &p);
    if (status == GM_OK)
        status = gm_options_take(&options, &options_today);
    if (status == GM_OK)
        status = gm_ledger_check(options, device);
    if (status != GM_OK)
        return status;
    if (!count)
        return gm_fail(GM_ERROR_INVALID_ARGUMENT, "count is NULL");
    if (!candidates && capacity)
        return gm_fail(GM_ERROR_INVALID_ARGUMENT, "candidates is NULL with a capacity of %zu", capacity);
    const struct gm_gemm_problem given = p;
    p = gm_problem_planned(&given, options);
    const struct gm_plan_options planned = gm_options_planned(options, &given, &p);
    options = &planned;
    const size_t rows = gm_kernel_count();
    struct gm_judgement choice;
    const struct gm_device within = gm_device_within(device, options);
    const int chosen = gm_choose(gm_kernels, rows, &within, &p, options, &choice);
    for (size_t i = 0; i < rows && i < capacity; i++)
        explain_row(&gm_kernels[i], &within, &p, options, (int)i == chosen ? &choice : NULL, &candidates[i]);
    *count = rows;
    return GM_OK;
}
