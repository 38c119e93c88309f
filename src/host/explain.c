/* SPDX-License-Identifier: Apache-2.0 */
/* The planner's judgement of every kernel of an operation, and the names of its reasons. */
#include "host/choose.h"
#include "host/error.h"
#include "host/options.h"
#include "host/plan.h"
#include "host/text.h"

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
        NAME(GM_REASON_EPILOGUE);
        NAME(GM_REASON_BATCH);
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

/* "; the ledger's choice for m = 64 and m = 128" */
static void tell_neighbours(char *at, size_t room, const char *type, const struct gm_ledger_answer *answer) {
    const struct gm_operation *operation = answer->below->key.operation;
    const struct gm_field *axis = &operation->fields[operation->axis];
    const int place = gm_ledger_place(operation, operation->axis);
    char below[GM_FIELD_TEXT_BYTES], above[GM_FIELD_TEXT_BYTES];
    gm_print(at, room, "; the ledger's choice%s for %s = %s and %s = %s", type, axis->name,
             gm_field_print(axis, answer->below->key.values[place], below), axis->name,
             gm_field_print(axis, answer->above->key.values[place], above));
}

/* Adds to the chosen kernel's sentence where the choice is from. */
static void tell_source(struct gm_candidate *c, const struct gm_choice *choice) {
    const struct gm_ledger_answer *answer = &choice->answer;
    char *const at = c->sentence + strlen(c->sentence);
    const size_t room = sizeof c->sentence - strlen(c->sentence);
    const char *type = answer->of_bf16 ? " for bf16" : "";
    c->source = choice->source;
    c->measured_us = choice->measured_us;
    switch (choice->source) {
    case GM_SOURCE_LEDGER:
        gm_print(at, room, "; the ledger's choice%s: measured %.2f us, the model's pick %.2f us", type,
                 choice->measured_us, answer->exact->model_us);
        return;
    case GM_SOURCE_NEIGHBOURS:
        tell_neighbours(at, room, type, answer);
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

/* "predicted 31.02 us, 18.20 of them for copies of a and b in 67108864 bytes of workspace; then ", before what is said
 * of the operation's kernel; or "... for a GLU of 536870912 bytes of workspace; before it "; returns its length. */
static size_t tell_steps(struct gm_candidate *c, const struct gm_sequence_choice *found) {
    const struct gm_sequence *sequence = &found->sequence;
    return (size_t)gm_print(c->sentence, sizeof c->sentence,
                            "predicted %.2f us, %.2f of them for %s%s%s %s %zu bytes of workspace; %s ",
                            found->predicted_us, found->steps_us, sequence->steps[0].name,
                            sequence->count > 1 ? " and " : "", sequence->count > 1 ? sequence->steps[1].name : "",
                            sequence->before ? "in" : "of", sequence->bytes, sequence->before ? "then" : "before it");
}

/* The kernel that is chosen in a sequence. */
static void fill_sequence(struct gm_candidate *c, const struct gm_sequence_choice *found,
                          const struct gm_device *device) {
    const size_t told = tell_steps(c, found);
    const struct gm_sentence why = {c->sentence + told, sizeof c->sentence - told};
    const struct gm_question question = gm_sequence_question(found, device);
    gm_verdict_of(found->choice.kernel, &question, &why);
    c->kernel = (int32_t)(found->choice.kernel - gm_kernels);
    c->chosen = 1;
    c->reason = GM_ACCEPTED;
    c->predicted_us = found->predicted_us;
    tell_source(c, &found->choice);
}

static void fill_candidate(struct gm_candidate *c, const struct gm_kernel *kernel, const struct gm_question *question,
                           const struct gm_choice *choice) {
    const struct gm_sentence why = {c->sentence, sizeof c->sentence};
    struct gm_question q = *question;
    if (kernel == choice->kernel) /* the ledger may have found another division of it the fastest */
        q.division = choice->verdict.division;
    const struct gm_verdict verdict = gm_verdict_of(kernel, &q, &why);
    c->kernel = (int32_t)(kernel - gm_kernels);
    c->chosen = kernel == choice->kernel;
    c->reason = verdict.reason;
    c->predicted_us = verdict.predicted_us;
    c->source = GM_SOURCE_NONE;
    c->measured_us = 0;
    if (c->chosen)
        tell_source(c, choice);
}

enum gm_status gm_explain(const struct gm_operation *operation, const struct gm_device *given_device, const void *given,
                          const struct gm_plan_options *given_options, struct gm_candidate *candidates, size_t capacity,
                          size_t *count) {
    _Alignas(8) char problem[GM_PROBLEM_MAX];
    struct gm_device device;
    struct gm_plan_options options;
    enum gm_status status = gm_device_read(given_device, &device);
    if (status == GM_OK)
        status = gm_options_read(operation, given_options, &options);
    if (status == GM_OK)
        status = gm_problem_read(operation, given, &options, problem);
    if (status == GM_OK)
        status = gm_ledger_check(&options, &device);
    if (status != GM_OK)
        return status;
    if (!count)
        return gm_fail(GM_ERROR_INVALID_ARGUMENT, "count is NULL");
    if (!candidates && capacity)
        return gm_fail(GM_ERROR_INVALID_ARGUMENT, "candidates is NULL with a capacity of %zu", capacity);
    device = gm_device_under_budget(&device, &options);
    const struct gm_question question = {&device, problem, &options, GM_DIVISION_BEST};
    struct gm_choice choice = gm_choose(operation, gm_kernels, gm_kernel_count(), &question);
    struct gm_sequence_choice found;
    const int copies = gm_sequence_is_better(operation, &question, &choice, &found);
    if (copies)
        choice.kernel = NULL;
    *count = 0;
    for (size_t i = 0; i < gm_kernel_count(); i++) {
        if (gm_kernels[i].family->operation != operation)
            continue;
        if (*count < capacity && copies && &gm_kernels[i] == found.choice.kernel)
            fill_sequence(&candidates[*count], &found, &device);
        else if (*count < capacity)
            fill_candidate(&candidates[*count], &gm_kernels[i], &question, &choice);
        ++*count;
    }
    return GM_OK;
}
