/* SPDX-License-Identifier: Apache-2.0 */
/* The fake driver: handles are addresses of table rows and devices; every call is counted under one lock. */
#include "fake_driver.h"

#include "host/family.h"

#include <check.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct fake fake;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static _Thread_local CUcontext stack[8];
static _Thread_local int depth;

CUresult fake_enter(enum fake_function function) {
    pthread_mutex_lock(&lock);
    fake.count[function]++;
    CUresult result = fake.result[function];
    pthread_mutex_unlock(&lock);
    return result;
}

void fake_add(int *counter, int change) {
    pthread_mutex_lock(&lock);
    *counter += change;
    pthread_mutex_unlock(&lock);
}

static CUresult fake_cuInit(unsigned flags) {
    ENTER(cuInit);
    return flags ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
}

static CUresult fake_cuDriverGetVersion(int *version) {
    ENTER(cuDriverGetVersion);
    *version = 13000;
    return CUDA_SUCCESS;
}

static CUresult fake_cuGetErrorName(CUresult error, const char **name) {
    switch (error) {
    case CUDA_ERROR_INVALID_VALUE:
        *name = "CUDA_ERROR_INVALID_VALUE";
        return CUDA_SUCCESS;
    case CUDA_ERROR_OUT_OF_MEMORY:
        *name = "CUDA_ERROR_OUT_OF_MEMORY";
        return CUDA_SUCCESS;
    case CUDA_ERROR_NO_BINARY_FOR_GPU:
        *name = "CUDA_ERROR_NO_BINARY_FOR_GPU";
        return CUDA_SUCCESS;
    default:
        return CUDA_ERROR_INVALID_VALUE;
    }
}

static CUresult fake_cuDeviceGetCount(int *count) {
    ENTER(cuDeviceGetCount);
    *count = FAKE_DEVICES;
    return CUDA_SUCCESS;
}

static CUresult fake_cuDeviceGet(CUdevice *device, int ordinal) {
    ENTER(cuDeviceGet);
    *device = 100 + ordinal;
    return CUDA_SUCCESS;
}

static struct gm_device *device_at(CUdevice device) {
    return &fake.devices[device - 100];
}

static CUresult fake_cuDeviceGetName(char *name, int length, CUdevice device) {
    ENTER(cuDeviceGetName);
    snprintf(name, (size_t)length, "%s", device_at(device)->name);
    return CUDA_SUCCESS;
}

static CUresult fake_cuDeviceGetAttribute(int *value, int attribute, CUdevice id) {
    ENTER(cuDeviceGetAttribute);
    const struct gm_device *device = device_at(id);
    switch (attribute) {
    case CU_DEVICE_ATTRIBUTE_CLOCK_RATE:
        *value = device->sm_clock_mhz * 1000;
        break;
    case CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT:
        *value = device->sm_count;
        break;
    case CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE:
        *value = (int)(device->dram_gbs * 1e9 / 2 / 128 / 1e3);
        break;
    case CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH:
        *value = 1024;
        break;
    case CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE:
        *value = (int)device->l2_bytes;
        break;
    case CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR:
        *value = device->max_threads_per_sm;
        break;
    case CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR:
        *value = device->cc_major;
        break;
    case CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR:
        *value = device->cc_minor;
        break;
    case CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR:
        *value = device->smem_per_sm_bytes;
        break;
    case CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN:
        *value = device->smem_per_block_bytes;
        break;
    default:
        return CUDA_ERROR_INVALID_VALUE;
    }
    return CUDA_SUCCESS;
}

static CUresult fake_cuDeviceTotalMem(size_t *bytes, CUdevice device) {
    ENTER(cuDeviceTotalMem);
    *bytes = (size_t)device_at(device)->memory_bytes;
    return CUDA_SUCCESS;
}

static CUresult fake_cuDevicePrimaryCtxRetain(CUcontext *context, CUdevice device) {
    ENTER(cuDevicePrimaryCtxRetain);
    *context = (CUcontext)device_at(device);
    fake_add(&fake.retained, 1);
    return CUDA_SUCCESS;
}

static CUresult fake_cuDevicePrimaryCtxRelease(CUdevice device) {
    (void)device;
    ENTER(cuDevicePrimaryCtxRelease);
    fake_add(&fake.retained, -1);
    return CUDA_SUCCESS;
}

static CUresult fake_cuCtxPushCurrent(CUcontext context) {
    ENTER(cuCtxPushCurrent);
    stack[depth++] = context;
    return CUDA_SUCCESS;
}

static CUresult fake_cuCtxPopCurrent(CUcontext *context) {
    ENTER(cuCtxPopCurrent);
    if (depth == 0)
        return CUDA_ERROR_INVALID_CONTEXT;
    *context = stack[--depth];
    return CUDA_SUCCESS;
}

/* A library is a copy of its image, a kernel and its function are the row of the table. */
struct library {
    size_t bytes;
    unsigned char image[];
};

static CUresult fake_cuLibraryLoadData(CUlibrary *library, const void *image, int *jit_options, void **jit_values,
                                       unsigned jit_count, int *library_options, void **library_values,
                                       unsigned library_count) {
    (void)jit_options, (void)jit_values, (void)library_options, (void)library_values;
    struct {
        uint32_t magic;
        uint16_t version, head_bytes;
        uint64_t bytes; /* behind the head */
    } head;
    ENTER(cuLibraryLoadData);
    memcpy(&head, image, sizeof head);
    if (jit_count || library_count || head.magic != 0xba55ed50)
        return CUDA_ERROR_INVALID_VALUE;
    struct library *copy = malloc(sizeof *copy + head.head_bytes + head.bytes);
    if (!copy)
        return CUDA_ERROR_OUT_OF_MEMORY;
    copy->bytes = head.head_bytes + head.bytes;
    memcpy(copy->image, image, copy->bytes);
    *library = (CUlibrary)(void *)copy;
    fake_add(&fake.libraries, 1);
    return CUDA_SUCCESS;
}

static CUresult fake_cuLibraryUnload(CUlibrary library) {
    ENTER(cuLibraryUnload);
    free(library);
    fake_add(&fake.libraries, -1);
    return CUDA_SUCCESS;
}

/* A cubin has the name with a zero behind it, PTX with the parameters. */
static int holds_kernel(const struct library *library, const char *name) {
    char text[256];
    const int bytes = snprintf(text, sizeof text, "%s(", name);
    return memmem(library->image, library->bytes, name, strlen(name) + 1) ||
           memmem(library->image, library->bytes, text, (size_t)bytes);
}

static CUresult fake_cuLibraryGetKernel(CUkernel *kernel, CUlibrary library, const char *name) {
    ENTER(cuLibraryGetKernel);
    const struct library *copy = (const void *)library;
    const int index = gm_find_kernel(gm_kernels, gm_kernel_count(), name);
    if (index < 0 || !holds_kernel(copy, name))
        return CUDA_ERROR_INVALID_VALUE;
    *kernel = (CUkernel)(uintptr_t)&gm_kernels[index];
    return CUDA_SUCCESS;
}

static CUresult fake_cuKernelGetFunction(CUfunction *function, CUkernel kernel) {
    ENTER(cuKernelGetFunction);
    if (depth == 0)
        return CUDA_ERROR_INVALID_CONTEXT;
    *function = (CUfunction)kernel;
    return CUDA_SUCCESS;
}

static CUresult fake_cuFuncSetAttribute(CUfunction function, int attribute, int value) {
    (void)function;
    ENTER(cuFuncSetAttribute);
    if (attribute != CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES)
        return CUDA_ERROR_INVALID_VALUE;
    pthread_mutex_lock(&lock);
    fake.smem_attribute = value;
    pthread_mutex_unlock(&lock);
    return CUDA_SUCCESS;
}

static CUresult fake_cuFuncGetAttribute(int *value, int attribute, CUfunction function) {
    (void)function;
    ENTER(cuFuncGetAttribute);
    if (attribute != CU_FUNC_ATTRIBUTE_NUM_REGS)
        return CUDA_ERROR_INVALID_VALUE;
    *value = 168;
    return CUDA_SUCCESS;
}

/* An encoded map holds its address and the number of its description. */
static CUresult fake_cuTensorMapEncodeTiled(void *map, int type, unsigned rank, void *address, const uint64_t *dims,
                                            const uint64_t *strides, const uint32_t *box,
                                            const uint32_t *element_strides, int interleave, int swizzle,
                                            int l2_promotion, int oob_fill) {
    ENTER(cuTensorMapEncodeTiled);
    struct gm_map_desc desc = {.type = type,
                               .rank = rank,
                               .address = (uint64_t)(uintptr_t)address,
                               .interleave = interleave,
                               .swizzle = swizzle,
                               .l2_promotion = l2_promotion,
                               .oob_fill = oob_fill};
    for (unsigned i = 0; i < rank; i++) {
        desc.dims[i] = dims[i];
        desc.box[i] = box[i];
        desc.element_strides[i] = element_strides[i];
        if (i + 1 < rank)
            desc.strides[i] = strides[i];
    }
    pthread_mutex_lock(&lock);
    const uint64_t words[2] = {desc.address, (uint64_t)fake.map_count};
    fake.maps[fake.map_count++ % FAKE_MAPS] = desc;
    pthread_mutex_unlock(&lock);
    memset(map, 0xab, sizeof(struct gm_tensor_map));
    memcpy(map, words, sizeof words);
    return CUDA_SUCCESS;
}

static CUresult fake_cuTensorMapReplaceAddress(void *map, void *address) {
    ENTER(cuTensorMapReplaceAddress);
    const uint64_t word = (uint64_t)(uintptr_t)address;
    if (word % 16 || (uintptr_t)map % 64)
        return CUDA_ERROR_INVALID_VALUE;
    memcpy(map, &word, sizeof word);
    return CUDA_SUCCESS;
}

CUresult fake_record(const CUlaunchConfig *config, CUfunction function, const void *params) {
    if (depth == 0)
        return CUDA_ERROR_INVALID_CONTEXT;
    if (config->hStream == (CUstream)FAKE_FOREIGN_STREAM)
        return CUDA_ERROR_INVALID_HANDLE;
    const struct gm_kernel *row = (const struct gm_kernel *)function;
    pthread_mutex_lock(&lock);
    struct fake_launch *launch = &fake.launch;
    launch->config = *config;
    launch->config.attrs = NULL;
    for (unsigned i = 0; i < config->numAttrs; i++)
        launch->attributes[i] = config->attrs[i];
    launch->kernel = (int)(row - gm_kernels);
    memcpy(&launch->params, params, row->family->params_bytes);
    pthread_mutex_unlock(&lock);
    return CUDA_SUCCESS;
}

static CUresult fake_cuLaunchKernelEx(const CUlaunchConfig *config, CUfunction function, void **params, void **extra) {
    ENTER(cuLaunchKernelEx);
    return extra ? CUDA_ERROR_INVALID_HANDLE : fake_record(config, function, params[0]);
}

const struct gm_driver fake_driver = {
    .version = 13000,
    .cuInit = fake_cuInit,
    .cuDriverGetVersion = fake_cuDriverGetVersion,
    .cuGetErrorName = fake_cuGetErrorName,
    .cuDeviceGetCount = fake_cuDeviceGetCount,
    .cuDeviceGet = fake_cuDeviceGet,
    .cuDeviceGetName = fake_cuDeviceGetName,
    .cuDeviceGetAttribute = fake_cuDeviceGetAttribute,
    .cuDeviceTotalMem = fake_cuDeviceTotalMem,
    .cuDevicePrimaryCtxRetain = fake_cuDevicePrimaryCtxRetain,
    .cuDevicePrimaryCtxRelease = fake_cuDevicePrimaryCtxRelease,
    .cuCtxPushCurrent = fake_cuCtxPushCurrent,
    .cuCtxPopCurrent = fake_cuCtxPopCurrent,
    .cuLibraryLoadData = fake_cuLibraryLoadData,
    .cuLibraryUnload = fake_cuLibraryUnload,
    .cuLibraryGetKernel = fake_cuLibraryGetKernel,
    .cuKernelGetFunction = fake_cuKernelGetFunction,
    .cuFuncSetAttribute = fake_cuFuncSetAttribute,
    .cuFuncGetAttribute = fake_cuFuncGetAttribute,
    .cuTensorMapEncodeTiled = fake_cuTensorMapEncodeTiled,
    .cuTensorMapReplaceAddress = fake_cuTensorMapReplaceAddress,
    .cuLaunchKernelEx = fake_cuLaunchKernelEx,
};

void fake_install(void) {
    memset(&fake, 0, sizeof fake);
    depth = 0;
    for (int i = 0; i < FAKE_DEVICES; i++) {
        fake.devices[i].size = sizeof fake.devices[i];
        ck_assert_int_eq(gm_device_model("h200", &fake.devices[i]), GM_OK);
    }
    gm_driver_install(&fake_driver);
}

void fake_remove(void) {
    gm_driver_install(NULL);
    ck_assert_msg(fake.libraries == 0, "%d libraries are still loaded", fake.libraries);
    ck_assert_msg(fake.graphs == 0, "%d graphs still exist", fake.graphs);
    ck_assert_msg(fake.retained == 0, "%d primary contexts are still retained", fake.retained);
}

void fake_clear_counts(void) {
    memset(fake.count, 0, sizeof fake.count);
}

int fake_calls(void) {
    int sum = 0;
    for (int i = 0; i < FAKE_FUNCTIONS; i++)
        sum += fake.count[i];
    return sum;
}

void fake_make_current(int device) {
    depth = 0;
    if (device >= 0)
        stack[depth++] = (CUcontext)&fake.devices[device];
}

CUcontext fake_current(void) {
    return depth ? stack[depth - 1] : NULL;
}

int fake_context_depth(void) {
    return depth;
}

uint64_t fake_map_address(const struct gm_tensor_map *map) {
    uint64_t words[2];
    memcpy(words, map->bytes, sizeof words);
    return words[0];
}

struct gm_map_desc fake_map_desc(const struct gm_tensor_map *map) {
    uint64_t words[2];
    memcpy(words, map->bytes, sizeof words);
    return fake.maps[words[1] % FAKE_MAPS];
}
