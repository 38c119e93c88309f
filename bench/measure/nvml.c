/* SPDX-License-Identifier: Apache-2.0 */
/* SM clock, power and throttling from NVML. */
#include "bench/measure/nvml.h"

#include <dlfcn.h>
#include <math.h>
#include <stdio.h>
#include <time.h>

#include "program/base/stats.h"

enum { NVML_CLOCK_SM = 1 };
enum { PCI_BUS_ID = 33, PCI_DEVICE_ID = 34, PCI_DOMAIN_ID = 50 }; /* CUdevice_attribute */
#define REASON_POWER    (0x04 | 0x80)                             /* software power cap, hardware power brake */
#define REASON_THERMAL  (0x20 | 0x40)                             /* software and hardware thermal slowdown */
#define SAMPLE_EVERY_NS 15000000

static bool load_functions(struct nvml *nvml) {
#define LOAD(name)                                                                                                     \
    *(void **)&nvml->fn.name = dlsym(nvml->library, #name);                                                            \
    if (!nvml->fn.name)                                                                                                \
        return false;
    LOAD(nvmlInit_v2)
    LOAD(nvmlShutdown)
    LOAD(nvmlDeviceGetHandleByPciBusId_v2)
    LOAD(nvmlDeviceGetClockInfo)
    LOAD(nvmlDeviceGetPowerUsage)
    LOAD(nvmlDeviceGetEnforcedPowerLimit)
    LOAD(nvmlDeviceGetCurrentClocksThrottleReasons)
    LOAD(nvmlSystemGetDriverVersion)
#undef LOAD
    *(void **)&nvml->fn.nvmlDeviceGetTotalEnergyConsumption =
        dlsym(nvml->library, "nvmlDeviceGetTotalEnergyConsumption");
    return true;
}

/* NVML and CUDA number devices differently; the PCI address is what they share. */
static bool find_device(struct nvml *nvml, const struct gpu *gpu) {
    static const int attributes[] = {PCI_DOMAIN_ID, PCI_BUS_ID, PCI_DEVICE_ID};
    int part[3];
    char bus_id[32];
    for (int i = 0; i < 3; i++) {
        if (gpu->drv->cuDeviceGetAttribute(&part[i], attributes[i], gpu->handle) != CUDA_SUCCESS)
            return false;
    }
    snprintf(bus_id, sizeof bus_id, "%08x:%02x:%02x.0", (unsigned)part[0], (unsigned)part[1], (unsigned)part[2]);
    return nvml->fn.nvmlDeviceGetHandleByPciBusId_v2(bus_id, &nvml->device) == 0;
}

void nvml_open(struct nvml *nvml, const struct gpu *gpu) {
    *nvml = (struct nvml){0};
    nvml->library = dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL);
    if (!nvml->library)
        return;
    bool started = load_functions(nvml) && nvml->fn.nvmlInit_v2() == 0;
    if (started && find_device(nvml, gpu))
        return;
    if (started)
        nvml->fn.nvmlShutdown();
    dlclose(nvml->library);
    nvml->library = NULL;
}

void nvml_close(struct nvml *nvml) {
    if (nvml->library) {
        nvml->fn.nvmlShutdown();
        dlclose(nvml->library);
    }
    *nvml = (struct nvml){0};
}

static void sample(struct nvml *nvml) {
    unsigned mhz = 0, milliwatts = 0;
    unsigned long long reasons = 0;
    if (nvml->count == NVML_SAMPLES_MAX || nvml->fn.nvmlDeviceGetClockInfo(nvml->device, NVML_CLOCK_SM, &mhz) != 0 ||
        nvml->fn.nvmlDeviceGetPowerUsage(nvml->device, &milliwatts) != 0)
        return;
    nvml->mhz[nvml->count] = mhz;
    nvml->watts[nvml->count] = milliwatts * 1e-3;
    nvml->count++;
    if (nvml->fn.nvmlDeviceGetCurrentClocksThrottleReasons(nvml->device, &reasons) == 0)
        nvml->reasons |= reasons;
}

static void *sample_loop(void *argument) {
    struct nvml *nvml = argument;
    const struct timespec pause = {.tv_nsec = SAMPLE_EVERY_NS};
    while (atomic_load(&nvml->running)) {
        sample(nvml);
        nanosleep(&pause, NULL);
    }
    return NULL;
}

void nvml_start(struct nvml *nvml) {
    nvml->count = 0;
    nvml->reasons = 0;
    if (!nvml->library)
        return;
    atomic_store(&nvml->running, true);
    if (pthread_create(&nvml->thread, NULL, sample_loop, nvml) != 0)
        atomic_store(&nvml->running, false);
}

struct nvml_reading nvml_stop(struct nvml *nvml) {
    if (atomic_exchange(&nvml->running, false))
        pthread_join(nvml->thread, NULL);
    return (struct nvml_reading){stats_median(nvml->mhz, nvml->count), stats_median(nvml->watts, nvml->count),
                                 nvml_throttle_name(nvml->reasons)};
}

const char *nvml_throttle_name(unsigned long long reasons) {
    static const char *const names[2][2] = {{"", "thermal"}, {"power", "power+thermal"}};
    return names[(reasons & REASON_POWER) != 0][(reasons & REASON_THERMAL) != 0];
}

double nvml_power_limit(const struct nvml *nvml) {
    unsigned milliwatts = 0;
    if (!nvml->library || nvml->fn.nvmlDeviceGetEnforcedPowerLimit(nvml->device, &milliwatts) != 0)
        return NAN;
    return milliwatts * 1e-3;
}

bool nvml_driver_version(const struct nvml *nvml, char *version, size_t bytes) {
    return nvml->library && nvml->fn.nvmlSystemGetDriverVersion(version, (unsigned)bytes) == 0;
}
