/* SPDX-License-Identifier: Apache-2.0 */
/* What a program asked to be told: the trace, accesses to shared memory, and where to stop for the single step (step.c). */
#include "sim/report/watch.h"

#include <stdarg.h>
#include <stdio.h>

static struct sim_watch watch = {.step_cta = -1, .step_warp = -1};

struct sim_watch *sim_watch_now(void) {
    return watch.trace || watch.step || watch.access ? &watch : NULL;
}

void gm_sim_set_trace(gm_sim_trace_fn *fn, void *arg) {
    watch.trace = fn;
    watch.trace_arg = arg;
}

void gm_sim_set_step(gm_sim_step_fn *fn, void *arg, uint32_t line, int cta, int warp) {
    watch.step = fn;
    watch.step_arg = arg;
    watch.step_line = line;
    watch.step_cta = cta;
    watch.step_warp = warp;
}

void gm_sim_set_access(gm_sim_access_fn *fn, void *arg) {
    watch.access = fn;
    watch.access_arg = arg;
}

void sim_trace(struct sim_cta *cta, struct sim_warp *warp, int lane, uint32_t line, uint64_t time, uint64_t until,
               const char *kind, const char *format, ...) {
    if (!cta)
        cta = warp ? warp->cta : NULL;
    if (!cta || !sim_traced(cta->machine))
        return;
    struct gm_sim_event event = {.time = time,
                                 .until = until,
                                 .cta = {cta->id[0], cta->id[1], cta->id[2]},
                                 .warp = warp ? (int)warp->index : -1,
                                 .lane = lane,
                                 .line = line};
    va_list arguments;
    va_start(arguments, format);
    snprintf(event.kind, sizeof event.kind, "%s", kind);
    vsnprintf(event.text, sizeof event.text, format, arguments);
    va_end(arguments);
    cta->machine->watch->trace(&event, cta->machine->watch->trace_arg);
}
