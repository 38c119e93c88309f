/* SPDX-License-Identifier: Apache-2.0 */
/* Trace and single step, from the inside. */
#ifndef SIM_WATCH_H
#define SIM_WATCH_H

#include "sim/machine/machine.h"

struct sim_watch {
    gm_sim_trace_fn *trace;
    void *trace_arg;
    gm_sim_step_fn *step;
    void *step_arg;
    gm_sim_access_fn *access;
    void *access_arg;
    uint32_t step_line;      /* 0: every line */
    int step_cta, step_warp; /* -1: any; step_cta is the linear index in the grid */
};

/* What gm_sim_set_trace(), gm_sim_set_step() and gm_sim_set_access() asked for; NULL: nobody listens. */
struct sim_watch *sim_watch_now(void);

/* One event of the timeline; cheap when nobody listens. `warp` may be NULL (then `cta` names the place). `until` 0: the
 * event has no length. Lines and lanes as in gm_sim_event. */
void sim_trace(struct sim_cta *cta, struct sim_warp *warp, int lane, uint32_t line, uint64_t time, uint64_t until,
               const char *kind, const char *format, ...) __attribute__((format(printf, 8, 9)));
static inline bool sim_traced(const struct sim_machine *machine) {
    return machine->watch && machine->watch->trace;
}

#endif
