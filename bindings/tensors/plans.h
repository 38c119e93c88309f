/* SPDX-License-Identifier: Apache-2.0 */
/* Plans that calls before have made, one for each problem, and a context for each device. Thread-safe. */
#ifndef GM_TENSORS_PLANS_H
#define GM_TENSORS_PLANS_H

#include "call.h"

typedef enum gm_status (*plan_create)(gm_context *context, const void *problem, const struct gm_plan_options *options,
                                      gm_plan **plan);

struct kept_plan;

/* The plan of a problem, a struct whose padding is zero too; NULL: the call has failed. To be given back after the
 * launch. */
struct kept_plan *plan_take(struct call *call, plan_create create, const void *problem, size_t bytes, uint32_t flags);
void plan_give_back(struct kept_plan *kept);
const gm_plan *plan_of(const struct kept_plan *kept);
/* The memory that the plan's kernel wants: 0 bytes for most. */
bool plan_workspace(struct call *call, const struct kept_plan *kept, gm_device_ptr *address, size_t *bytes);

/* How many plans are kept; and forgets those that no call uses, and the contexts if none is left. */
size_t plans_count(void);
void plans_forget(void);

/* Defines run_OPERATION(call, problem, flags, args), which launches by a kept plan. */
#define RUNS_BY_PLAN(operation, MEMORY)                                                                                \
    static enum gm_status create_##operation(gm_context *context, const void *problem,                                 \
                                             const struct gm_plan_options *options, gm_plan **plan) {                  \
        return gm_##operation##_plan_create(context, problem, options, plan);                                          \
    }                                                                                                                  \
    static bool run_##operation(struct call *call, const struct gm_##operation##_problem *problem, uint32_t flags,     \
                                struct gm_##operation##_args *args) {                                                  \
        struct kept_plan *kept = plan_take(call, create_##operation, problem, sizeof *problem, flags);                 \
        if (!kept) {                                                                                                   \
            return false;                                                                                              \
        }                                                                                                              \
        bool ran = MEMORY(call, kept, args) &&                                                                         \
                   call_succeeded(call, gm_##operation##_execute(plan_of(kept), args, call->stream));                  \
        plan_give_back(kept);                                                                                          \
        return ran;                                                                                                    \
    }
#define WITHOUT_WORKSPACE(call, kept, args) true
#define WITH_WORKSPACE(call, kept, args)    plan_workspace(call, kept, &(args)->workspace, &(args)->workspace_bytes)

#endif
