/* SPDX-License-Identifier: Apache-2.0 */
/* Time and joules of one launch, running alone. */
#include "bench/measure/energy.h"

#include <math.h>
#include <stdlib.h>
#include <time.h>

#define LEAD_IN_SHARE    0.25
#define LEAD_IN_MOST_S   0.1
#define LEAST_SHARE      0.25    /* of the stretch, that the counter's samples must cover */
#define POLL_EVERY_NS    1000000 /* the counter changes every 20 to 100 ms: this is when, to a millisecond */
#define POLLS_FOR_A_WATT 10

/* What the polling thread fills. */
struct meter {
    const struct nvml *nvml;
    pthread_t thread;
    atomic_bool running;
    struct energy_trace joules, watts;
};

static void add(struct energy_trace *trace, double value) {
    if (trace->count == ENERGY_SAMPLES_MAX)
        return;
    trace->seconds[trace->count] = gpu_seconds();
    trace->value[trace->count++] = value;
}

static void poll_counter(struct meter *meter) {
    const struct nvml *nvml = meter->nvml;
    struct energy_trace *trace = &meter->joules;
    unsigned long long millijoules = 0;
    if (!nvml->fn.nvmlDeviceGetTotalEnergyConsumption ||
        nvml->fn.nvmlDeviceGetTotalEnergyConsumption(nvml->device, &millijoules) != 0)
        return;
    const double joules = (double)millijoules * 1e-3;
    if (trace->count == 0 || trace->value[trace->count - 1] != joules)
        add(trace, joules);
}

static void *poll_loop(void *argument) {
    struct meter *meter = argument;
    const struct timespec pause = {.tv_nsec = POLL_EVERY_NS};
    for (unsigned polls = 0; atomic_load(&meter->running); polls++) {
        unsigned milliwatts = 0;
        poll_counter(meter);
        if (polls % POLLS_FOR_A_WATT == 0 &&
            meter->nvml->fn.nvmlDeviceGetPowerUsage(meter->nvml->device, &milliwatts) == 0)
            add(&meter->watts, milliwatts * 1e-3);
        nanosleep(&pause, NULL);
    }
    return NULL;
}

static size_t first_since(const struct energy_trace *trace, double begin) {
    size_t first = 0;
    while (first < trace->count && trace->seconds[first] < begin)
        first++;
    return first;
}

/* The first value of a trace was not seen to change, so when it was taken is not known: it never counts. */
struct energy_reading energy_mean(const struct energy_trace *joules, const struct energy_trace *watts, double begin,
                                  double least_seconds) {
    const size_t first = first_since(joules, begin) + (joules->count && joules->seconds[0] >= begin);
    if (first + 1 < joules->count) {
        const size_t last = joules->count - 1;
        const double seconds = joules->seconds[last] - joules->seconds[first];
        const double used = joules->value[last] - joules->value[first];
        if (seconds >= least_seconds && used > 0)
            return (struct energy_reading){used / seconds, ENERGY_COUNTER};
    }
    double sum = 0;
    const size_t from = first_since(watts, begin);
    for (size_t i = from; i < watts->count; i++)
        sum += watts->value[i];
    if (from < watts->count && sum > 0)
        return (struct energy_reading){sum / (double)(watts->count - from), ENERGY_POWER};
    return (struct energy_reading){NAN, ENERGY_NONE};
}

/* `begin`: when the lead-in was over. */
static int run_alone(const struct timing *timing, struct candidate *candidate, double seconds, double *begin) {
    const double lead_in = fmin(LEAD_IN_SHARE * seconds, LEAD_IN_MOST_S);
    if (timing_alone(timing, candidate, lead_in, &candidate->alone_us) != 0)
        return -1;
    *begin = gpu_seconds();
    return timing_alone(timing, candidate, seconds - lead_in, &candidate->alone_us);
}

static int run_metered(const struct timing *timing, struct meter *meter, struct candidate *candidate, double seconds,
                       double *begin) {
    atomic_store(&meter->running, true);
    if (pthread_create(&meter->thread, NULL, poll_loop, meter) != 0)
        return complain("no thread for reading NVML");
    int status = run_alone(timing, candidate, seconds, begin);
    atomic_store(&meter->running, false);
    pthread_join(meter->thread, NULL);
    return status;
}

int energy_measure(const struct timing *timing, const struct nvml *nvml, struct candidate *candidate, double seconds,
                   enum energy_source *source) {
    double begin = 0;
    candidate->joules = NAN;
    *source = ENERGY_NONE;
    if (!nvml->library)
        return run_alone(timing, candidate, seconds, &begin);
    struct meter *meter = calloc(1, sizeof *meter);
    if (!meter)
        return complain("out of host memory");
    meter->nvml = nvml;
    int status = run_metered(timing, meter, candidate, seconds, &begin);
    if (status == 0) {
        struct energy_reading reading = energy_mean(&meter->joules, &meter->watts, begin, LEAST_SHARE * seconds);
        candidate->joules = reading.watts * candidate->alone_us * 1e-6;
        *source = reading.source;
    }
    free(meter);
    return status;
}

const char *energy_source_name(enum energy_source source) {
    static const char *const names[] = {NULL, "NVML's total energy counter", "mean of NVML's power samples"};
    return names[source];
}
