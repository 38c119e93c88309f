/* SPDX-License-Identifier: Apache-2.0 */
/* Plans sequences: what each launch is predicted to take, and whether all together beat the best single one. */
#include "host/sequence.h"

#define EDGE_US 1.0 /* from the end of one launch to the next one's work, which overlap each other's set-up */

struct gm_plan_options gm_sequence_step_options(const struct gm_plan_options *options) {
    return (struct gm_plan_options){
        .size = sizeof(struct gm_plan_options),
        .arch_mask = options->arch_mask,
        .sm_budget = options->sm_budget,
        .flags = (options->flags & GM_PLAN_NO_OVERLAP) | GM_PLAN_PLAIN_LAUNCH,
        .argument_sets = 1,
    };
}

/* Behind copies, B may be one, which is written just before; and nothing is promised of what ran before them. */
static struct gm_plan_options options_in(const struct gm_sequence *sequence, const struct gm_plan_options *options) {
    struct gm_plan_options own = *options;
    own.flags |= GM_PLAN_PLAIN_LAUNCH;
    if (sequence->before > 0)
        own.flags &= ~(uint32_t)GM_PLAN_CONSTANT_B;
    own.workspace_limit -= sequence->bytes;
    return own;
}

/* The choice for a problem as a caller gives it; `planned` is what becomes of the problem. */
static struct gm_choice choose(const struct gm_operation *operation, const void *given,
                               const struct gm_plan_options *options, const struct gm_device *device, void *planned) {
    const struct gm_question question = {device, planned, options, GM_DIVISION_BEST};
    if (gm_problem_read(operation, given, options, planned) != GM_OK)
        return (struct gm_choice){0};
    return gm_choose(operation, gm_kernels, gm_kernel_count(), &question);
}

/* What the steps take; negative: no kernel takes one of them. */
static double steps_us(const struct gm_sequence *sequence, const struct gm_question *question) {
    const struct gm_plan_options options = gm_sequence_step_options(question->options);
    _Alignas(8) char planned[GM_PROBLEM_MAX];
    double us = 0;
    for (int i = 0; i < sequence->count; i++) {
        const struct gm_step *step = &sequence->steps[i];
        const struct gm_choice choice = choose(step->operation, step->problem, &options, question->device, planned);
        if (!choice.kernel)
            return -1;
        us += choice.verdict.predicted_us + EDGE_US;
    }
    return us;
}

int gm_sequence_is_better(const struct gm_operation *operation, const struct gm_question *question,
                          const struct gm_choice *direct, struct gm_sequence_choice *found) {
    found->sequence.count = 0;
    if (direct->kernel && question->options->flags & GM_PLAN_BATCH_INVARIANT) /* one order of rounding for every M */
        return 0;
    if (operation->sequences)
        operation->sequences->propose(question->problem, question->options, &found->sequence);
    if (found->sequence.count == 0)
        return 0;
    found->steps_us = steps_us(&found->sequence, question);
    if (found->steps_us < 0 || (direct->kernel && found->steps_us >= direct->verdict.ranking_us))
        return 0;
    found->options = options_in(&found->sequence, question->options);
    found->choice = choose(operation, found->sequence.problem, &found->options, question->device, found->planned);
    if (!found->choice.kernel)
        return 0;
    found->predicted_us = found->steps_us + found->choice.verdict.predicted_us;
    found->workspace_bytes = found->sequence.bytes + found->choice.verdict.workspace_bytes;
    return !direct->kernel || found->steps_us + found->choice.verdict.ranking_us < direct->verdict.ranking_us;
}

struct gm_question gm_sequence_question(const struct gm_sequence_choice *found, const struct gm_device *device) {
    return (struct gm_question){device, found->planned, &found->options, found->choice.verdict.division};
}
