/* SPDX-License-Identifier: Apache-2.0 */
/* Starting the driver, and its devices. */
#include "sim/driver/driver_sim.h"

#include <limits.h>
#include <stdio.h>

enum { DRIVER_VERSION = 13000 };

CUresult cuInit(unsigned flags) {
    SIM_LOCKED();
    if (flags)
        return CUDA_ERROR_INVALID_VALUE;
    if (sim_device_presented())
        return CUDA_SUCCESS;
    if (!sim_options_read())
        return CUDA_ERROR_NO_DEVICE;
    const struct sim_device *device = sim_device_find(sim_options_now()->device);
    if (!device)
        return CUDA_ERROR_NO_DEVICE;
    sim_device_present(device, sim_setup_now()->sms);
    return CUDA_SUCCESS;
}

CUresult cuDriverGetVersion(int *version) {
    if (!version)
        return CUDA_ERROR_INVALID_VALUE;
    *version = DRIVER_VERSION;
    return CUDA_SUCCESS;
}

CUresult cuDeviceGetCount(int *count) {
    SIM_LOCKED();
    const CUresult started = sim_check_started();
    if (started != CUDA_SUCCESS || !count)
        return started != CUDA_SUCCESS ? started : CUDA_ERROR_INVALID_VALUE;
    *count = sim_setup_now()->devices;
    return CUDA_SUCCESS;
}

CUresult cuDeviceGet(CUdevice *device, int ordinal) {
    SIM_LOCKED();
    const CUresult started = sim_check_started();
    if (started != CUDA_SUCCESS || !device)
        return started != CUDA_SUCCESS ? started : CUDA_ERROR_INVALID_VALUE;
    if (!sim_device_exists(ordinal))
        return CUDA_ERROR_INVALID_DEVICE;
    *device = ordinal;
    return CUDA_SUCCESS;
}

/* What the functions below all begin with. */
static CUresult check(const void *answer, CUdevice device) {
    const CUresult started = sim_check_started();
    if (started != CUDA_SUCCESS)
        return started;
    if (!answer)
        return CUDA_ERROR_INVALID_VALUE;
    return sim_device_exists(device) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_DEVICE;
}

CUresult cuDeviceGetName(char *name, int length, CUdevice device) {
    SIM_LOCKED();
    const CUresult result = check(name, device);
    if (result != CUDA_SUCCESS || length <= 0)
        return result != CUDA_SUCCESS ? result : CUDA_ERROR_INVALID_VALUE;
    snprintf(name, (size_t)length, "%s", sim_device_presented()->name);
    return CUDA_SUCCESS;
}

CUresult cuDeviceTotalMem(size_t *bytes, CUdevice device) {
    SIM_LOCKED();
    const CUresult result = check(bytes, device);
    if (result == CUDA_SUCCESS)
        *bytes = sim_device_presented()->memory_bytes;
    return result;
}
SIM_ALIAS(cuDeviceTotalMem_v2, cuDeviceTotalMem);

/* ---- attributes ------------------------------------------------------------------------------------------------- */

/* Every attribute of the driver that has no entry here is 0: a simulated device has no textures, no NVLink, no PCI bus.
 */
enum { ATTRIBUTES_MAX = 147 };

static int attribute_of(const struct sim_device *d, int attribute) {
    const struct {
        int attribute, value;
    } known[] = {
        {CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK, 1024},
        {CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X, 1024},
        {CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Y, 1024},
        {CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Z, 64},
        {CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X, INT_MAX},
        {CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Y, 65535},
        {CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Z, 65535},
        {CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK, d->shared_per_block},
        {CU_DEVICE_ATTRIBUTE_TOTAL_CONSTANT_MEMORY, 65536},
        {CU_DEVICE_ATTRIBUTE_WARP_SIZE, PTX_LANES},
        {CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_BLOCK, 65536},
        {CU_DEVICE_ATTRIBUTE_CLOCK_RATE, d->clock_khz},
        {CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, d->sm_count},
        {CU_DEVICE_ATTRIBUTE_CONCURRENT_KERNELS, 1},
        {CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE, d->memory_clock_khz},
        {CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH, d->bus_bits},
        {CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE, d->l2_bytes},
        {CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR, d->threads_per_sm},
        {CU_DEVICE_ATTRIBUTE_UNIFIED_ADDRESSING, 1},
        {CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, d->major},
        {CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, d->minor},
        {CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR, d->shared_per_sm},
        {CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_MULTIPROCESSOR, 65536},
        {CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN, d->shared_per_block_optin},
        {CU_DEVICE_ATTRIBUTE_MAX_BLOCKS_PER_MULTIPROCESSOR, sim_device_blocks_per_sm(d)},
        {CU_DEVICE_ATTRIBUTE_RESERVED_SHARED_MEMORY_PER_BLOCK, SIM_SHARED_RESERVED},
        {CU_DEVICE_ATTRIBUTE_CLUSTER_LAUNCH, d->max_cluster > 1},
        {CU_DEVICE_ATTRIBUTE_TENSOR_MAP_ACCESS_SUPPORTED, d->major >= 9},
    };
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (known[i].attribute == attribute)
            return known[i].value;
    return 0;
}

CUresult cuDeviceGetAttribute(int *value, int attribute, CUdevice device) {
    SIM_LOCKED();
    const CUresult result = check(value, device);
    if (result != CUDA_SUCCESS || attribute < 1 || attribute > ATTRIBUTES_MAX)
        return result != CUDA_SUCCESS ? result : CUDA_ERROR_INVALID_VALUE;
    *value = attribute_of(sim_device_presented(), attribute);
    return CUDA_SUCCESS;
}
