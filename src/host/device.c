/* SPDX-License-Identifier: Apache-2.0 */
/* Device facts: from the driver, from the built-in models, or from the caller. */
#include "host/device.h"

#include "host/driver.h"
#include "host/error.h"
#include "host/structs.h"

#include <inttypes.h>
#include <string.h>
#include <strings.h>

#define KIB 1024LL
#define MIB (1024LL * KIB)
#define GIB (1024LL * MIB)

/* ---- from the models --------------------------------------------------------------------------------- */

/* Datasheet numbers. `match` is what the driver's name of such a device contains. */
static const struct model {
    const char *key, *match;
    struct gm_device device;
} models[] = {
    {"a100", "A100", {.name = "NVIDIA A100-SXM4-80GB", .cc_major = 8, .cc_minor = 0, .sm_count = 108,
      .smem_per_block_bytes = 166912, .smem_per_sm_bytes = 167936, .max_threads_per_sm = 2048, .sm_clock_mhz = 1410,
      .l2_bytes = 40 * MIB, .memory_bytes = 80 * GIB, .dram_gbs = 2039, .tensor_tflops = 312}},
    {"h100", "H100", {.name = "NVIDIA H100 80GB HBM3", .cc_major = 9, .cc_minor = 0, .sm_count = 132,
      .smem_per_block_bytes = 232448, .smem_per_sm_bytes = 233472, .max_threads_per_sm = 2048, .sm_clock_mhz = 1980,
      .l2_bytes = 50 * MIB, .memory_bytes = 80 * GIB, .dram_gbs = 3352, .tensor_tflops = 989.4}},
    {"h200", "H200", {.name = "NVIDIA H200", .cc_major = 9, .cc_minor = 0, .sm_count = 132,
      .smem_per_block_bytes = 232448, .smem_per_sm_bytes = 233472, .max_threads_per_sm = 2048, .sm_clock_mhz = 1980,
      .l2_bytes = 60 * MIB, .memory_bytes = 141 * GIB, .dram_gbs = 4800, .tensor_tflops = 989.4}},
    {"a10", "A10", {.name = "NVIDIA A10", .cc_major = 8, .cc_minor = 6, .sm_count = 72,
      .smem_per_block_bytes = 101376, .smem_per_sm_bytes = 102400, .max_threads_per_sm = 1536, .sm_clock_mhz = 1695,
      .l2_bytes = 6 * MIB, .memory_bytes = 24 * GIB, .dram_gbs = 600, .tensor_tflops = 125}},
    {"rtx4090", "RTX 4090", {.name = "NVIDIA GeForce RTX 4090", .cc_major = 8, .cc_minor = 9, .sm_count = 128,
      .smem_per_block_bytes = 101376, .smem_per_sm_bytes = 102400, .max_threads_per_sm = 1536, .sm_clock_mhz = 2520,
      .l2_bytes = 72 * MIB, .memory_bytes = 24 * GIB, .dram_gbs = 1008, .tensor_tflops = 165.2}},
};
#define MODELS (sizeof models / sizeof *models)

enum gm_status gm_device_model(const char *name, struct gm_device *device) {
    enum gm_status status = GM_CHECK_OUTPUT(device, "device");
    if (status != GM_OK)
        return status;
    if (!name)
        return gm_fail(GM_ERROR_INVALID_ARGUMENT, "the model's name is NULL");
    for (size_t i = 0; i < MODELS; i++) {
        if (strcasecmp(name, models[i].key) == 0) {
            struct gm_device found = models[i].device;
            found.ordinal = -1;
            GM_OUTPUT(device, &found);
            return GM_OK;
        }
    }
    return gm_fail(GM_ERROR_INVALID_ARGUMENT, "unknown device model '%.40s'; there are a100, h100, h200, a10, rtx4090",
                   name);
}

/* ---- from the caller --------------------------------------------------------------------------------- */

/* Bounds of the whole numbers; the least is 0. */
static enum gm_status check_wholes(const struct gm_device *d) {
    const struct {
        const char *name;
        int64_t value, most;
    } fields[] = {
        {"cc_major", d->cc_major, 99},
        {"cc_minor", d->cc_minor, 9},
        {"sm_count", d->sm_count, 65536},
        {"smem_per_block_bytes", d->smem_per_block_bytes, 16 * MIB},
        {"smem_per_sm_bytes", d->smem_per_sm_bytes, 16 * MIB},
        {"max_threads_per_sm", d->max_threads_per_sm, 65536},
        {"sm_clock_mhz", d->sm_clock_mhz, 100000},
        {"l2_bytes", d->l2_bytes, 1024 * 1024 * GIB},
        {"memory_bytes", d->memory_bytes, 1024 * 1024 * GIB},
    };
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++)
        if (fields[i].value < 0 || fields[i].value > fields[i].most)
            return gm_fail(GM_ERROR_INVALID_ARGUMENT, "device.%s is %" PRId64 "; it may be 0 to %" PRId64,
                           fields[i].name, fields[i].value, fields[i].most);
    return GM_OK;
}

/* 0 is unknown. A NaN is within no bounds. */
static enum gm_status check_rate(const char *name, double value) {
    const double least = 1e-3, most = 1e6;
    if (value == 0 || (value >= least && value <= most))
        return GM_OK;
    return gm_fail(GM_ERROR_INVALID_ARGUMENT, "device.%s is %g; it may be 0 (unknown) or %g to %g", name, value, least,
                   most);
}

enum gm_status gm_device_take(const struct gm_device **device, struct gm_device *today) {
    enum gm_status status = GM_TAKE(*device, today, "device");
    if (status != GM_OK)
        return status;
    const struct gm_device *d = *device;
    if (!memchr(d->name, 0, sizeof d->name))
        return gm_fail(GM_ERROR_INVALID_ARGUMENT, "device.name does not end within its %zu bytes", sizeof d->name);
    status = check_wholes(d);
    if (status == GM_OK)
        status = check_rate("dram_gbs", d->dram_gbs);
    return status == GM_OK ? check_rate("tensor_tflops", d->tensor_tflops) : status;
}

/* ---- from the driver --------------------------------------------------------------------------------- */

enum gm_status gm_device_count(int *count) {
    if (!count)
        return gm_fail(GM_ERROR_INVALID_ARGUMENT, "count is NULL");
    const struct gm_driver *driver = gm_driver();
    if (!driver)
        return gm_last_status();
    int found = 0;
    CUresult result = driver->cuDeviceGetCount(&found);
    if (result != CUDA_SUCCESS)
        return gm_fail_cuda(GM_ERROR_DRIVER, result, "cuDeviceGetCount");
    *count = found;
    return GM_OK;
}

/* bf16 FLOP of one SM per clock with fp32 accumulation; 0: unknown. GeForce accumulates fp32 at half rate. */
static double tensor_flop_per_clock(const struct gm_device *device) {
    if (device->cc_major == 9)
        return 4096;
    if (device->cc_major != 8)
        return 0;
    if (device->cc_minor == 0)
        return 2048;
    return strstr(device->name, "GeForce") ? 512 : 1024;
}

static const struct gm_device *model_of(const struct gm_device *device) {
    for (size_t i = 0; i < MODELS; i++)
        if (strstr(device->name, models[i].match) && models[i].device.sm_count == device->sm_count)
            return &models[i].device;
    return NULL;
}

/* Rates. A driver that no longer reports the memory clock says 0; then the model of that name answers. */
static void fill_rates(struct gm_device *device, int memory_clock_khz, int bus_bits) {
    const struct gm_device *model = model_of(device);
    device->dram_gbs = 2.0 * memory_clock_khz * 1e3 * (bus_bits / 8) / 1e9; /* two transfers a clock */
    if (device->dram_gbs == 0 && model)
        device->dram_gbs = model->dram_gbs;
    device->tensor_tflops = tensor_flop_per_clock(device) * device->sm_count * device->sm_clock_mhz * 1e6 / 1e12;
    if (model && (device->tensor_tflops == 0 || device->tensor_tflops > model->tensor_tflops))
        device->tensor_tflops = model->tensor_tflops; /* the datasheet counts with less than the maximum clock */
}

/* Reads the attributes; the first failed call ends it. */
static CUresult read_attributes(const struct gm_driver *driver, CUdevice id, struct gm_device *device) {
    int clock_khz = 0, memory_khz = 0, bus_bits = 0, l2 = 0;
    const struct {
        int attribute;
        int *value;
    } wanted[] = {
        {CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, &device->cc_major},
        {CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, &device->cc_minor},
        {CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, &device->sm_count},
        {CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN, &device->smem_per_block_bytes},
        {CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR, &device->smem_per_sm_bytes},
        {CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR, &device->max_threads_per_sm},
        {CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE, &l2},
        {CU_DEVICE_ATTRIBUTE_CLOCK_RATE, &clock_khz},
        {CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE, &memory_khz},
        {CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH, &bus_bits},
    };
    CUresult result = driver->cuDeviceGetName(device->name, sizeof device->name, id);
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted && result == CUDA_SUCCESS; i++)
        result = driver->cuDeviceGetAttribute(wanted[i].value, wanted[i].attribute, id);
    size_t bytes = 0;
    if (result == CUDA_SUCCESS)
        result = driver->cuDeviceTotalMem(&bytes, id);
    device->name[sizeof device->name - 1] = 0;
    device->memory_bytes = (int64_t)bytes;
    device->l2_bytes = l2;
    device->sm_clock_mhz = clock_khz / 1000;
    fill_rates(device, memory_khz, bus_bits);
    return result;
}

enum gm_status gm_device_query(int ordinal, struct gm_device *device) {
    enum gm_status status = GM_CHECK_OUTPUT(device, "device");
    if (status != GM_OK)
        return status;
    int count = 0;
    status = gm_device_count(&count);
    if (status != GM_OK)
        return status;
    if (ordinal < 0 || ordinal >= count)
        return gm_fail(GM_ERROR_NO_DEVICE, "there is no device %d; the driver shows %d", ordinal, count);
    const struct gm_driver *driver = gm_driver();
    struct gm_device found = {.size = sizeof found, .ordinal = ordinal, .driver_version = driver->version};
    CUdevice id = 0;
    CUresult result = driver->cuDeviceGet(&id, ordinal);
    if (result == CUDA_SUCCESS)
        result = read_attributes(driver, id, &found);
    if (result != CUDA_SUCCESS)
        return gm_fail_cuda(GM_ERROR_DRIVER, result, "cannot read the attributes of device %d", ordinal);
    GM_OUTPUT(device, &found);
    return GM_OK;
}
