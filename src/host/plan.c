/* SPDX-License-Identifier: Apache-2.0 */
/* Creates and destroys plans of any operation. */
#include "host/plan.h"

#include "host/choose.h"
#include "host/error.h"
#include "host/launch_graph.h"
#include "host/log.h"
#include "host/occupancy.h"
#include "host/options.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define OVERLAP_DRIVER 12030 /* as cuDriverGetVersion */
#define OVERLAP_CC     9     /* major: images for others, which newer devices compile, have no griddepcontrol */

/* ---- memory: the plan, its parameters, its problem -------------------------------------------------- */

static size_t round_up(size_t bytes) {
    return (bytes + GM_PARAMS_ALIGN - 1) / GM_PARAMS_ALIGN * GM_PARAMS_ALIGN;
}

static gm_plan *allocate(const struct gm_kernel *kernel, const void *problem) {
    const struct gm_family *family = kernel->family;
    const size_t head = round_up(sizeof(gm_plan)), params = round_up(family->params_bytes);
    const size_t problem_bytes = family->operation->planned_bytes;
    char *bytes = aligned_alloc(GM_PARAMS_ALIGN, head + params + round_up(problem_bytes));
    if (!bytes)
        return NULL;
    memset(bytes, 0, head + params);
    memcpy(bytes + head + params, problem, problem_bytes);
    gm_plan *plan = (gm_plan *)(void *)bytes;
    plan->params = bytes + head;
    plan->problem = bytes + head + params;
    plan->kernel = kernel;
    plan->operation = family->operation;
    return plan;
}

static void destroy_steps(struct gm_plan_steps *steps) {
    for (int i = 0; steps && i <= steps->sequence.count; i++)
        gm_plan_destroy(steps->plans[i]);
    free(steps);
}

void gm_plan_destroy(gm_plan *plan) {
    if (plan) {
        gm_launch_graphs_free(plan);
        destroy_steps(plan->steps);
    }
    free(plan);
}

/* ---- what a launch is made of ------------------------------------------------------------------------ */

/* Where the kernel waits for the one before it itself (griddepcontrol), its set-up, and its first requests to L2, may
 * overlap that one's end. Graphs keep such an order from driver 12.3 on. */
static int overlaps_launches(const gm_plan *plan) {
    const struct gm_device *device = &plan->context->device;
    return plan->kernel->traits & GM_TRAIT_OVERLAPS_LAUNCHES && device->cc_major == OVERLAP_CC &&
           device->driver_version >= OVERLAP_DRIVER && !(plan->flags & GM_PLAN_NO_OVERLAP);
}

static void set_attributes(gm_plan *plan) {
    CUlaunchAttribute *next = plan->attributes;
    if (overlaps_launches(plan)) {
        next->id = CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION;
        next++->value.programmaticStreamSerializationAllowed = 1;
    }
    if (plan->kernel->cluster_ctas > 1) {
        next->id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION;
        next->value.clusterDim.x = (unsigned)plan->kernel->cluster_ctas;
        next->value.clusterDim.y = next->value.clusterDim.z = 1;
        next++;
    }
    plan->config.numAttrs = (unsigned)(next - plan->attributes);
}

static void set_config(gm_plan *plan) {
    plan->config.gridDimY = plan->config.gridDimZ = 1;
    plan->config.blockDimX = (unsigned)plan->kernel->threads;
    plan->config.blockDimY = plan->config.blockDimZ = 1;
    plan->config.sharedMemBytes = (unsigned)plan->kernel->smem_bytes;
    set_attributes(plan);
}

/* Everything that needs the driver, with the context current. */
static enum gm_status prepare(gm_context *context, gm_plan *plan, const struct gm_verdict *verdict, int argument_sets) {
    set_config(plan);
    enum gm_status status = gm_context_enter(context);
    if (status != GM_OK)
        return status;
    status = gm_context_load(context, gm_plan_kernel(plan), &plan->function);
    if (status == GM_OK)
        status = plan->kernel->family->prepare(plan, verdict);
    if (status == GM_OK && !(plan->flags & GM_PLAN_PLAIN_LAUNCH))
        plan->graphs = gm_launch_graphs_new(plan, argument_sets);
    gm_context_leave(context);
    return status;
}

/* ---- from a problem ---------------------------------------------------------------------------------- */

/* How well a kernel's reason explains to a caller why none accepts: that of the named one, or of one that computes with the
 * problem's types and has something else against it than its layout, best. */
enum { EXPLAINS_NOT, EXPLAINS_LAYOUT, EXPLAINS };
static int explains(const struct gm_kernel *kernel, const struct gm_question *question, enum gm_reason reason) {
    const char *named = question->options->kernel;
    const enum gm_type type = gm_kernel_type_of(kernel->family->operation, question->problem);
    int division;
    if (named)
        return gm_is_named(kernel, named, strlen(named), &division) ? EXPLAINS : EXPLAINS_NOT;
    if (!gm_takes_type(kernel, type) || reason == GM_REASON_TYPE)
        return EXPLAINS_NOT;
    return reason == GM_REASON_LAYOUT ? EXPLAINS_LAYOUT : EXPLAINS;
}

/* No kernel accepts: say how many there are, and what the first one answers that explains it best. */
static enum gm_status no_kernel(const struct gm_operation *operation, const struct gm_question *question) {
    char sentence[232] = "", shown[232] = "none computes with this type";
    const struct gm_sentence why = {sentence, sizeof sentence};
    const char *name = NULL;
    size_t kernels = 0;
    int best = EXPLAINS_NOT;
    for (size_t i = 0; i < gm_kernel_count(); i++) {
        const struct gm_kernel *kernel = &gm_kernels[i];
        if (kernel->family->operation != operation)
            continue;
        kernels++;
        if (best == EXPLAINS)
            continue;
        const int rank = explains(kernel, question, gm_verdict_of(kernel, question, &why).reason);
        if (rank <= best)
            continue;
        best = rank;
        name = kernel->name;
        memcpy(shown, sentence, sizeof shown);
    }
    return gm_fail(GM_ERROR_NO_KERNEL, "no kernel of %zu accepts the problem on %s%s%s: %s", kernels,
                   question->device->name, name ? "; " : "", name ? name : "", shown);
}

/* A plan without what it launches; NULL: there is no memory. */
static gm_plan *begin(gm_context *context, const struct gm_choice *choice, const struct gm_question *question) {
    gm_plan *plan = allocate(choice->kernel, question->problem);
    if (!plan)
        return NULL;
    plan->context = context;
    plan->device = *question->device;
    plan->flags = question->options->flags;
    plan->predicted_us = choice->verdict.predicted_us;
    plan->division = choice->verdict.division;
    plan->workspace_bytes = choice->verdict.workspace_bytes;
    plan->empty = plan->operation->is_empty(plan->problem);
    return plan;
}

static void log_plan(const gm_plan *plan, enum gm_source source) {
    char problem[160];
    if (!gm_log_is_heard(GM_LOG_INFO))
        return;
    gm_problem_print(plan->operation, plan->problem, problem, sizeof problem);
    gm_log(GM_LOG_INFO, "plan %s: %s%s, predicted %.2f us%s", problem, plan->kernel->name,
           plan->steps ? " in a sequence" : "", plan->predicted_us,
           source == GM_SOURCE_LEDGER || source == GM_SOURCE_NEIGHBOURS ? ", by the ledger" : "");
}

/* gm_plan_create(), of a problem that may be computed by a sequence, or is part of one. */
static enum gm_status create_plan(const struct gm_operation *operation, gm_context *context, const void *given,
                                  const struct gm_plan_options *given_options, int may_be_sequence, gm_plan **out);

/* Makes the plans of a sequence. */
static enum gm_status make_steps(gm_plan *plan, gm_context *context, const struct gm_sequence_choice *found) {
    const struct gm_plan_options beside = gm_sequence_step_options(&found->options);
    struct gm_plan_steps *steps = plan->steps = calloc(1, sizeof *steps);
    if (!steps)
        return gm_fail(GM_ERROR_OUT_OF_MEMORY, "no host memory for a plan");
    steps->sequence = found->sequence;
    plan->predicted_us = found->predicted_us;
    plan->workspace_bytes = found->workspace_bytes;
    enum gm_status status = GM_OK;
    for (int i = 0; i < found->sequence.count && status == GM_OK; i++) {
        const struct gm_step *step = &found->sequence.steps[i];
        status = create_plan(step->operation, context, step->problem, &beside, 0, &steps->plans[i]);
    }
    if (status == GM_OK)
        status = create_plan(plan->operation, context, found->sequence.problem, &found->options, 0,
                             &steps->plans[found->sequence.count]);
    return status;
}

/* Makes the plan of a choice, or of the sequence, where there is one, that was found to be better. */
static enum gm_status create(gm_context *context, const struct gm_question *question, const struct gm_choice *choice,
                             const struct gm_sequence_choice *sequence, gm_plan **out) {
    gm_plan *plan = begin(context, choice, question);
    if (!plan)
        return gm_fail(GM_ERROR_OUT_OF_MEMORY, "no host memory for a plan");
    enum gm_status status = GM_OK;
    if (sequence)
        status = make_steps(plan, context, sequence);
    else if (!plan->empty)
        status = prepare(context, plan, &choice->verdict, question->options->argument_sets);
    if (status != GM_OK) {
        gm_plan_destroy(plan);
        return status;
    }
    log_plan(plan, choice->source);
    *out = plan;
    return GM_OK;
}

static enum gm_status create_plan(const struct gm_operation *operation, gm_context *context, const void *given,
                                  const struct gm_plan_options *given_options, int may_be_sequence, gm_plan **out) {
    if (!context || !out)
        return gm_fail(GM_ERROR_INVALID_ARGUMENT, "%s is NULL", context ? "plan" : "context");
    _Alignas(8) char problem[GM_PROBLEM_MAX];
    struct gm_plan_options options;
    enum gm_status status = gm_options_read(operation, given_options, &options);
    if (status == GM_OK)
        status = gm_problem_read(operation, given, &options, problem);
    if (status == GM_OK)
        status = gm_ledger_check(&options, &context->device);
    if (status != GM_OK)
        return status;
    const struct gm_device device = gm_device_under_budget(&context->device, &options);
    const struct gm_question question = {&device, problem, &options, GM_DIVISION_BEST};
    const struct gm_choice choice = gm_choose(operation, gm_kernels, gm_kernel_count(), &question);
    struct gm_sequence_choice found;
    if (may_be_sequence && gm_sequence_is_better(operation, &question, &choice, &found))
        return create(context, &question, &found.choice, &found, out);
    if (!choice.kernel)
        return no_kernel(operation, &question);
    return create(context, &question, &choice, NULL, out);
}

enum gm_status gm_plan_create(const struct gm_operation *operation, gm_context *context, const void *given,
                              const struct gm_plan_options *options, gm_plan **out) {
    return create_plan(operation, context, given, options, 1, out);
}

/* ---- its grid ---------------------------------------------------------------------------------------- */

int gm_plan_is_limited(const struct gm_plan *plan) {
    return plan->device.sm_count < plan->context->device.sm_count;
}

unsigned gm_plan_ctas(const struct gm_plan *plan, int64_t all) {
    const int64_t most = (int64_t)plan->device.sm_count * gm_ctas_per_sm(plan->kernel, &plan->device);
    return (unsigned)(gm_plan_is_limited(plan) && most < all ? most : all);
}

/* ---- what a caller may ask of one -------------------------------------------------------------------- */

size_t gm_plan_workspace_bytes(const gm_plan *plan) {
    return plan ? plan->workspace_bytes : 0;
}

int gm_plan_kernel(const gm_plan *plan) {
    return plan ? (int)(plan->kernel - gm_kernels) : -1;
}

double gm_plan_predicted_us(const gm_plan *plan) {
    return plan ? plan->predicted_us : 0;
}
