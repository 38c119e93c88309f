/* SPDX-License-Identifier: Apache-2.0 */
/* Opens the first CUDA device, and owns the device memory that cases use. */
#include <string.h>

#include "gpu_tests.h"

struct environment env;

static bool no_device(const char *why) {
    snprintf(env.why, sizeof env.why, "%s", why);
    env.drv = NULL;
    return false;
}

bool open_device(void) {
    if (env.drv)
        return true;
    env.simulated = gm_driver() && gm_driver_is_simulated(); /* which a substitute no longer tells */
    if (opt.image && !substitute_image(opt.image))
        return no_device("there is no driver, or the file of --image cannot be read");
    env.drv = gm_driver();
    if (!env.drv)
        return no_device(gm_last_error());
    if (gm_device_count(&env.device_count) != GM_OK || env.device_count == 0)
        return no_device("the driver finds no CUDA device");
    env.device.size = sizeof env.device;
    CUdevice device;
    if (gm_context_create(0, &env.context) != GM_OK || gm_context_device(env.context, &env.device) != GM_OK)
        return no_device(gm_last_error());
    if (env.drv->cuDeviceGet(&device, 0) || env.drv->cuDevicePrimaryCtxRetain(&env.primary, device) ||
        env.drv->cuCtxSetCurrent(env.primary) || env.drv->cuStreamCreate(&env.stream, CU_STREAM_NON_BLOCKING))
        return no_device("the device's context could not be made current");
    if (opt.schedule)
        set_schedule(opt.schedule);
    return true;
}

void close_device(void) {
    if (!env.drv)
        return;
    env.drv->cuStreamDestroy(env.stream);
    gm_context_destroy(env.context);
    env.drv->cuDevicePrimaryCtxRelease(0);
    memset(&env, 0, sizeof env);
}

void set_schedule(uint64_t seed) {
    void (*set_seed)(uint64_t);
    void *address = gm_driver_symbol("gm_sim_set_seed");
    memcpy(&set_seed, &address, sizeof set_seed);
    if (set_seed)
        set_seed(seed);
}

CUdeviceptr arena_take_exactly(struct result *result, struct arena *arena, size_t bytes) {
    if (arena->bytes)
        env.drv->cuMemFree(arena->base);
    *arena = (struct arena){0};
    if (!check_cuda(result, env.drv->cuMemAlloc(&arena->base, bytes), "cuMemAlloc"))
        return 0;
    arena->bytes = bytes;
    return arena->base;
}

/* Grows in steps, so that a walk over shapes allocates a few times only. */
CUdeviceptr arena_take(struct result *result, struct arena *arena, size_t bytes) {
    return bytes <= arena->bytes ? arena->base : arena_take_exactly(result, arena, bytes + bytes / 2 + (1 << 20));
}

/* A copy from pageable memory may return before it has landed, and our streams do not wait for the default one. */
bool to_device(struct result *result, CUdeviceptr to, const void *from, size_t bytes) {
    return check_cuda(result, env.drv->cuMemcpyHtoD(to, from, bytes), "cuMemcpyHtoD") &&
           check_cuda(result, env.drv->cuCtxSynchronize(), "cuCtxSynchronize");
}

void arena_free(struct arena *arena) {
    if (arena->bytes)
        env.drv->cuMemFree(arena->base);
    *arena = (struct arena){0};
}
