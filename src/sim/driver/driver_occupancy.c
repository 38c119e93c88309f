/* SPDX-License-Identifier: Apache-2.0 */
/* How many CTAs an SM holds, and how many clusters the device. */
#include "sim/driver/driver_limits.h"
#include "sim/driver/driver_sim.h"

enum {
    REGISTER_FILE = 65536,
    REGISTER_UNIT = 256, /* a warp's registers come in units of so many */
    SHARED_UNIT = 128,
    SMALL_CARVEOUT = 16 << 10
};

static int least(int a, int b) {
    return a < b ? a : b;
}

static int ctas_by_registers(int registers, int warps) {
    const int per_warp = (registers * PTX_LANES + REGISTER_UNIT - 1) / REGISTER_UNIT * REGISTER_UNIT;
    return REGISTER_FILE / (per_warp * warps);
}

int sim_ctas_per_sm(const struct CUfunc_st *function, uint32_t threads, uint64_t dynamic_shared) {
    const struct sim_device *device = sim_device_presented();
    const int warps = (int)((threads + PTX_LANES - 1) / PTX_LANES);
    const uint64_t bytes = function->code->static_shared_bytes + dynamic_shared;
    if (warps == 0 || bytes > (uint64_t)device->shared_per_block_optin)
        return 0;
    const int shared = (int)(bytes + SIM_SHARED_RESERVED + SHARED_UNIT - 1) / SHARED_UNIT * SHARED_UNIT;
    int ctas = least(device->threads_per_sm / (warps * PTX_LANES), sim_device_blocks_per_sm(device));
    ctas = least(ctas, ctas_by_registers(function->registers, warps));
    return least(ctas, device->shared_per_sm / shared);
}

CUresult cuOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, CUfunction handle, int block_threads,
                                                     size_t shared_bytes) {
    SIM_LOCKED();
    CUcontext context;
    CUfunction function = NULL;
    CUresult result = sim_context_current(&context);
    if (result == CUDA_SUCCESS)
        result = sim_function_find(handle, context, &function);
    if (result != CUDA_SUCCESS)
        return result;
    if (!blocks || block_threads <= 0)
        return CUDA_ERROR_INVALID_VALUE;
    *blocks = block_threads > 1024 ? 0 : sim_ctas_per_sm(function, (uint32_t)block_threads, shared_bytes);
    return CUDA_SUCCESS;
}

/* ---- clusters -------------------------------------------------------------------------------------------------- */

/*  A cluster lies in one GPC, one CTA or more an SM; but its GPC has at least as many SMs as it has CTAs. With that,
 * the GPCs of devices.c give what the driver of an H200 said for 64 combinations of size and shared memory
 *  (`gristmill lab run cluster-limits`). It also took 8 CTAs of 1 KB an SM to be the most, where 32 would fit: the
 * shared memory of a kernel that asks for so little is not the whole SM's. */
int sim_clusters_resident(const struct CUfunc_st *function, const struct sim_shape *shape) {
    const struct sim_device *device = sim_device_presented();
    const int size = (int)(shape->cluster[0] * shape->cluster[1] * shape->cluster[2]);
    const int shared = (int)(function->code->static_shared_bytes + shape->dynamic_shared + SIM_SHARED_RESERVED);
    int ctas = sim_ctas_per_sm(function, shape->block[0] * shape->block[1] * shape->block[2], shape->dynamic_shared);
    if (shared * 8 <= SMALL_CARVEOUT)
        ctas = least(ctas, SMALL_CARVEOUT / shared);
    int clusters = 0;
    for (int i = 0, sms; (sms = sim_device_gpc(device, i)); i++)
        if (sms >= size)
            clusters += sms * ctas / size;
    return clusters;
}

CUresult cuOccupancyMaxActiveClusters(int *clusters, CUfunction handle, const CUlaunchConfig *config) {
    SIM_LOCKED();
    CUcontext context;
    CUfunction function = NULL;
    struct sim_shape shape;
    CUresult result = sim_context_current(&context);
    if (result != CUDA_SUCCESS)
        return result;
    if (!clusters || !config)
        return CUDA_ERROR_INVALID_VALUE;
    result = sim_function_find(handle, context, &function);
    if (result == CUDA_SUCCESS)
        result = sim_shape_of(config, &shape);
    if (result == CUDA_SUCCESS)
        result = sim_check_shape(function, &shape);
    if (result == CUDA_SUCCESS)
        *clusters = sim_clusters_resident(function, &shape);
    return result;
}
