/* SPDX-License-Identifier: Apache-2.0 */
/* A plan: everything of a launch that is known before the pointers are. Immutable once created: the graphs behind its
 * pointer keep their own state, of which callers see nothing but time. */
#ifndef GM_PLAN_H
#define GM_PLAN_H

#include "host/context.h"
#include "host/family.h"
#include "host/sequence.h"

struct gm_launch_graphs;
struct gm_plan_steps;

#define GM_PARAMS_ALIGN 128  /* bytes; of a tensor map */
#define GM_PARAMS_MAX   1152 /* bytes of any family's parameters */

struct gm_plan {
    const struct gm_operation *operation;
    const struct gm_kernel *kernel;
    const gm_context *context;
    struct gm_device device; /* as much of the context's as the plan may use */
    int empty;               /* there is nothing to launch */
    uint32_t flags;          /* of enum gm_plan_flags */
    int division;
    double predicted_us;
    size_t workspace_bytes;
    CUfunction function;
    CUlaunchConfig config;           /* without stream and attributes */
    CUlaunchAttribute attributes[2]; /* config.numAttrs of them */
    struct gm_launch_graphs *graphs; /* NULL: every launch is plain */
    struct gm_plan_steps *steps;     /* NULL: one launch; else the plan launches what they do, and nothing itself */
    const void *problem;             /* the operation's, normalised and simplified */
    void *params;                    /* template of the family's parameters */
};

/* The plans of a sequence. */
struct gm_plan_steps {
    struct gm_sequence sequence;
    gm_plan *plans[GM_STEPS_MAX + 1]; /* of its steps, then of the operation */
};

/* Whether the plan may use some of the device's SMs only. */
int gm_plan_is_limited(const struct gm_plan *plan);
/* `all` CTAs, one for each piece of work; of a plan that is limited, no more than its SMs hold at once: then each takes
 * several. */
unsigned gm_plan_ctas(const struct gm_plan *plan, int64_t all);

/* One create, execute and explain for all operations; the public functions of an operation call these. */
enum gm_status gm_plan_create(const struct gm_operation *operation, gm_context *context, const void *problem,
                              const struct gm_plan_options *options, gm_plan **plan);
enum gm_status gm_plan_execute(const gm_plan *plan, const struct gm_operation *operation, const void *args,
                               void *stream);
enum gm_status gm_plan_and_execute(const struct gm_operation *operation, gm_context *context, const void *problem,
                                   const void *args, void *stream);
enum gm_status gm_explain(const struct gm_operation *operation, const struct gm_device *device, const void *problem,
                          const struct gm_plan_options *options, struct gm_candidate *candidates, size_t capacity,
                          size_t *count);

#endif
