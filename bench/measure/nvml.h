/* SPDX-License-Identifier: Apache-2.0 */
/* SM clock, power and throttling from NVML, opened at run time, sampled by a thread while kernels run. */
#ifndef BENCH_NVML_H
#define BENCH_NVML_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "bench/measure/gpu.h"

#define NVML_SAMPLES_MAX 512

typedef struct nvmlDevice_st *nvmlDevice_t;

struct nvml_functions {
    int (*nvmlInit_v2)(void);
    int (*nvmlShutdown)(void);
    int (*nvmlDeviceGetHandleByPciBusId_v2)(const char *bus_id, nvmlDevice_t *device);
    int (*nvmlDeviceGetClockInfo)(nvmlDevice_t device, int clock, unsigned *mhz);
    int (*nvmlDeviceGetPowerUsage)(nvmlDevice_t device, unsigned *milliwatts);
    int (*nvmlDeviceGetEnforcedPowerLimit)(nvmlDevice_t device, unsigned *milliwatts);
    int (*nvmlDeviceGetCurrentClocksThrottleReasons)(nvmlDevice_t device, unsigned long long *reasons);
    int (*nvmlSystemGetDriverVersion)(char *version, unsigned length);
    /* Since Volta; NULL: this NVML has it not. */
    int (*nvmlDeviceGetTotalEnergyConsumption)(nvmlDevice_t device, unsigned long long *millijoules);
};

struct nvml {
    void *library; /* NULL: not there; everything then answers "no value" */
    struct nvml_functions fn;
    nvmlDevice_t device;
    pthread_t thread;
    atomic_bool running;
    double mhz[NVML_SAMPLES_MAX], watts[NVML_SAMPLES_MAX];
    unsigned long long reasons;
    size_t count;
};

struct nvml_reading {
    double sm_mhz, watts; /* medians; NaN: no sample */
    const char *throttle; /* "power", "thermal", "power+thermal" or "" */
};

/* Never fails: what is missing stays "no value". */
void nvml_open(struct nvml *nvml, const struct gpu *gpu);
void nvml_close(struct nvml *nvml);
void nvml_start(struct nvml *nvml);
struct nvml_reading nvml_stop(struct nvml *nvml);
double nvml_power_limit(const struct nvml *nvml);
bool nvml_driver_version(const struct nvml *nvml, char *version, size_t bytes);
const char *nvml_throttle_name(unsigned long long reasons);

#endif
