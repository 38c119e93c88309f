/* SPDX-License-Identifier: Apache-2.0 */
/* Workspaces between bytes that must stay. */
#include "workspace.h"

#include <stdlib.h>

enum { GUARD_BYTES = 4096 };

static uint8_t filler(const struct guarded_workspace *workspace, size_t at) {
    return workspace->of_ones ? 0xff : (uint8_t)(hash64(opt.seed ^ 0x57, at) >> 24);
}

bool place_workspace(struct result *result, struct guarded_workspace *workspace, size_t bytes, bool of_ones) {
    const size_t all = bytes + 2 * GUARD_BYTES;
    const CUdeviceptr base = arena_take(result, &workspace->arena, all);
    uint8_t *image = malloc(all);
    if (!image)
        exit(2);
    workspace->address = base + GUARD_BYTES;
    workspace->bytes = bytes;
    workspace->of_ones = of_ones;
    for (size_t i = 0; i < all; i++)
        image[i] = filler(workspace, i);
    const bool ok = base && to_device(result, base, image, all);
    free(image);
    return ok;
}

bool check_workspace(struct result *result, const struct guarded_workspace *workspace, const char *what) {
    uint8_t zone[GUARD_BYTES];
    for (int side = 0; side < 2; side++) {
        const size_t start = side ? GUARD_BYTES + workspace->bytes : 0;
        if (!check_cuda(result, env.drv->cuMemcpyDtoH(zone, workspace->address - GUARD_BYTES + start, sizeof zone),
                        what))
            return false;
        for (size_t i = 0; i < sizeof zone; i++)
            if (zone[i] != filler(workspace, start + i)) {
                fail(result, "%s: byte %zu %s the workspace was written", what, i, side ? "behind" : "before");
                return false;
            }
    }
    return true;
}

static size_t wanted_by(const struct call *call, const struct gm_plan_options *options) {
    gm_plan *plan = NULL;
    size_t bytes = 0;
    if (call->operation->plan(env.context, call->problem, options, &plan) == GM_OK)
        bytes = gm_plan_workspace_bytes(plan);
    gm_plan_destroy(plan);
    return bytes;
}

bool run_call_with_workspace(struct result *result, const struct call *call, const struct gm_plan_options *options,
                             int repeats, uint32_t may_refuse, struct guarded_workspace *workspace, bool of_ones,
                             gm_device_ptr *address, size_t *bytes, const char *what) {
    const size_t wanted = options->workspace_limit ? wanted_by(call, options) : 0;
    if (wanted == 0)
        return run_call(result, call, options, repeats, may_refuse, what);
    if (!place_workspace(result, workspace, wanted, of_ones))
        return false;
    *address = workspace->address;
    *bytes = workspace->bytes;
    return run_call(result, call, options, repeats, may_refuse, what) && check_workspace(result, workspace, what);
}
