/* SPDX-License-Identifier: Apache-2.0 */
/* A workspace for calls: exactly as long as a plan asks, full of anything, between bytes that must stay. */
#ifndef GPU_TESTS_WORKSPACE_H
#define GPU_TESTS_WORKSPACE_H

#include "gpu_tests.h"

struct guarded_workspace {
    struct arena arena;
    gm_device_ptr address;
    size_t bytes;
    bool of_ones; /* all its bits, not noise */
};

/* From the second time on at the same address, if it is no longer. Free its arena. */
bool place_workspace(struct result *result, struct guarded_workspace *workspace, size_t bytes, bool of_ones);
/* Whether the bytes around it are as they were placed. */
bool check_workspace(struct result *result, const struct guarded_workspace *workspace, const char *what);

/* run_call() with the workspace that the plan asks for; *address and *bytes are those of the call's arguments, which are 0 where
 * it asks for none. */
bool run_call_with_workspace(struct result *result, const struct call *call, const struct gm_plan_options *options,
                             int repeats, uint32_t may_refuse, struct guarded_workspace *workspace, bool of_ones,
                             gm_device_ptr *address, size_t *bytes, const char *what);

#endif
