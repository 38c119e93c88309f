/* SPDX-License-Identifier: Apache-2.0 */
/* Time and joules of one launch, running alone. In the interleaved rounds the candidates share one clock and mix their
 * watts; alone, each runs at the clock that its own watts leave it under the power limit. */
#ifndef BENCH_ENERGY_H
#define BENCH_ENERGY_H

#include "bench/measure/timing.h"
#include "bench/measure/nvml.h"

#define ENERGY_SAMPLES_MAX 4096

struct energy_trace {
    double seconds[ENERGY_SAMPLES_MAX], value[ENERGY_SAMPLES_MAX];
    size_t count;
};

enum energy_source { ENERGY_NONE, ENERGY_COUNTER, ENERGY_POWER };

struct energy_reading {
    double watts; /* NaN: nobody knows */
    enum energy_source source;
};

/* Mean watts from `begin` on. `joules` has the total energy counter at each of its changes, `watts` samples of the
 * power; the counter wins where its whole samples cover `least_seconds`. Pure. */
struct energy_reading energy_mean(const struct energy_trace *joules, const struct energy_trace *watts, double begin,
                                  double least_seconds);

/* Runs a captured candidate alone for `seconds`, of which the first quarter, 0.1 s at most, is left out: the clock
 * settles meanwhile. Fills its `alone_us` and its `joules`, NaN where NVML says nothing. 0, or -1 with a printed
 * sentence: the GPU is in error. */
int energy_measure(const struct timing *timing, const struct nvml *nvml, struct candidate *candidate, double seconds,
                   enum energy_source *source);

/* "NVML's energy counter", for the results file; NULL: not measured. */
const char *energy_source_name(enum energy_source source);

#endif
