/* SPDX-License-Identifier: Apache-2.0 */
/* Judges kernels against a question, and chooses among those that accept it. */
#include "host/choose.h"

#include <string.h>

#define NEIGHBOUR_LIMIT 1.05 /* of the least ranking time: beyond, what the neighbours took is not trusted */

/* ---- one kernel --------------------------------------------------------------------------------------- */

static enum gm_reason check_device(const struct gm_kernel *kernel, const struct gm_question *q,
                                   const struct gm_sentence *why) {
    const struct gm_device *device = q->device;
    if (q->options->arch_mask && !(q->options->arch_mask & kernel->arch))
        return gm_say(why, GM_REASON_MASKED, "%s is not in the arch mask 0x%x", gm_arch_name(kernel->arch),
                      q->options->arch_mask);
    if (!gm_kernel_runs_on(kernel, device->cc_major, device->cc_minor))
        return gm_say(why, GM_REASON_NO_IMAGE, "its image (%s) does not run on compute capability %d.%d",
                      kernel->targets, device->cc_major, device->cc_minor);
    if (kernel->smem_bytes > device->smem_per_block_bytes)
        return gm_say(why, GM_REASON_SMEM, "needs %d bytes of shared memory per block; the device allows %d",
                      kernel->smem_bytes, device->smem_per_block_bytes);
    if (kernel->cluster_ctas > device->sm_count)
        return gm_say(why, GM_REASON_SMS, "its clusters have %d CTAs, one on an SM each; it may occupy %d SMs",
                      kernel->cluster_ctas, device->sm_count);
    return GM_ACCEPTED;
}

int gm_takes_type(const struct gm_kernel *kernel, enum gm_type type) {
    return kernel->type == type || kernel->traits & GM_TRAIT_ANY_TYPE;
}

static enum gm_reason check_type(const struct gm_kernel *kernel, const struct gm_question *q,
                                 const struct gm_sentence *why) {
    const struct gm_operation *operation = kernel->family->operation;
    const struct gm_field *field = &operation->fields[operation->type];
    const enum gm_type type = gm_kernel_type_of(operation, q->problem);
    char text[2][GM_FIELD_TEXT_BYTES];
    if (gm_takes_type(kernel, type))
        return GM_ACCEPTED;
    return gm_say(why, GM_REASON_TYPE, "computes with %s; the problem is %s",
                  gm_field_print(field, kernel->type, text[0]), gm_field_print(field, type, text[1]));
}

/* An accepting kernel may still not be the one that is asked for. */
static enum gm_reason check_name(const struct gm_kernel *kernel, const struct gm_question *q, int is_named,
                                 double predicted_us, const struct gm_sentence *why) {
    const char *named = q->options->kernel;
    if (named && !is_named)
        return gm_say(why, GM_REASON_NOT_NAMED, "legal, predicted %.2f us; %s was asked for", predicted_us, named);
    if (!named && !kernel->production)
        return gm_say(why, GM_REASON_NOT_PRODUCTION, "legal, predicted %.2f us; a test kernel, chosen only by name",
                      predicted_us);
    return GM_ACCEPTED;
}

struct gm_verdict gm_verdict_of(const struct gm_kernel *kernel, const struct gm_question *question,
                                const struct gm_sentence *why) {
    const char *named = question->options->kernel;
    int division = GM_DIVISION_BEST;
    const int is_named = named && gm_is_named(kernel, named, strlen(named), &division);
    struct gm_question q = *question;
    if (q.division == GM_DIVISION_BEST)
        q.division = division;
    enum gm_reason reason = check_device(kernel, &q, why);
    if (reason == GM_ACCEPTED)
        reason = check_type(kernel, &q, why);
    if (reason != GM_ACCEPTED)
        return (struct gm_verdict){.reason = reason};
    struct gm_verdict verdict = kernel->family->judge(kernel, &q, why);
    if (verdict.reason == GM_ACCEPTED)
        verdict.reason = check_name(kernel, &q, is_named, verdict.predicted_us, why);
    return verdict;
}

/* ---- by the model ------------------------------------------------------------------------------------- */

static struct gm_choice choose_by_model(const struct gm_operation *operation, const struct gm_kernel *kernels,
                                        size_t count, const struct gm_question *question) {
    struct gm_choice best = {.source = question->options->kernel ? GM_SOURCE_NAME : GM_SOURCE_MODEL};
    for (size_t i = 0; i < count; i++) {
        if (kernels[i].family->operation != operation)
            continue;
        const struct gm_verdict verdict = gm_verdict_of(&kernels[i], question, NULL);
        if (verdict.reason != GM_ACCEPTED || (best.kernel && verdict.ranking_us >= best.verdict.ranking_us))
            continue;
        best.kernel = &kernels[i];
        best.verdict = verdict;
    }
    return best;
}

/* ---- by the ledger ------------------------------------------------------------------------------------ */

/* The kernel that does the same as `kernel` for another type; NULL: there is none. */
static const struct gm_kernel *twin_of(const struct gm_kernel *kernels, size_t count, const struct gm_kernel *kernel,
                                       enum gm_type type) {
    for (size_t i = 0; i < count; i++) {
        const struct gm_kernel *other = &kernels[i];
        if (other->type == type && other->family == kernel->family && other->arch == kernel->arch &&
            memcmp(other->columns, kernel->columns, sizeof kernel->columns) == 0)
            return other;
    }
    return NULL;
}

/* A refusal of this division or this order of sums says nothing against the next candidate; nor does one of an
 * architecture, except that it leaves an entry's choice to the model. */
static int speaks_of_one(enum gm_reason reason, int is_choice) {
    return reason == GM_REASON_DIVISION || reason == GM_REASON_ORDER || (!is_choice && reason == GM_REASON_MASKED);
}

/* The entry's choice where it accepts; where only its division or order is refused, the fastest other candidate of the
 * table that divides nothing and accepts. The first that is refused for its operands ends the search: then the ledger
 * did not measure operands like these. */
static struct gm_choice choose_of_entry(const struct gm_ledger_entry *entry, const struct gm_kernel *kernels,
                                        size_t count, const struct gm_question *question, enum gm_type type) {
    struct gm_ledger_candidate candidate;
    struct gm_ledger_cursor cursor = gm_ledger_candidates(entry);
    for (int i = 0; gm_ledger_next(&cursor, &candidate); i++) {
        const struct gm_kernel *kernel = gm_ledger_kernel(&candidate, kernels, count);
        struct gm_question q = *question;
        if (kernel && !gm_takes_type(kernel, type))
            kernel = twin_of(kernels, count, kernel, type);
        if (i > 0 && (!kernel || candidate.division != GM_DIVISION_NONE))
            continue;
        if (!kernel)
            break;
        q.division = candidate.division;
        const struct gm_verdict verdict = gm_verdict_of(kernel, &q, NULL);
        if (verdict.reason == GM_ACCEPTED)
            return (struct gm_choice){.kernel = kernel, .verdict = verdict, .measured_us = candidate.us};
        if (!speaks_of_one(verdict.reason, i == 0))
            break;
    }
    return (struct gm_choice){0};
}

static struct gm_choice choose_by_ledger(const struct gm_operation *operation, const struct gm_kernel *kernels,
                                         size_t count, const struct gm_question *question) {
    const gm_ledger *ledger = gm_ledger_to_ask(question->options, question->device);
    const struct gm_ledger_answer answer =
        ledger ? gm_ledger_find(ledger, operation, question->problem) : (struct gm_ledger_answer){0};
    const struct gm_ledger_entry *entry = answer.exact ? answer.exact : answer.below;
    if (!entry)
        return (struct gm_choice){0};
    const enum gm_type type = gm_kernel_type_of(operation, question->problem);
    struct gm_choice choice = choose_of_entry(entry, kernels, count, question, type);
    choice.source = answer.exact ? GM_SOURCE_LEDGER : GM_SOURCE_NEIGHBOURS;
    choice.measured_us = answer.exact ? choice.measured_us : 0;
    choice.answer = answer;
    return choice;
}

/* ---- both --------------------------------------------------------------------------------------------- */

struct gm_choice gm_choose(const struct gm_operation *operation, const struct gm_kernel *kernels, size_t count,
                           const struct gm_question *question) {
    const struct gm_choice measured = choose_by_ledger(operation, kernels, count, question);
    if (measured.kernel && measured.answer.exact)
        return measured;
    const struct gm_choice modelled = choose_by_model(operation, kernels, count, question);
    const int agree =
        measured.kernel && measured.verdict.predicted_us <= NEIGHBOUR_LIMIT * modelled.verdict.predicted_us;
    return agree ? measured : modelled;
}
